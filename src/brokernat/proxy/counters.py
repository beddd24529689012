"""What the proxy counts, and the text that Prometheus reads.

The numbers stand in memory that all workers share: a row for each worker, which it alone writes, so nothing is locked.
Whichever worker answers, it reports the sum. Prometheus' own client would bring files on disk for several processes.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Final

SERIES: Final = {
    "connections": ("gauge", "Connections of clients that are open."),
    "accepted": ("counter", "Connections of clients that were accepted."),
    "limited": ("counter", "Connections that were closed because of a limit of connections."),
    "refused": ("counter", "Connections that were closed because of what the client sent."),
    "broken": ("counter", "Connections that were closed because of what the broker sent."),
    "unreachable": ("counter", "Connections that were closed because their broker could not be reached."),
    "unmapped": ("counter", "Connections that were closed because no rule names the endpoint of their broker."),
    "expired": ("counter", "Connections that were closed because they were idle or did not begin in time."),
    "received": ("counter", "Bytes from clients."),
    "sent": ("counter", "Bytes from brokers."),
    "nodes": ("gauge", "Nodes that have a port."),
}
_UNITS: Final = {"received": "_bytes", "sent": "_bytes"}
_INDEX: Final = {name: index for index, name in enumerate(SERIES)}


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
        """This process is the worker of this number, from 0 on. A worker that replaces another begins without its
        connections."""
        self._first = worker * len(SERIES)
        for name, (kind, _) in SERIES.items():
            if kind == "gauge":
                self._cells[self._first + _INDEX[name]] = 0

    def add(self, name: str, amount: int = 1) -> None:
        self._cells[self._first + _INDEX[name]] += amount

    def total(self, name: str) -> int:
        """Over all workers."""
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
