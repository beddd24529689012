"""Files that grow, are renamed, truncated and replaced, read to records without losing or repeating a line.

A file is known by device and inode together with how it begins and what stands before the place read up to, since
inodes are given away again and files are truncated and grow anew. The positions go into the spool in the transaction
of the records they stand for, so a kill neither loses nor repeats a line.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brokernat.shipping.lines import LineEncoder, cut
from brokernat.shipping.spool import Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LOG = logging.getLogger("brokernat.shipping")
CHUNK: Final = 512 << 10
_KNOWN_BY: Final = 256
_QUIET: Final = 30.0
_PACKED: Final = (".gz", ".bz2", ".xz", ".zst", ".zip")
STARTED: Final = Position(0, 0, "", 0)
"""Stands in the spool once its patterns were looked at: from then on new files are read from their beginning."""

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one block will hold, and the places in files behind it; falsy when there is nothing to store."""

    tails: list[bytes] = field(default_factory=list)
    positions: list[Position] = field(default_factory=list)
    gone: list[Position] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.tails or self.positions or self.gone)


@dataclass(slots=True)
class _Open:
    descriptor: int
    position: Position
    active: float
    """When it was last read from or found under its pattern, by the monotonic clock."""
    last_words: bool = False
    """It will not grow any more: a rest without a line feed is a line."""


class Tail:
    """`read` gives what is new, `taken` says that it is in the spool."""

    def __init__(self, patterns: Sequence[str], known: Sequence[Position], *, from_beginning: bool = False) -> None:
        """Nothing is opened.

        Args:
            patterns: files, folders (the files in them, packed ones left out), or patterns as a shell has them.
            known: the positions of an earlier run.
            from_beginning: files that are there at the very first start are read from their beginning, not their end.
        """
        self._patterns = patterns
        self._known: dict[Key, Position] = {(place.device, place.inode): place for place in known}
        self._from_beginning = from_beginning or bool(known)
        self._open: dict[Key, _Open] = {}
        self._notes = Batch()
        self._encoder = LineEncoder()

    def start(self) -> Batch:
        """Open what is there; the batch holds where reading starts and must be stored before anything is read."""
        # Known files before new ones: a new one may be the copy of a known one that was truncated.
        paths = {_key(path): path for path in self._paths()}
        for key, place in list(self._known.items()):
            if place != STARTED:
                self._find_again(key, place, paths.get(key))
        self.scan()
        self._from_beginning = True
        self._notes.positions.extend([STARTED, *(one.position for one in self._open.values())])
        return self._take_notes()

    def scan(self) -> None:
        """Look for new, renamed and truncated files."""
        now = time.monotonic()
        for one in list(self._open.values()):
            if not _is_same(one.descriptor, one.position):
                self._begin_anew(one)
        for path in self._paths():
            try:
                found = path.stat()
            except OSError:
                continue
            key = (found.st_dev, found.st_ino)
            if key in self._open:
                one = self._open[key]
                one.active = now
                one.position = replace(one.position, path=str(path))
            elif stat.S_ISREG(found.st_mode) and not self._is_copy(path):
                self._start_or_go_on(path, key, found.st_size)

    def read(self, *, final: bool = False) -> Batch:
        """Up to a block of new records, from the file that has been read least recently; empty when there are none.

        Args:
            final: files will not grow any more.
        """
        if self._notes:
            return self._take_notes()
        for key, one in list(self._open.items()):
            batch = self._read(one, final=final or one.last_words)
            if batch:
                self._open[key] = self._open.pop(key)
                return batch
            self._close_if_over(key, one)
        return Batch()

    def taken(self, batch: Batch) -> None:
        """The batch is in the spool."""
        for place in batch.positions:
            key = (place.device, place.inode)
            self._known[key] = place
            if key in self._open:
                self._open[key].position = place
                self._open[key].active = time.monotonic()

    def close(self) -> None:
        """Close all files."""
        for one in self._open.values():
            os.close(one.descriptor)
        self._open.clear()

    def _paths(self) -> Iterator[Path]:
        for pattern in self._patterns:
            if Path(pattern).is_dir():
                yield from sorted(path for path in Path(pattern).iterdir() if path.suffix not in _PACKED)
            else:
                yield from (Path(name) for name in sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207

    def _read(self, one: _Open, *, final: bool) -> Batch:
        place = one.position
        data = os.pread(one.descriptor, CHUNK, place.offset)
        pieces, used, cut_off = cut(data, place.pieces, final=final and len(data) < CHUNK)
        if not pieces:
            return Batch()
        tails = self._encoder.encode(pieces, place.path)
        start = place.start
        if len(start) < _KNOWN_BY:
            start = os.pread(one.descriptor, min(_KNOWN_BY, place.offset + used), 0)
        before = (place.before + data[max(0, used - _KNOWN_BY) : used])[-_KNOWN_BY:]
        after = replace(place, offset=place.offset + used, start=start, before=before, pieces=cut_off)
        return Batch(tails, [after])

    def _start_at(self, path: Path, key: Key, place: Position) -> _Open | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None
        found = os.fstat(descriptor)
        if (found.st_dev, found.st_ino) != key:
            os.close(descriptor)
            return None
        if place.offset and not place.start:
            place = replace(
                place,
                start=os.pread(descriptor, min(_KNOWN_BY, place.offset), 0),
                before=os.pread(descriptor, min(_KNOWN_BY, place.offset), max(0, place.offset - _KNOWN_BY)),
            )
        self._open[key] = _Open(descriptor, place, time.monotonic())
        return self._open[key]

    def _start_or_go_on(self, path: Path, key: Key, size: int) -> None:
        known = self._known.get(key)
        if known is None:
            self._start_at(path, key, Position(*key, str(path), 0 if self._from_beginning else size))
        elif not _repeats(path, known):
            # Truncated since, or another file under the same inode.
            self._read_copy(known)
            self._start_at(path, key, Position(*key, str(path), 0))
        else:
            # Also with nothing new in it: while it is open its copies are told from new files.
            self._start_at(path, key, replace(known, path=str(path)))

    def _find_again(self, key: Key, place: Position, path: Path | None) -> None:
        """A file of an earlier run: where its pattern finds it, else where it was, else in a copy of it."""
        if path is None:
            beside = _in_folder_of(Path(place.path))
            path = next((one for one in beside if _key(one) == key and _repeats(one, place)), None)
        if path is not None:
            self._start_or_go_on(path, key, path.stat().st_size)
            return
        self._read_copy(place)
        _LOG.warning("%s is gone; it was read up to byte %d", place.path, place.offset)
        self._notes.gone.append(self._known.pop(key))

    def _begin_anew(self, one: _Open) -> None:
        """Truncated, or another file under the same inode."""
        place = one.position
        self._read_copy(place)
        one.position = Position(place.device, place.inode, place.path, 0)
        self._notes.positions.append(one.position)

    def _read_copy(self, place: Position) -> None:
        """What was not read before the truncation stands in the copy."""
        for path in _in_folder_of(Path(place.path)) if place.offset else ():
            if Path(place.path).name not in path.name:
                continue
            key = _key(path)
            if key is None or key in self._open or self._read_before(key, path) is not None:
                continue
            copy = self._start_at(path, key, replace(place, device=key[0], inode=key[1], path=str(path)))
            if copy is not None and _is_same(copy.descriptor, copy.position):
                copy.last_words = True
                self._notes.positions.append(copy.position)
                return
            if copy is not None:
                os.close(self._open.pop(key).descriptor)

    def _is_copy(self, path: Path) -> bool:
        """Whether it repeats a file that is being read and is named after it."""
        for one in self._open.values():
            place, original = one.position, Path(one.position.path)
            related = path.parent == original.parent and path.name.startswith(original.name)
            if related and place.offset and _key(original) == (place.device, place.inode) and _repeats(path, place):
                return True
        return False

    def _read_before(self, key: Key, path: Path) -> Position | None:
        """How far, where it is still the file that was read."""
        place = self._known.get(key)
        return place if place is not None and _repeats(path, place) else None

    def _take_notes(self) -> Batch:
        notes, self._notes = self._notes, Batch()
        return notes

    def _close_if_over(self, key: Key, one: _Open) -> None:
        """A file that its pattern does not find any more, read to the end and quiet."""
        if one.last_words or time.monotonic() - one.active > _QUIET:
            if not one.last_words:
                one.last_words = True
                return
            if not os.fstat(one.descriptor).st_nlink:
                self._known.pop(key, None)
                self._notes.gone.append(one.position)
            os.close(one.descriptor)
            del self._open[key]


def _is_same(descriptor: int, place: Position) -> bool:
    """Whether the file begins as it did and has the same in front of the place."""
    before = place.offset - len(place.before)
    return (
        os.fstat(descriptor).st_size >= place.offset
        and os.pread(descriptor, len(place.start), 0) == place.start
        and os.pread(descriptor, len(place.before), before) == place.before
    )


def _repeats(path: Path, place: Position) -> bool:
    try:
        with path.open("rb") as file:
            return _is_same(file.fileno(), place)
    except OSError:
        return False


def _in_folder_of(file: Path) -> list[Path]:
    """The newest first."""
    try:
        return sorted(file.parent.iterdir(), key=lambda one: one.lstat().st_mtime, reverse=True)
    except OSError:
        return []


def _key(path: Path) -> Key | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
