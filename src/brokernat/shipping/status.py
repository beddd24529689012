"""What shipping has done and has still to do: from a handler, or from the folder of a spool that anybody may hold."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.shipping.faults import SpoolDamagedError
from brokernat.shipping.lock import held
from brokernat.shipping.spool import FILE

if TYPE_CHECKING:
    from pathlib import Path


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
    trouble: str
    """What keeps records from being sent, empty where nothing does."""

    @property
    def room(self) -> int:
        """Bytes of records that still go in."""
        return self.limit - self.held


def read_status(directory: Path) -> list[Status]:
    """Of the spool in a folder and of the numbered ones below it.

    Raises:
        SpoolDamagedError: one cannot be read, or there is none.
    """
    numbered = sorted((path for path in directory.glob("*/" + FILE) if path.parent.name.isdigit()), key=_number)
    files = [file for file in (directory / FILE, *numbered) if file.exists()]
    if not files:
        raise SpoolDamagedError(directory, "there is no spool")
    return [_read(file) for file in files]


def _number(file: Path) -> int:
    return int(file.parent.name)


def _read(file: Path) -> Status:
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as spool:
            spool.execute("BEGIN")
            meta = dict(spool.execute("SELECT name, value FROM meta"))
            pending, size = spool.execute(
                "SELECT coalesce(sum(count), 0), coalesce(sum(length(payload) + 1), 0) FROM blocks"
            ).fetchone()
            (kept,) = spool.execute("SELECT coalesce(sum(length(record) + 1), 0) FROM rejected").fetchone()
    except sqlite3.Error as error:
        raise SpoolDamagedError(file.parent, str(error)) from None
    if "source" not in meta:
        raise SpoolDamagedError(file.parent, "it has not been opened yet")
    counts = json.loads(meta.get("counts", "{}"))
    return Status(
        directory=file.parent,
        source=meta["source"],
        in_use=held(file.parent),
        accepted=counts["accepted"],
        acknowledged=counts["acknowledged"],
        rejected=counts["rejected"],
        pending=pending,
        refused=counts["refused"],
        queued=0,
        held=size + kept,
        limit=meta["limit"],
        trouble=meta["trouble"] if pending else "",
    )
