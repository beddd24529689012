"""Follows files that grow, are renamed, truncated and replaced, and reads each line once.

The spool stores the new position in the transaction of the records. So a full spool loses no line, and after a kill no
line is missing from the spool and none is in it twice.

Rotation by rename: the old file stays open and is read until it has not grown for a while. Rotation by copy and
truncation: lines that were not read before the truncation are read from the copy, which is searched beside the file; a
copy is not read while its original is complete. Lines written between copy and truncation are lost by the rotating
program.

The files of a spool are never opened: each of their bytes would become a record in them, and closing a database file
releases SQLite's POSIX locks on it.
"""

from __future__ import annotations

import errno
import glob
import logging
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, Self

from brokernat.shipping.folder import is_spool_file
from brokernat.shipping.lines import LineEncoder
from brokernat.shipping.positions import (
    FINGERPRINT_BYTES,
    STARTED,
    FileId,
    FilePosition,
    LineBatch,
    file_id,
    find_renamed,
    has_content_of,
    is_copy,
    matches_file,
    possible_copies,
    stat_id,
)

CHUNK: Final = 512 << 10
"""Bytes per read."""


@dataclass(slots=True)
class FollowedFile:
    """An open file; `position` is the position that is stored in the spool."""

    descriptor: int
    position: FilePosition
    active: float
    """The last time that it had new lines or matched its pattern, on the monotonic clock."""
    is_final: bool = False
    """Whether it will not grow any more, so that a rest without a line feed is a line."""

    @classmethod
    def open(cls, path: Path, position: FilePosition) -> Self | None:
        """Opens the file at a position; None if `path` is not (or no longer) the file of that position.

        Raises:
            OSError: the file cannot be read.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        if stat_id(os.fstat(descriptor)) != position.key:
            os.close(descriptor)
            return None
        if position.offset and not position.start:
            position = replace(
                position,
                start=os.pread(descriptor, min(FINGERPRINT_BYTES, position.offset), 0),
                before=os.pread(
                    descriptor, min(FINGERPRINT_BYTES, position.offset), max(0, position.offset - FINGERPRINT_BYTES)
                ),
            )
        return cls(descriptor, position, time.monotonic())

    @property
    def is_whole(self) -> bool:
        """Whether the bytes before the position are unchanged: the file was neither truncated nor replaced."""
        return matches_file(self.position, self.descriptor)

    @property
    def is_deleted(self) -> bool:
        """Whether it has no name any more."""
        return not os.fstat(self.descriptor).st_nlink

    def read(self, encoder: LineEncoder, *, final: bool) -> LineBatch:
        """The records of the next `CHUNK`, up to a block, with the position after them; empty without a whole line.

        Args:
            encoder: converts lines to records.
            final: whether a rest without a line feed is a line.
        """
        position = self.position
        data = os.pread(self.descriptor, CHUNK, position.offset)
        bodies, used, pieces = encoder.encode(data, position.path, position.pieces, final=final and len(data) < CHUNK)
        if not bodies:
            return LineBatch()
        # Taken from the bytes read, not from the file again, because it may have been replaced meanwhile.
        start = (
            position.start
            if len(position.start) == FINGERPRINT_BYTES
            else (position.start + data[: min(used, FINGERPRINT_BYTES)])[:FINGERPRINT_BYTES]
        )
        before = (position.before + data[max(0, used - FINGERPRINT_BYTES) : used])[-FINGERPRINT_BYTES:]
        after = replace(position, offset=position.offset + used, start=start, before=before, pieces=pieces)
        return LineBatch(bodies, [after])

    def close(self) -> None:
        """Stops following the file."""
        os.close(self.descriptor)


_LOG = logging.getLogger("brokernat.shipping")
_CLOSE_AFTER: Final = 30.0
"""Seconds without a new line or a matching name after which a rotated file is closed."""
_COMPRESSED: Final = (".gz", ".bz2", ".xz", ".zst", ".zip")


class Tail:
    """`read` returns new lines; the caller calls `mark_stored` when they are in the spool."""

    def __init__(self, patterns: Sequence[str], known: Sequence[FilePosition], *, from_beginning: bool = False) -> None:
        """Opens nothing.

        Args:
            patterns: files, folders (all files in them except compressed ones), or shell patterns.
            known: the positions of an earlier run.
            from_beginning: whether the first start reads existing files from their beginning, not from their end.
        """
        self._patterns = patterns
        self._known = {position.key: position for position in known}
        self._from_beginning = from_beginning or bool(known)
        self._open: dict[FileId, FollowedFile] = {}
        self._position_changes = LineBatch()
        self._unreadable: set[Path] = set()
        self._encoder = LineEncoder()

    def start(self) -> LineBatch:
        """Opens existing files; the returned batch has the start positions and must be stored before reading."""
        # Known files are opened first, because a new file may be the copy of a known file that was truncated.
        for pattern in missing_files(self._patterns):
            _LOG.warning("%s: the file does not exist yet", pattern)
        paths = {file_id(path): path for path in self._matching_files(self._patterns)}
        for key, position in list(self._known.items()):
            if position == STARTED:
                continue
            if key in paths or self._matches_a_pattern(position.path):
                self._find_moved(position, paths.get(key))
            else:
                _LOG.warning("%s is not followed any more: no pattern matches it; its position is kept", position.path)
        self.scan()
        self._from_beginning = True
        self._position_changes.positions.extend([STARTED, *(followed.position for followed in self._open.values())])
        return self._take_position_changes()

    def scan(self) -> None:
        """Searches for new, renamed and truncated files."""
        now = time.monotonic()
        for followed in list(self._open.values()):
            with suppress(OSError):  # `read` reports it
                if not followed.is_whole:
                    self._restart_file(followed)
        for path in self._matching_files(self._patterns):
            try:
                found = path.stat()
            except OSError:
                continue
            key = stat_id(found)
            if key in self._open:
                followed = self._open[key]
                followed.active = now
                followed.position = replace(followed.position, path=str(path))
            elif stat.S_ISREG(found.st_mode) and not self._is_copy(path):
                if key in self._known:
                    self._resume(path, self._known[key])
                else:
                    self._follow(path, FilePosition(*key, str(path), 0 if self._from_beginning else found.st_size))

    def read(self, *, final: bool = False) -> LineBatch:
        """Up to a block of new records, from the least recently read file; empty if there are none.

        Args:
            final: whether the files will not grow any more.
        """
        if self._position_changes:
            return self._take_position_changes()
        for key, followed in list(self._open.items()):
            try:
                batch = followed.read(self._encoder, final=final or followed.is_final)
                unchanged = followed.is_whole
            except OSError as error:  # for example, the network file system is unreachable; retried
                self._report_unreadable(Path(followed.position.path), error)
                continue
            if batch and not unchanged:
                # Truncated since the last scan, and grown: the bytes read may begin in the middle of another line.
                self._restart_file(followed)
                return self._take_position_changes()
            if batch:
                self._open[key] = self._open.pop(key)
                return batch
            self._close_if_finished(followed)
        return LineBatch()

    def mark_stored(self, batch: LineBatch) -> None:
        """Marks the batch as stored in the spool."""
        for position in batch.positions:
            self._known[position.key] = position
            if followed := self._open.get(position.key):
                followed.position = position
                followed.active = time.monotonic()

    @property
    def is_incomplete(self) -> bool:
        """Whether a file or a folder cannot be read now."""
        return bool(self._unreadable)

    def close(self) -> None:
        """Close all files."""
        for followed in self._open.values():
            followed.close()
        self._open.clear()

    def _follow(self, path: Path, position: FilePosition) -> None:
        if followed := self._open_file(path, position):
            self._open[position.key] = followed

    def _open_file(self, path: Path, position: FilePosition) -> FollowedFile | None:
        """The opened file; None if it is deleted or unreadable (logged once). Every scan retries."""
        try:
            followed = FollowedFile.open(path, position)
        except OSError as error:
            self._report_unreadable(path, error)
            return None
        self._unreadable.discard(path)
        return followed

    def _report_unreadable(self, path: Path, error: OSError) -> None:
        """Reports it once, because it is retried often."""
        if path not in self._unreadable:
            self._unreadable.add(path)
            _LOG.warning("%s cannot be read by user id %d: %s", path, os.geteuid(), error.strerror)

    def _matching_files(self, patterns: Sequence[str]) -> list[Path]:
        """The files that match the patterns; reports unreadable folders."""
        found: list[Path] = []
        for pattern in patterns:
            path = Path(pattern)
            try:
                matching = _find_files(pattern)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._report_unreadable(path, error)
                continue
            if path not in matching:  # a readable folder; a file may be unreadable itself
                self._unreadable.discard(path)
            found += matching
        return found

    def _matches_a_pattern(self, path: str) -> bool:
        """Whether a pattern matches the path, although the file may have been renamed since."""
        folder = str(Path(path).parent)
        return any(fnmatch(path, pattern) or folder == str(Path(pattern)) for pattern in self._patterns)

    def _resume(self, path: Path, known: FilePosition) -> None:
        if has_content_of(path, known):
            # Opened even without new lines, because copies are recognised only while their original is open.
            self._follow(path, replace(known, path=str(path)))
        else:
            # Truncated since then, or another file with the same inode.
            self._read_copy(known)
            self._follow(path, FilePosition(*known.key, str(path), 0))

    def _find_moved(self, position: FilePosition, path: Path | None) -> None:
        """Finds a file of an earlier run: by its pattern, at its old path, or as a copy."""
        path = path or find_renamed(position)
        if path is not None:
            self._resume(path, position)
            return
        if not _is_deleted(Path(position.path)):
            return
        self._read_copy(position)
        _LOG.warning("%s was deleted; it was read up to byte %d", position.path, position.offset)
        self._position_changes.removed.append(self._known.pop(position.key))

    def _restart_file(self, followed: FollowedFile) -> None:
        """Starts at the beginning of a file that was truncated or has a reused inode."""
        self._read_copy(followed.position)
        followed.position = FilePosition(*followed.position.key, followed.position.path, 0)
        self._position_changes.positions.append(followed.position)

    def _read_copy(self, position: FilePosition) -> None:
        """Reads from the copy the lines that were not read before the truncation."""
        for path in possible_copies(position) if position.offset else ():
            key = file_id(path)
            if key is None or key in self._open or self._was_read(key, path):
                continue
            copy = self._open_file(path, replace(position, device=key[0], inode=key[1], path=str(path)))
            if copy is not None and copy.is_whole:
                copy.is_final = True
                self._open[key] = copy
                self._position_changes.positions.append(copy.position)
                return
            if copy is not None:
                copy.close()

    def _was_read(self, key: FileId, path: Path) -> bool:
        """Whether the file was read as a separate file and is still that file."""
        return key in self._known and has_content_of(path, self._known[key])

    def _is_copy(self, path: Path) -> bool:
        return any(is_copy(path, followed.position) for followed in self._open.values())

    def _take_position_changes(self) -> LineBatch:
        changes, self._position_changes = self._position_changes, LineBatch()
        return changes

    def _close_if_finished(self, followed: FollowedFile) -> None:
        """Closes a file that is read to the end, no longer matches its pattern and does not grow."""
        if not followed.is_final:
            # The next read also takes a last line without a line feed.
            followed.is_final = time.monotonic() - followed.active > _CLOSE_AFTER
            return
        if followed.is_deleted:
            self._known.pop(followed.position.key, None)
            self._position_changes.removed.append(followed.position)
        followed.close()
        del self._open[followed.position.key]


def missing_files(patterns: Sequence[str]) -> list[str]:
    """The patterns without any file; not those whose folder is unreadable."""
    missing = []
    for pattern in patterns:
        try:
            _find_files(pattern)
        except FileNotFoundError:
            missing.append(pattern)
        except OSError:
            continue
    return missing


def _find_files(pattern: str) -> list[Path]:
    """The files of a folder, except compressed ones, or the files that match a pattern; none of a spool.

    Raises:
        FileNotFoundError: there is neither a folder nor a file.
        OSError: it is unreadable.
    """
    path = Path(pattern)
    with suppress(FileNotFoundError, NotADirectoryError):
        if stat.S_ISDIR(path.stat().st_mode):
            inside = (one for one in path.iterdir() if one.suffix not in _COMPRESSED)
            return sorted(one for one in inside if not is_spool_file(one))
    matching = map(Path, sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207
    if found := [one for one in matching if not is_spool_file(one)]:
        return found
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), pattern)


def _is_deleted(path: Path) -> bool:
    """Whether the file is deleted; False if unknown, as in an unreadable folder, so that the position is kept."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return True  # the path now belongs to another file
