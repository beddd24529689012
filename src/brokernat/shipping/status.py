"""The results of records: counted while shipping, or read from the folder of a spool.

The sender reports the results of a block (`settled`); the writer stores them in its next transaction (`written`). All
counters only grow, and the number of waiting records is a difference, so none can become negative.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import ConfigError, Finding
from brokernat.paths import reading
from brokernat.shipping.block import Block, Rejection, SettledBlock
from brokernat.shipping.database import read_contents
from brokernat.shipping.errors import SpoolDamagedError
from brokernat.shipping.folder import DATABASE, is_held


@dataclass(frozen=True, slots=True)
class Totals:
    """The number of records since the spool was created."""

    accepted: int
    acknowledged: int
    rejected: int

    @property
    def pending(self) -> int:
        """The number of records without an answer."""
        return self.accepted - self.acknowledged - self.rejected


class SettledBlocks:
    """The results of one spool. The sender calls `settled`, the writer `outcomes` and `written`, all call `totals`."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        """Continues from the stored counters, by name; empty for a new spool."""
        self.counts = {"accepted": 0, "acknowledged": 0, "rejected": 0, "refused": 0, **counts}
        """The counters as stored."""
        self._outcomes: deque[SettledBlock] = deque()
        self._lock = threading.Lock()

    def settled(self, block: Block, rejections: Sequence[Rejection]) -> None:
        """Adds the results of a block whose records all have an answer."""
        self._outcomes.append(SettledBlock(block, tuple(rejections)))

    def outcomes(self) -> list[SettledBlock]:
        """The results that are not stored yet, in order."""
        return list(self._outcomes)

    def written(self, outcomes: Sequence[SettledBlock], counts: dict[str, int]) -> None:
        """Marks the first results, and the counters, as stored."""
        with self._lock:
            for _ in outcomes:
                self._outcomes.popleft()
            self.counts = counts

    def totals(self) -> Totals:
        """The results of all records so far, stored or not."""
        with self._lock:
            outcomes, counts = list(self._outcomes), self.counts
        return Totals(
            counts["accepted"],
            counts["acknowledged"] + sum(outcome.acknowledged for outcome in outcomes),
            counts["rejected"] + sum(len(outcome.rejections) for outcome in outcomes),
        )


@dataclass(frozen=True, slots=True)
class Status:
    """Counts of records since the spool was created; accepted = acknowledged + rejected + pending."""

    directory: Path
    source: str
    in_use: bool
    accepted: int
    acknowledged: int
    rejected: int
    pending: int
    refused: int
    """Refused records: neither in the queue nor in the spool."""
    queued: int
    """Records in the queue in memory; 0 if read from another process's spool."""
    held: int
    """Bytes in the spool."""
    limit: int
    cluster: str
    topic: str
    """The destination of the records; both empty for a spool of an earlier version."""
    trouble: str
    """The error that stops sending; empty if there is none."""

    @property
    def room(self) -> int:
        """Free bytes for records."""
        return self.limit - self.held


def read_status(directory: Path) -> list[Status]:
    """The status of the spool in a folder and of the numbered ones below it.

    Raises:
        SpoolDamagedError: a spool cannot be read.
        ConfigError: there is no spool, or this user may not read one.
        SpoolUnsafeError: a file of a spool is a link.
    """
    with reading(directory, "the spool"):
        inside = list(directory.iterdir()) if directory.exists() else []
        numbered = sorted((folder for folder in inside if folder.name.isdigit()), key=_number)
        folders = [folder for folder in (directory, *numbered) if os.path.lexists(folder / DATABASE)]
        if not folders:
            hint = "`brokernat ship` and KafkaHandler create it at their first start"
            raise ConfigError(Finding("no-spool", f"there is no spool in `{directory}`", hint))
        return [_read(folder) for folder in folders]


def _number(folder: Path) -> int:
    return int(folder.name)


def _read(folder: Path) -> Status:
    contents = read_contents(folder)
    meta, pending = contents.meta, contents.pending
    if "source" not in meta:
        raise SpoolDamagedError(folder, "it has not been opened yet")
    counts = json.loads(meta.get("counts", "{}"))
    return Status(
        directory=folder,
        source=meta["source"],
        in_use=is_held(folder),
        accepted=counts["accepted"],
        acknowledged=counts["acknowledged"],
        rejected=counts["rejected"],
        pending=pending,
        refused=counts["refused"],
        queued=0,
        held=contents.held,
        limit=meta["limit"],
        cluster=meta.get("cluster", ""),
        topic=meta.get("topic", ""),
        trouble=meta["trouble"] if pending else "",
    )
