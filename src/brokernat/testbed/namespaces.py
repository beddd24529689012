"""Network namespaces as hosts: make them, join them, dial from them, run in them.

A namespace is entered in two ways. A process is started through `ip netns exec`, which also gives it
`/etc/netns/<name>/resolv.conf`: an empty file, so that unknown names fail at once. A connection of the testbed itself
is made by a thread that enters the namespace for that purpose and ends: a socket stays in the namespace where it was
made, a thread would too.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.errors import MissingToolError, WorldError

# tool: the Debian package that has it
TOOLS = {
    "ip": "iproute2",
    "nft": "nftables",
    "nginx": "nginx libnginx-mod-stream",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
}
_CLONE_NEWNET = 0x40000000
_TIMEOUT = 30


@dataclass(frozen=True, slots=True)
class Namespace:
    """A host of its own; a Place."""

    name: str

    @property
    def host(self) -> str:
        """The last part of its name: what the host is called within its world."""
        return self.name.rpartition("-")[2]

    def command(self, words: Sequence[str]) -> list[str]:
        """The command line that runs `words` there."""
        return [tool("ip"), "netns", "exec", self.name, *words]

    def run(
        self,
        *words: str,
        text: str | None = None,
        timeout: float = _TIMEOUT,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command there to its end; `text` is its standard input; the result is its standard output.

        Raises:
            WorldError: it failed; with what it said.
            subprocess.TimeoutExpired: it did not end.
        """
        return run(*self.command(words), text=text, timeout=timeout, environment=environment)

    def dial(self, endpoint: Endpoint, timeout: float = 15.0) -> socket.socket:
        """A TCP connection from there.

        Raises:
            OSError: refused, unreachable, no answer in time, no such name.
        """
        made: list[socket.socket | OSError] = []

        def connect() -> None:
            try:
                self._enter()
                made.append(socket.create_connection((endpoint.host, endpoint.port), timeout=timeout))
            except OSError as problem:
                made.append(problem)

        thread = threading.Thread(target=connect)
        thread.start()
        thread.join()
        (result,) = made
        if isinstance(result, OSError):
            raise result
        return result

    def create(self) -> None:
        """Make it, with a loopback interface that is up and no name server."""
        folder = Path("/etc/netns") / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "resolv.conf").write_text("")
        run(tool("ip"), "netns", "add", self.name)
        self.run("ip", "link", "set", "lo", "up")

    @contextmanager
    def hosts(self, *lines: str) -> Iterator[None]:
        """A hosts file of its own, for what is started there while the block lasts."""
        file = Path("/etc/netns") / self.name / "hosts"
        file.write_text("".join(f"{line}\n" for line in ("127.0.0.1 localhost", *lines)))
        try:
            yield
        finally:
            file.unlink()

    def _enter(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            if libc.setns(descriptor, _CLONE_NEWNET) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), self.name)
        finally:
            os.close(descriptor)


def join(one: Namespace, one_address: str, other: Namespace, other_address: str) -> None:
    """Lay a cable between two namespaces; each end has one address and a route to the other's."""
    near, far = f"to-{other.host}", f"to-{one.host}"
    cable = ("link", "add", near, "netns", one.name, "type", "veth", "peer", "name", far, "netns", other.name)
    run(tool("ip"), *cable)
    for place, device, mine, theirs in (
        (one, near, one_address, other_address),
        (other, far, other_address, one_address),
    ):
        place.run("ip", "address", "add", f"{mine}/32", "peer", f"{theirs}/32", "dev", device)
        place.run("ip", "link", "set", device, "up")


def tool(name: str) -> str:
    """The path of a tool; Debian keeps these out of the PATH of those who are not root.

    Raises:
        MissingToolError: not installed; names the package.
    """
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if found is None:
        raise MissingToolError(f"no `{name}` on this machine", hint=f"apt-get install {TOOLS[name]}")
    return found


def run(
    *words: str, text: str | None = None, timeout: float = _TIMEOUT, environment: Mapping[str, str] | None = None
) -> str:
    """Run a command to its end and return its standard output.

    Raises:
        WorldError: it failed; with what it said.
        subprocess.TimeoutExpired: it did not end.
    """
    done = subprocess.run(
        words, input=text, capture_output=True, text=True, timeout=timeout, env=environment, check=False
    )
    if done.returncode != 0:
        raise WorldError(f"`{' '.join(words)}` failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout
