"""What stands between the client and one broker: nothing, nginx, HAProxy, the proxy.

The broker has a listener for each of the gateways, advertised as the gateway's address: a gateway cannot change what
clients are told. The proxy stands in front of a listener that advertises a name which nobody resolves.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.leaks.proxies import Processes, proxy, somewhere

from brokernat.address import Endpoint
from brokernat.render import Forward, nginx_stream
from brokernat.testbed import Advertise, ClusterOptions, Listener, LoopbackWorld, Protocol, RunningCluster
from brokernat.testbed.gateways import NGINX_MAIN
from brokernat.testbed.namespaces import tool
from brokernat.testbed.place import Here, connects, wait_until

DIRECT, NGINX, HAPROXY = "DIRECT", "NGINX", "HAPROXY"
_HOSTS = {NGINX: "127.0.90.1", HAPROXY: "127.0.91.1"}
_START_TIMEOUT = 30
_HAPROXY_FILE = """\
global
    maxconn 4096
    nbthread 1
defaults
    mode tcp
    timeout connect 8s
    timeout client 24h
    timeout server 24h
listen kafka
    bind {listen}
    server broker {upstream}
"""


@dataclass(frozen=True)
class Side:
    """One way to the broker; `processes` are those of what stands between."""

    name: str
    bootstrap: Endpoint
    processes: Processes | None = None


@contextmanager
def sides(folder: Path) -> Iterator[tuple[RunningCluster, list[Side]]]:
    """The broker and every way to it, the direct one first."""
    listeners = (
        Listener(DIRECT, Protocol.PLAINTEXT),
        *(Listener(name, Protocol.PLAINTEXT, advertised=host) for name, host in _HOSTS.items()),
    )
    options = ClusterOptions(brokers=1, advertise=Advertise.NAME, listeners=listeners)
    with ExitStack() as stack:
        hq = stack.enter_context(LoopbackWorld(hq=options, local=None)).hq
        found = [Side("direct", hq.endpoints(DIRECT)[1])]
        for name, start in ((NGINX, nginx), (HAPROXY, _haproxy)):
            bound = hq.endpoints(name)[1]
            forward = Forward(Endpoint(_HOSTS[name], bound.port), bound)
            process = stack.enter_context(gateway(start(forward, folder), forward.listen))
            found.append(Side(name.lower(), forward.listen, Processes(process.pid)))
        for workers in (1, 2):
            config = written(hq, folder / f"workers-{workers}")
            running = stack.enter_context(proxy(config, somewhere(workers), "--workers", str(workers)))
            found.append(Side(f"proxy, {workers} worker{'s'[: workers - 1]}", running.bootstrap, running.processes))
        # Direct against direct: which difference this machine cannot measure.
        yield hq, [*found, replace(found[0], name="direct again")]


def written(hq: RunningCluster, folder: Path) -> Path:
    """A file in a new folder: the bootstrap server, and a map that leads past the world's gateway."""
    folder.mkdir()
    file = folder / "brokernat.yaml"
    rule = f"{hq.advertised[1]}={hq.bound[1]}"
    file.write_text(f"clusters:\n  hq:\n    bootstrap_servers: {hq.bound[1]}\n    address_map:\n      - '{rule}'\n")
    return file


def nginx(forward: Forward, folder: Path) -> list[str]:
    """The command that runs nginx with one forward; its files are in the folder."""
    (folder / "stream.conf").write_text(nginx_stream([forward]))
    (folder / "nginx.conf").write_text(NGINX_MAIN.format(folder=folder))
    # Its worker has another user where it is started by root.
    folder.chmod(0o755)
    return [tool("nginx"), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def _haproxy(forward: Forward, folder: Path) -> list[str]:
    file = folder / "haproxy.cfg"
    file.write_text(_HAPROXY_FILE.format(listen=forward.listen, upstream=forward.upstream))
    return [tool("haproxy"), "-db", "-f", str(file)]


@contextmanager
def gateway(words: list[str], listen: Endpoint) -> Iterator[subprocess.Popen[bytes]]:
    """Runs that command, from when it listens to the end of the block."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=os.environ)
    try:
        wait_until(lambda: connects(listen, Here()), words[0], timeout=_START_TIMEOUT)
        yield process
    finally:
        process.terminate()
        process.wait()
