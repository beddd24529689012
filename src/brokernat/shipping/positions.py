"""Positions in files, and recognition of a file after rotation.

Inodes are reused, and a file may be truncated and grow again. So a position stores the first bytes of its file and the
bytes before the position. A file with the same bytes is taken for the same file, whatever its name.

A rotated file is searched in the folder of its old name, where rotating programs leave it. A copy has the lines of its
original up to the position; it is used as a copy only if the original no longer has these lines.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from brokernat.shipping.folder import is_spool_file

FINGERPRINT_BYTES: Final = 256
"""The number of bytes stored from the start of the file, and from before the position."""

FileId = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far a file has been read."""

    device: int
    inode: int
    path: str
    offset: int
    start: bytes = b""
    """The first bytes of the file."""
    before: bytes = b""
    """The bytes before `offset`."""
    pieces: int = 0
    """Pieces already taken from a line that is too long for one record."""

    @property
    def key(self) -> FileId:
        """The key of the file: device and inode."""
        return self.device, self.inode


STARTED: Final = FilePosition(0, 0, "", 0)
"""Stored in the spool after the first scan: from then on new files are read from their beginning."""


def file_id(path: Path) -> FileId | None:
    """Device and inode; None if it is not a regular file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return stat_id(found) if stat.S_ISREG(found.st_mode) else None


def stat_id(found: os.stat_result) -> FileId:
    """Device and inode as signed integers for SQLite; NFS and FUSE use all 64 bits of an inode."""
    return _signed(found.st_dev), _signed(found.st_ino)


def _signed(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def matches_file(position: FilePosition, descriptor: int) -> bool:
    """Whether the open file has the same first bytes and the same bytes before the position."""
    before = position.offset - len(position.before)
    return (
        os.fstat(descriptor).st_size >= position.offset
        and os.pread(descriptor, len(position.start), 0) == position.start
        and os.pread(descriptor, len(position.before), before) == position.before
    )


def has_content_of(path: Path, position: FilePosition) -> bool:
    """Whether the file matches the position; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return matches_file(position, file.fileno())
    except OSError:
        return False


def find_renamed(position: FilePosition) -> Path | None:
    """The file of the position under its new name; None if there is none."""
    return next(
        (path for path in _files_beside(position) if file_id(path) == position.key and has_content_of(path, position)),
        None,
    )


def possible_copies(position: FilePosition) -> list[Path]:
    """Files that may be copies of it, by their names; the newest first."""
    return [path for path in _files_beside(position) if Path(position.path).name in path.name]


def is_copy(path: Path, position: FilePosition) -> bool:
    """Whether a file is a copy of a file that was read and still exists under its name."""
    original = Path(position.path)
    related = path.parent == original.parent and path.name.startswith(original.name)
    return related and position.offset > 0 and file_id(original) == position.key and has_content_of(path, position)


def _files_beside(position: FilePosition) -> list[Path]:
    """The files in the folder of the position, except those of a spool; the newest first."""
    try:
        found = [path for path in Path(position.path).parent.iterdir() if not is_spool_file(path)]
        return sorted(found, key=_modified, reverse=True)
    except OSError:
        return []


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        # Deleted meanwhile, such as an old copy that the rotating program removed.
        return 0.0


@dataclass(frozen=True, slots=True)
class LineBatch:
    """The records of one block and the positions after them; falsy if there is nothing to store."""

    bodies: list[bytes] = field(default_factory=list)
    positions: list[FilePosition] = field(default_factory=list)
    removed: list[FilePosition] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.bodies or self.positions or self.removed)
