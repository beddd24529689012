"""Follow files that grow, are renamed, truncated and replaced, and read each line once.

Reading does not move a position. It moves when the spool has what was read, in the transaction of those records: so a
spool that takes nothing loses nothing, and after a kill no line is missing from the spool and none is in it twice.

Rotation by rename: the old file stays open and is read until it has been quiet under its new name. Rotation by copy and
truncation: what was not read before the truncation is read from the copy, which is looked for beside the file; a copy
is not read while its original is whole. What is written between copy and truncation the rotating program loses.
"""

from __future__ import annotations

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
"""Bytes that are read at once."""


@dataclass(slots=True)
class FollowedFile:
    """`position` is what the spool knows."""

    descriptor: int
    position: FilePosition
    active: float
    """When it was last read from or found under its pattern, by the monotonic clock."""
    is_final: bool = False
    """It will not grow any more: a rest without a line feed is a line."""

    @classmethod
    def open(cls, path: Path, position: FilePosition) -> Self | None:
        """From a position on; None where `path` does not lead to the file of that position (any more).

        Raises:
            OSError: it may not be read.
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
        """Whether what was read still stands there: the file was neither truncated nor replaced in position."""
        return matches_file(self.position, self.descriptor)

    @property
    def is_deleted(self) -> bool:
        """Whether no name leads to it."""
        return not os.fstat(self.descriptor).st_nlink

    def read(self, encoder: LineEncoder, *, final: bool) -> LineBatch:
        """The records of the next `CHUNK`, up to a block, with the position behind them; empty without a whole line.

        Args:
            encoder: makes records of lines.
            final: a rest without a line feed is a line.
        """
        position = self.position
        data = os.pread(self.descriptor, CHUNK, position.offset)
        bodies, used, pieces = encoder.encode(data, position.path, position.pieces, final=final and len(data) < CHUNK)
        if not bodies:
            return LineBatch()
        # Of what was read, and not asked for anew: the file may be another one by now.
        start = (
            position.start
            if len(position.start) == FINGERPRINT_BYTES
            else (position.start + data[: min(used, FINGERPRINT_BYTES)])[:FINGERPRINT_BYTES]
        )
        before = (position.before + data[max(0, used - FINGERPRINT_BYTES) : used])[-FINGERPRINT_BYTES:]
        after = replace(position, offset=position.offset + used, start=start, before=before, pieces=pieces)
        return LineBatch(bodies, [after])

    def close(self) -> None:
        """The file is not followed any more."""
        os.close(self.descriptor)


_LOG = logging.getLogger("brokernat.shipping")
_QUIET: Final = 30.0
"""Seconds without a new line or a name under a pattern, after which a file that was rotated away is closed."""
_PACKED: Final = (".gz", ".bz2", ".xz", ".zst", ".zip")


class Tail:
    """`read` returns new lines, `taken` is called when they are in the spool."""

    def __init__(self, patterns: Sequence[str], known: Sequence[FilePosition], *, from_beginning: bool = False) -> None:
        """Nothing is opened.

        Args:
            patterns: files, folders (the files in them, packed ones left out), or patterns as a shell has them.
            known: the positions of an earlier run.
            from_beginning: files that are there at the very first start are read from their beginning, not their end.
        """
        self._patterns = patterns
        self._known = {position.key: position for position in known}
        self._from_beginning = from_beginning or bool(known)
        self._open: dict[FileId, FollowedFile] = {}
        self._notes = LineBatch()
        self._unreadable: set[Path] = set()
        self._encoder = LineEncoder()

    def start(self) -> LineBatch:
        """Open what is there; the batch holds where reading starts and must be stored before anything is read."""
        # Known files before new ones: a new one may be the copy of a known one that was truncated.
        for pattern in self._patterns:
            if not self._found([pattern]) and Path(pattern) not in self._unreadable:
                _LOG.warning("%s: the file does not exist yet", pattern)
        paths = {file_id(path): path for path in self._found(self._patterns)}
        for key, position in list(self._known.items()):
            if position == STARTED:
                continue
            if key in paths or self._is_named(position.path):
                self._find_again(position, paths.get(key))
            else:
                _LOG.warning("%s is not followed any more: no pattern matches it; its position is kept", position.path)
        self.scan()
        self._from_beginning = True
        self._notes.positions.extend([STARTED, *(one.position for one in self._open.values())])
        return self._positions_to_store()

    def scan(self) -> None:
        """Look for new, renamed and truncated files."""
        now = time.monotonic()
        for one in list(self._open.values()):
            with suppress(OSError):  # `read` reports it
                if not one.is_whole:
                    self._begin_anew(one)
        for path in self._found(self._patterns):
            try:
                found = path.stat()
            except OSError:
                continue
            key = stat_id(found)
            if key in self._open:
                one = self._open[key]
                one.active = now
                one.position = replace(one.position, path=str(path))
            elif stat.S_ISREG(found.st_mode) and not self._is_copy(path):
                if key in self._known:
                    self._go_on(path, self._known[key])
                else:
                    self._follow(path, FilePosition(*key, str(path), 0 if self._from_beginning else found.st_size))

    def read(self, *, final: bool = False) -> LineBatch:
        """Up to a block of new records, from the file that has been read least recently; empty when there are none.

        Args:
            final: files will not grow any more.
        """
        if self._notes:
            return self._positions_to_store()
        for key, one in list(self._open.items()):
            try:
                batch = one.read(self._encoder, final=final or one.is_final)
                whole = one.is_whole
            except OSError as error:  # such as a file of a network file system that is away: tried again
                self._report_unreadable(Path(one.position.path), error)
                continue
            if batch and not whole:
                # Truncated since the last scan, and grown: what was read may begin in the middle of another line.
                self._begin_anew(one)
                return self._positions_to_store()
            if batch:
                self._open[key] = self._open.pop(key)
                return batch
            self._close_if_over(one)
        return LineBatch()

    def taken(self, batch: LineBatch) -> None:
        """The batch is in the spool."""
        for position in batch.positions:
            self._known[position.key] = position
            if one := self._open.get(position.key):
                one.position = position
                one.active = time.monotonic()

    def close(self) -> None:
        """Close all files."""
        for one in self._open.values():
            one.close()
        self._open.clear()

    def _follow(self, path: Path, position: FilePosition) -> None:
        if one := self._opened(path, position):
            self._open[position.key] = one

    def _opened(self, path: Path, position: FilePosition) -> FollowedFile | None:
        """None where it is gone, or may not be read, which is logged once: every scan tries again."""
        try:
            one = FollowedFile.open(path, position)
        except OSError as error:
            self._report_unreadable(path, error)
            return None
        self._unreadable.discard(path)
        return one

    def _report_unreadable(self, path: Path, error: OSError) -> None:
        """Once: it is tried again many times."""
        if path not in self._unreadable:
            self._unreadable.add(path)
            _LOG.warning("%s cannot be read by user id %d: %s", path, os.geteuid(), error.strerror)

    def _found(self, patterns: Sequence[str]) -> list[Path]:
        """The files that patterns lead to; a folder that may not be read is reported."""
        found: list[Path] = []
        for pattern in patterns:
            path = Path(pattern)
            try:
                if stat.S_ISDIR(path.stat().st_mode):
                    found += sorted(inside for inside in path.iterdir() if inside.suffix not in _PACKED)
                    self._unreadable.discard(path)
                    continue
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError as error:
                self._report_unreadable(path, error)
                continue
            found += map(Path, sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207
        return found

    def _is_named(self, path: str) -> bool:
        """Whether the patterns name a file that may have been renamed since."""
        folder = str(Path(path).parent)
        return any(fnmatch(path, pattern) or folder == str(Path(pattern)) for pattern in self._patterns)

    def _go_on(self, path: Path, known: FilePosition) -> None:
        if has_content_of(path, known):
            # Also with nothing new in it: while it is open its copies are told from new files.
            self._follow(path, replace(known, path=str(path)))
        else:
            # Truncated since, or another file under the same inode.
            self._read_copy(known)
            self._follow(path, FilePosition(*known.key, str(path), 0))

    def _find_again(self, position: FilePosition, path: Path | None) -> None:
        """A file of an earlier run: where its pattern finds it, else where it was, else in a copy of it."""
        path = path or find_renamed(position)
        if path is not None:
            self._go_on(path, position)
            return
        if not _is_gone(Path(position.path)):
            return
        self._read_copy(position)
        _LOG.warning("%s was deleted; it was read up to byte %d", position.path, position.offset)
        self._notes.removed.append(self._known.pop(position.key))

    def _begin_anew(self, one: FollowedFile) -> None:
        """Truncated, or another file under the same inode."""
        self._read_copy(one.position)
        one.position = FilePosition(*one.position.key, one.position.path, 0)
        self._notes.positions.append(one.position)

    def _read_copy(self, position: FilePosition) -> None:
        """What was not read before the truncation stands in the copy."""
        for path in possible_copies(position) if position.offset else ():
            key = file_id(path)
            if key is None or key in self._open or self._was_read(key, path):
                continue
            copy = self._opened(path, replace(position, device=key[0], inode=key[1], path=str(path)))
            if copy is not None and copy.is_whole:
                copy.is_final = True
                self._open[key] = copy
                self._notes.positions.append(copy.position)
                return
            if copy is not None:
                copy.close()

    def _was_read(self, key: FileId, path: Path) -> bool:
        """Whether it was read as a file of its own, and still is that file."""
        return key in self._known and has_content_of(path, self._known[key])

    def _is_copy(self, path: Path) -> bool:
        return any(is_copy(path, one.position) for one in self._open.values())

    def _positions_to_store(self) -> LineBatch:
        notes, self._notes = self._notes, LineBatch()
        return notes

    def _close_if_over(self, one: FollowedFile) -> None:
        """A file that its pattern does not find any more, read to the end and quiet."""
        if not one.is_final:
            # Once more, for a rest without a line feed.
            one.is_final = time.monotonic() - one.active > _QUIET
            return
        if one.is_deleted:
            self._known.pop(one.position.key, None)
            self._notes.removed.append(one.position)
        one.close()
        del self._open[one.position.key]


def _is_gone(path: Path) -> bool:
    """False where nobody can tell, as in a folder that may not be read: the position is still good."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return True  # another file has the name
