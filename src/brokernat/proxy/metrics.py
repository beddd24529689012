"""The counters of the proxy, and `GET /metrics` for Prometheus.

The counters are in shared memory: each worker writes only its own row, so no lock is needed. The socket is created
before the workers, and all of them accept from it and report the sum. Prometheus' own client would need files on disk
for several processes.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from brokernat.address import Endpoint, not_bound

SERIES: Final = {
    "connections": ("gauge", "Connections of clients that are open."),
    "accepted": ("counter", "Connections of clients that were accepted."),
    "limited": ("counter", "Connections that were closed because of a limit of connections."),
    "refused": ("counter", "Connections that were closed because of what the client sent."),
    "broken": ("counter", "Connections that were closed because of what the broker sent."),
    "unreachable": ("counter", "Connections that were closed because their broker could not be reached."),
    "unmapped": ("counter", "Connections that were closed because the map has no endpoint for their broker."),
    "expired": ("counter", "Connections that were closed because they were idle or sent no request in time."),
    "received": ("counter", "Bytes from clients."),
    "sent": ("counter", "Bytes from brokers."),
    "nodes": ("gauge", "Nodes that have a port."),
}
_UNITS: Final = {"received": "_bytes", "sent": "_bytes"}
_INDEX: Final = {name: index for index, name in enumerate(SERIES)}
_LARGEST_REQUEST: Final = 8 << 10
_REQUEST_TIMEOUT: Final = 5.0
INHERITED_SOCKET: Final = "BROKERNAT_PROXY_METRICS"
"""The variable with the descriptor of the listening socket, for the next program of a restart (execve)."""


def described() -> Iterator[tuple[str, str, str]]:
    """Name, kind and meaning of each series, as Prometheus sees them."""
    for name, (kind, meaning) in SERIES.items():
        yield _series(name), kind, meaning


def _series(name: str) -> str:
    return f"brokernat_proxy_{name}{_UNITS.get(name, '')}{'_total' if SERIES[name][0] == 'counter' else ''}"


class Counters:
    """The counters of all workers. Created before the workers are forked; each worker calls `row`.

    Args:
        workers: the number of processes that write.
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._cells = memoryview(mmap.mmap(-1, 8 * len(SERIES) * workers)).cast("q")
        self._first = 0

    def row(self, worker: int) -> None:
        """Select the row of this worker, counted from 0. A replaced worker's gauge of connections is reset."""
        self._first = worker * len(SERIES)
        for name, (kind, _) in SERIES.items():
            if kind == "gauge":
                self._cells[self._first + _INDEX[name]] = 0

    @property
    def worker(self) -> int:
        """The number of this worker."""
        return self._first // len(SERIES)

    def add(self, name: str, amount: int = 1) -> None:
        self._cells[self._first + _INDEX[name]] += amount

    def own(self, name: str) -> int:
        """The value of this worker."""
        return self._cells[self._first + _INDEX[name]]

    def least(self, name: str) -> int:
        """The smallest value of a worker."""
        return min(self._values(name))

    def total(self, name: str) -> int:
        """The sum over all workers."""
        # Each worker binds the same ports.
        return max(self._values(name)) if name == "nodes" else sum(self._values(name))

    def _values(self, name: str) -> list[int]:
        return self._cells[_INDEX[name] :: len(SERIES)].tolist()

    def text(self) -> str:
        """The text format 0.0.4 of Prometheus."""
        lines: list[str] = []
        for name, (series, kind, meaning) in zip(SERIES, described(), strict=True):
            lines += (f"# HELP {series} {meaning}", f"# TYPE {series} {kind}", f"{series} {self.total(name)}")
        return "\n".join(lines) + "\n"


def metrics_socket(endpoint: Endpoint) -> socket.socket:
    """The listening socket for `GET /metrics`; the one of the previous program after a restart.

    Raises:
        ConfigError: it cannot be bound.
    """
    if inherited := os.environ.pop(INHERITED_SOCKET, ""):
        listener = socket.socket(fileno=int(inherited))
        listener.set_inheritable(False)
        return listener
    try:
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        return socket.create_server((endpoint.host, endpoint.port), family=family)
    except OSError as error:
        raise not_bound("the metrics page", endpoint, "--metrics", error) from None


async def serve_metrics(listener: socket.socket, counters: Counters) -> asyncio.Server:
    """Serve until the returned server is closed."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_REQUEST_TIMEOUT):
                request_head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_response(request_head, counters))
                await writer.drain()
        writer.close()

    return await asyncio.start_server(respond, sock=listener, limit=_LARGEST_REQUEST)


def _response(request_head: bytes, counters: Counters) -> bytes:
    found = request_head.split(b" ")[:2] == [b"GET", b"/metrics"]
    status = "200 OK" if found else "404 Not Found"
    body = (counters.text() if found else "try /metrics\n").encode()
    kind = "text/plain; version=0.0.4; charset=utf-8"
    lines = (f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", "", "")
    return "\r\n".join(lines).encode() + body
