"""What shipping has done and has still to do: from a handler, or from the folder of a spool that anybody may hold."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import ConfigError, Problem
from brokernat.paths import reading
from brokernat.shipping.faults import SpoolDamagedError
from brokernat.shipping.folder import DATABASE, is_held
from brokernat.shipping.spool_file import read_contents


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
            hint = "`brokernat ship` and KafkaHandler make one at their first start"
            raise ConfigError(Problem("no-spool", f"there is no spool in `{directory}`", hint))
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
