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

from brokernat.address import Endpoint
from brokernat.errors import ConfigError, Finding

SERIES: Final = {
    "connections": ("gauge", "Connections of clients that are open."),
    "accepted": ("counter", "Connections of clients that were accepted."),
    "limited": ("counter", "Connections that were closed because of a limit of connections."),
    "refused": ("counter", "Connections that were closed because of what the client sent."),
    "broken": ("counter", "Connections that were closed because of what the broker sent."),
    "unreachable": ("counter", "Connections that were closed because their broker could not be reached."),
    "unmapped": ("counter", "Connections that were closed because the endpoint of their broker has no rule."),
    "expired": ("counter", "Connections that were closed because they were idle or sent no request in time."),
    "received": ("counter", "Bytes from clients."),
    "sent": ("counter", "Bytes from brokers."),
    "nodes": ("gauge", "Nodes that have a port."),
}
_UNITS: Final = {"received": "_bytes", "sent": "_bytes"}
_INDEX: Final = {name: index for index, name in enumerate(SERIES)}
_LONGEST: Final = 8 << 10
_PATIENCE: Final = 5.0
_KEPT: Final = "BROKERNAT_PROXY_METRICS"
"""The descriptor of a socket that this program had before it was replaced by itself."""


def described() -> Iterator[tuple[str, str, str]]:
    """Name, kind and meaning of each series, as Prometheus sees them."""
    for name, (kind, meaning) in SERIES.items():
        yield _series(name), kind, meaning


def _series(name: str) -> str:
    return f"brokernat_proxy_{name}{_UNITS.get(name, '')}{'_total' if SERIES[name][0] == 'counter' else ''}"


class Counters:
    """The row of one worker. Make it before the workers are forked, and call `row` in each.

    Args:
        workers: how many processes write.
    """

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._cells = memoryview(mmap.mmap(-1, 8 * len(SERIES) * workers)).cast("q")
        self._first = 0

    def row(self, worker: int) -> None:
        """Select the row of this worker, counted from 0. A replaced worker's gauge of connections is reset."""
        self._first = worker * len(SERIES)
        for name, (kind, _) in SERIES.items():
            if kind == "gauge":
                self._cells[self._first + _INDEX[name]] = 0

    def add(self, name: str, amount: int = 1) -> None:
        self._cells[self._first + _INDEX[name]] += amount

    def total(self, name: str) -> int:
        """The sum over all workers."""
        rows = range(self._workers)
        values = [self._cells[row * len(SERIES) + _INDEX[name]] for row in rows]
        # Each worker binds the same ports.
        return max(values) if name == "nodes" else sum(values)

    def text(self) -> str:
        """The text format 0.0.4 of Prometheus."""
        lines: list[str] = []
        for name, (series, kind, meaning) in zip(SERIES, described(), strict=True):
            lines += (f"# HELP {series} {meaning}", f"# TYPE {series} {kind}", f"{series} {self.total(name)}")
        return "\n".join(lines) + "\n"


def metrics_socket(endpoint: Endpoint) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigError: it cannot be bound.
    """
    if kept := os.environ.pop(_KEPT, ""):
        listener = socket.socket(fileno=int(kept))
        listener.set_inheritable(False)
        return listener
    try:
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        return socket.create_server((endpoint.host, endpoint.port), family=family)
    except OSError as error:
        message = f"metrics cannot be served at {endpoint}: {os.strerror(error.errno or 0)}"
        raise ConfigError(Finding("not-bound", message, "see `--metrics`")) from None


def keep_metrics(listener: socket.socket) -> None:
    """Keep the socket open for the next program, because old workers may still use its port."""
    listener.set_inheritable(True)
    os.environ[_KEPT] = str(listener.fileno())


async def serve_metrics(listener: socket.socket, counters: Counters) -> asyncio.Server:
    """Serve until the returned server is closed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_answer(head, counters))
                await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, sock=listener, limit=_LONGEST)


def _answer(head: bytes, counters: Counters) -> bytes:
    found = head.split(b" ")[:2] == [b"GET", b"/metrics"]
    status = "200 OK" if found else "404 Not Found"
    body = (counters.text() if found else "try /metrics\n").encode()
    kind = "text/plain; version=0.0.4; charset=utf-8"
    lines = (f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", "", "")
    return "\r\n".join(lines).encode() + body
