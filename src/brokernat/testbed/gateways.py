"""The gateways between the client and headquarters; tests stop and start them, as if the gateway's host failed.

In the loopback world the gateway is forwarder.py; in namespaces it is nginx with a file of `render`, or the kernel's
NAT with nftables.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from brokernat.errors import WorldError
from brokernat.render import Forward, HostNat, nftables_router, nginx_stream
from brokernat.testbed.namespaces import TOOLS, Namespace, tool
from brokernat.testbed.place import Launcher, Place, connects, script, wait_until

# As in Debian's nginx.conf, around an included file; Debian's snippet loads the module by the same name.
NGINX_MAIN = """\
load_module modules/ngx_stream_module.so;
daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 4096; }}
include {folder}/stream.conf;
"""
_TIMEOUT = 90


class Gateway(Protocol):
    """The interface of gateways."""

    def start(self) -> None:
        """Forward traffic; without an effect if it already does."""
        ...

    def stop(self) -> None:
        """Stop at once."""
        ...

    def running(self) -> bool:
        """Whether it forwards traffic."""
        ...


class ForwarderGateway:
    """Runs forwarder.py."""

    def __init__(self, forwards: Sequence[Forward], *, launcher: Launcher, place: Place, log: Path) -> None:
        self._forwards = tuple(forwards)
        self._launcher = launcher
        self._place = place
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return when every port listens; without an effect if it already runs.

        Raises:
            WorldError: it cannot listen on a port.
        """
        if self.running() or not self._forwards:
            return
        words = script("forwarder.py", *(f"{forward.listen}={forward.upstream}" for forward in self._forwards))
        self._process = self._launcher.start(words, place=self._place, log=self._log, stdout=subprocess.PIPE)
        assert self._process.stdout is not None  # noqa: S101
        with self._process.stdout as output:
            ready = output.readline()
        if ready != b"ready\n":
            self.stop()
            raise WorldError(f"the gateway does not start: {self._log.read_text(errors='replace').strip()[-500:]}")

    def stop(self) -> None:
        """Kill it: its connections are reset, and its ports refuse."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def running(self) -> bool:
        """Whether it forwards."""
        return self._process is not None and self._process.poll() is None


class NginxGateway:
    """nginx `stream` in a namespace."""

    def __init__(self, forwards: Sequence[Forward], *, place: Namespace, launcher: Launcher, folder: Path) -> None:
        self._forwards = tuple(forwards)
        self._place = place
        self._launcher = launcher
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()

    def start(self) -> None:
        """Start it and return when every port listens.

        Raises:
            MissingToolError: nginx is not installed.
            WorldError: it does not start; the message has its output.
        """
        if self.running():
            return
        (self._folder / "stream.conf").write_text(nginx_stream(self._forwards))
        (self._folder / "nginx.conf").write_text(NGINX_MAIN.format(folder=self._folder))
        log = self._folder / "nginx.log"
        words = [tool("nginx"), "-e", "stderr", "-c", str(self._folder / "nginx.conf")]
        self._process = self._launcher.start(words, place=self._place, log=log)

        def listens() -> bool:
            return all(connects(forward.listen, self._place) for forward in self._forwards)

        def ended() -> str | None:
            if self.running():
                return None
            return f"it ended: {log.read_text(errors='replace').strip()} (packages: {TOOLS['nginx']})"

        wait_until(listens, "nginx", timeout=_TIMEOUT, abort=ended)

    def stop(self) -> None:
        """Stop it at once: its connections are reset, and its ports refuse."""
        if self._process is None or not self.running():
            return
        # SIGTERM is nginx's fast shutdown: the worker ends with its master and does not wait for connections.
        self._process.terminate()
        self._process.wait(_TIMEOUT)

    def running(self) -> bool:
        """Whether it forwards."""
        return self._process is not None and self._process.poll() is None


class NatGateway:
    """Host-to-host NAT in a namespace that forwards."""

    def __init__(self, nats: Sequence[HostNat], *, place: Namespace) -> None:
        self._nats = tuple(nats)
        self._place = place
        self._forwards_traffic = False

    def start(self) -> None:
        """Load the rules and start forwarding.

        Raises:
            MissingToolError: nftables is not installed.
        """
        tool("nft")
        self._place.run("nft", "-f", "-", text=nftables_router(self._nats))
        self._set_forwarding(on=True)

    def stop(self) -> None:
        """Stop forwarding: packets are dropped, as by a router without power."""
        self._set_forwarding(on=False)

    def running(self) -> bool:
        """Whether it forwards."""
        return self._forwards_traffic

    def _set_forwarding(self, *, on: bool) -> None:
        self._place.run("sh", "-c", f"echo {int(on)} > /proc/sys/net/ipv4/ip_forward")
        self._forwards_traffic = on


class Gateways:
    """Several gateways as one."""

    def __init__(self, gateways: Sequence[Gateway]) -> None:
        self.each = tuple(gateways)

    def start(self) -> None:
        """Start all."""
        for gateway in self.each:
            gateway.start()

    def stop(self) -> None:
        """Stop all."""
        for gateway in self.each:
            gateway.stop()

    def running(self) -> bool:
        """Whether all run."""
        return all(gateway.running() for gateway in self.each)
