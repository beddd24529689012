"""A place in a file, and what the file is known by.

An inode is given to another file soon, and a file may be truncated and grow beyond the place again. So a place holds
how its file begins and what stands in front of it: a file in which both stand is the same, whatever its name.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KNOWN_BY: Final = 256
"""Bytes that are kept of the beginning, and of what stands in front of the place."""

Key = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file has been read."""

    device: int
    inode: int
    path: str
    offset: int
    start: bytes = b""
    """How the file begins."""
    before: bytes = b""
    """What stands in front of `offset`."""
    pieces: int = 0
    """Pieces that were taken already of a line that is too long for one record."""

    @property
    def key(self) -> Key:
        """Of the file."""
        return self.device, self.inode


STARTED: Final = Position(0, 0, "", 0)
"""Stands in the spool once its patterns were looked at: from then on new files are read from their beginning."""


def key_of(path: Path) -> Key | None:
    """Device and inode; None where there is no regular file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return identity(found) if stat.S_ISREG(found.st_mode) else None


def identity(found: os.stat_result) -> Key:
    """Both as SQLite's integers are, signed: file systems that make inodes up (NFS, FUSE) use all 64 bits."""
    return _signed(found.st_dev), _signed(found.st_ino)


def _signed(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def stands_in(place: Position, descriptor: int) -> bool:
    """Whether the open file begins as it did and has the same in front of the place."""
    before = place.offset - len(place.before)
    return (
        os.fstat(descriptor).st_size >= place.offset
        and os.pread(descriptor, len(place.start), 0) == place.start
        and os.pread(descriptor, len(place.before), before) == place.before
    )


def repeats(path: Path, place: Position) -> bool:
    """Whether the file has what the place is known by; False where it cannot be read."""
    try:
        with path.open("rb") as file:
            return stands_in(place, file.fileno())
    except OSError:
        return False
