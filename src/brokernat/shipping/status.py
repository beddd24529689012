"""What became of records: counted while they are shipped, and read from the folder of any spool.

The sender reports what became of a block (`settled`); the writer stores it in its next transaction (`written`). Every
counter only grows, and what waits is a difference, so none can wrap below zero.
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
    """Records since the spool was made."""

    accepted: int
    acknowledged: int
    rejected: int

    @property
    def pending(self) -> int:
        """Those without an answer."""
        return self.accepted - self.acknowledged - self.rejected


class SettledBlocks:
    """Of one spool. `settled` is the sender's, `outcomes` and `written` are the writer's, `account` is anybody's."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        """Goes on from what is in the file: the counters by name, none of them in a new spool."""
        self.counts = {"accepted": 0, "acknowledged": 0, "rejected": 0, "refused": 0, **counts}
        """As they are written down."""
        self._outcomes: deque[SettledBlock] = deque()
        self._writing = threading.Lock()

    def settled(self, block: Block, rejections: Sequence[Rejection]) -> None:
        """Every record of the block has its answer."""
        self._outcomes.append(SettledBlock(block, tuple(rejections)))

    def outcomes(self) -> list[SettledBlock]:
        """Those that are not written down yet, in order."""
        return list(self._outcomes)

    def written(self, outcomes: Sequence[SettledBlock], counts: dict[str, int]) -> None:
        """The first outcomes are in the file, and so are the counters."""
        with self._writing:
            for _ in outcomes:
                self._outcomes.popleft()
            self.counts = counts

    def totals(self) -> Totals:
        """Of all records, as far as it is known, written down or not."""
        with self._writing:
            outcomes, counts = list(self._outcomes), self.counts
        return Totals(
            counts["accepted"],
            counts["acknowledged"] + sum(outcome.acknowledged for outcome in outcomes),
            counts["rejected"] + sum(len(outcome.rejections) for outcome in outcomes),
        )


@dataclass(frozen=True, slots=True)
class Status:
    """Counts are of records, since the spool was made; accepted = acknowledged + rejected + pending."""

    directory: Path
    source: str
    in_use: bool
    accepted: int
    acknowledged: int
    rejected: int
    pending: int
    refused: int
    """Not taken: neither in the queue nor in the spool."""
    queued: int
    """In memory on their way into the spool; 0 where another process was asked."""
    held: int
    """Bytes in the spool."""
    limit: int
    cluster: str
    topic: str
    """Where its records go; both empty where an earlier version made the spool."""
    trouble: str
    """What keeps records from being sent, empty where nothing does."""

    @property
    def room(self) -> int:
        """Bytes of records that still go in."""
        return self.limit - self.held


def read_status(directory: Path) -> list[Status]:
    """Of the spool in a folder and of the numbered ones below it.

    Raises:
        SpoolDamagedError: one cannot be read.
        ConfigError: there is none, or this user may not read one.
        SpoolUnsafeError: a file in one is a link.
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
    noted, pending = contents.noted, contents.pending
    if "source" not in noted:
        raise SpoolDamagedError(folder, "it has not been opened yet")
    counts = json.loads(noted.get("counts", "{}"))
    return Status(
        directory=folder,
        source=noted["source"],
        in_use=is_held(folder),
        accepted=counts["accepted"],
        acknowledged=counts["acknowledged"],
        rejected=counts["rejected"],
        pending=pending,
        refused=counts["refused"],
        queued=0,
        held=contents.held,
        limit=noted["limit"],
        cluster=noted.get("cluster", ""),
        topic=noted.get("topic", ""),
        trouble=noted["trouble"] if pending else "",
    )
