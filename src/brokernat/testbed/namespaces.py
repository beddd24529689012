"""Network namespaces as hosts: create and connect them, dial from them, run programs in them.

A namespace is entered in two ways. A process is started by `ip netns exec`, which also mounts
`/etc/netns/<name>/resolv.conf`: an empty file, so that unknown names fail at once. A connection of the testbed itself
is opened by a thread that enters the namespace and then ends. The socket stays in that namespace, and the other threads
of this process stay outside.
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

# The Debian package of each tool.
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
    """A namespace as a host; it is a Place."""

    name: str

    @property
    def host(self) -> str:
        """The last part of the name: the host's name within its world."""
        return self.name.rpartition("-")[2]

    def command(self, words: Sequence[str]) -> list[str]:
        """The command line that runs `words` in the namespace."""
        return [tool("ip"), "netns", "exec", self.name, *words]

    def run(
        self,
        *words: str,
        text: str | None = None,
        timeout: float = _TIMEOUT,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command in the namespace with `text` as its standard input; returns its standard output.

        Raises:
            WorldError: the command failed; the message has its output.
            subprocess.TimeoutExpired: the command did not end in time.
        """
        return run(*self.command(words), text=text, timeout=timeout, environment=environment)

    def dial(self, endpoint: Endpoint, timeout: float = 15.0) -> socket.socket:
        """A TCP connection from the namespace.

        Raises:
            OSError: refused, unreachable, no answer in time, no such name.
        """
        outcome: list[socket.socket | OSError] = []

        def connect() -> None:
            try:
                self._enter()
                outcome.append(socket.create_connection((endpoint.host, endpoint.port), timeout=timeout))
            except OSError as problem:
                outcome.append(problem)

        thread = threading.Thread(target=connect)
        thread.start()
        thread.join()
        (result,) = outcome
        if isinstance(result, OSError):
            raise result
        return result

    def create(self) -> None:
        """Create the namespace, with a loopback interface that is up and without a name server."""
        folder = Path("/etc/netns") / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "resolv.conf").write_text("")
        run(tool("ip"), "netns", "add", self.name)
        self.run("ip", "link", "set", "lo", "up")

    @contextmanager
    def hosts(self, *lines: str) -> Iterator[None]:
        """A hosts file for programs that are started in the namespace during the block."""
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
    """Connect two namespaces by a veth pair; each end has one address and a route to the other's."""
    device, other_device = f"to-{other.host}", f"to-{one.host}"
    pair = ("type", "veth", "peer", "name", other_device, "netns", other.name)
    run(tool("ip"), "link", "add", device, "netns", one.name, *pair)
    for place, name, address, peer in (
        (one, device, one_address, other_address),
        (other, other_device, other_address, one_address),
    ):
        place.run("ip", "address", "add", f"{address}/32", "peer", f"{peer}/32", "dev", name)
        place.run("ip", "link", "set", name, "up")


def tool(name: str) -> str:
    """The path of a tool; on Debian the PATH of a normal user does not include their folders.

    Raises:
        MissingToolError: the tool is not installed; the hint names its package.
    """
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if found is None:
        raise MissingToolError(f"no `{name}` on this machine", hint=f"apt-get install {TOOLS[name]}")
    return found


def run(
    *words: str, text: str | None = None, timeout: float = _TIMEOUT, environment: Mapping[str, str] | None = None
) -> str:
    """Run a command and return its standard output.

    Raises:
        WorldError: the command failed; the message has its output.
        subprocess.TimeoutExpired: the command did not end in time.
    """
    completed = subprocess.run(
        words, input=text, capture_output=True, text=True, timeout=timeout, env=environment, check=False
    )
    if completed.returncode != 0:
        raise WorldError(f"`{' '.join(words)}` failed: {(completed.stderr or completed.stdout).strip()}")
    return completed.stdout
