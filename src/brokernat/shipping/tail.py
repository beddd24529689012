"""Files that grow, are renamed, truncated and replaced, read to records without losing or repeating a line.

The positions go into the spool in the transaction of the records they stand for, so after a kill no line is missing
from the spool and none is in it twice. `position` says what a file is known by, `rotation` where one went, `followed`
reads one.

Rotation by rename: the old file stays open and is read until it has been quiet under its new name. Rotation by copy and
truncation: what was not read before the truncation is read from the copy, which is looked for beside the file; a copy
is not read while its original is whole. What is written between copy and truncation the rotating program loses.
"""

from __future__ import annotations

import glob
import logging
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from brokernat.shipping.batch import Batch
from brokernat.shipping.followed import Followed
from brokernat.shipping.lines import LineEncoder
from brokernat.shipping.position import STARTED, Key, Position, identity, key_of, repeats
from brokernat.shipping.rotation import candidates, is_copy, renamed

_LOG = logging.getLogger("brokernat.shipping")
_QUIET: Final = 30.0
"""Seconds without a new line or a name under a pattern, after which a file that was rotated away is closed."""
_PACKED: Final = (".gz", ".bz2", ".xz", ".zst", ".zip")


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
        self._known = {place.key: place for place in known}
        self._from_beginning = from_beginning or bool(known)
        self._open: dict[Key, Followed] = {}
        self._notes = Batch()
        self._unreadable: set[Path] = set()
        self._encoder = LineEncoder()

    def start(self) -> Batch:
        """Open what is there; the batch holds where reading starts and must be stored before anything is read."""
        # Known files before new ones: a new one may be the copy of a known one that was truncated.
        for pattern in self._patterns:
            if not any(_found([pattern])):
                _LOG.warning("%s: there is no such file yet", pattern)
        paths = {key_of(path): path for path in _found(self._patterns)}
        for key, place in list(self._known.items()):
            if place != STARTED:
                self._find_again(place, paths.get(key))
        self.scan()
        self._from_beginning = True
        self._notes.positions.extend([STARTED, *(one.position for one in self._open.values())])
        return self._take_notes()

    def scan(self) -> None:
        """Look for new, renamed and truncated files."""
        now = time.monotonic()
        for one in list(self._open.values()):
            if not one.is_whole:
                self._begin_anew(one)
        for path in _found(self._patterns):
            try:
                found = path.stat()
            except OSError:
                continue
            key = identity(found)
            if key in self._open:
                one = self._open[key]
                one.active = now
                one.position = replace(one.position, path=str(path))
            elif stat.S_ISREG(found.st_mode) and not self._is_copy(path):
                if key in self._known:
                    self._go_on(path, self._known[key])
                else:
                    self._follow(path, Position(*key, str(path), 0 if self._from_beginning else found.st_size))

    def read(self, *, final: bool = False) -> Batch:
        """Up to a block of new records, from the file that has been read least recently; empty when there are none.

        Args:
            final: files will not grow any more.
        """
        if self._notes:
            return self._take_notes()
        for key, one in list(self._open.items()):
            batch = one.read(self._encoder, final=final or one.last_words)
            if batch and not one.is_whole:
                # Truncated since the last scan, and grown: what was read may begin in the middle of another line.
                self._begin_anew(one)
                return self._take_notes()
            if batch:
                self._open[key] = self._open.pop(key)
                return batch
            self._close_if_over(one)
        return Batch()

    def taken(self, batch: Batch) -> None:
        """The batch is in the spool."""
        for place in batch.positions:
            self._known[place.key] = place
            if one := self._open.get(place.key):
                one.position = place
                one.active = time.monotonic()

    def close(self) -> None:
        """Close all files."""
        for one in self._open.values():
            one.close()
        self._open.clear()

    def _follow(self, path: Path, place: Position) -> None:
        if one := self._opened(path, place):
            self._open[place.key] = one

    def _opened(self, path: Path, place: Position) -> Followed | None:
        """None where it is gone, or may not be read, which is said once: it is tried again with every scan."""
        try:
            one = Followed.open(path, place)
        except OSError as error:
            if path not in self._unreadable:
                self._unreadable.add(path)
                _LOG.warning("%s cannot be read: %s", path, error.strerror)
            return None
        self._unreadable.discard(path)
        return one

    def _go_on(self, path: Path, known: Position) -> None:
        if repeats(path, known):
            # Also with nothing new in it: while it is open its copies are told from new files.
            self._follow(path, replace(known, path=str(path)))
        else:
            # Truncated since, or another file under the same inode.
            self._read_copy(known)
            self._follow(path, Position(*known.key, str(path), 0))

    def _find_again(self, place: Position, path: Path | None) -> None:
        """A file of an earlier run: where its pattern finds it, else where it was, else in a copy of it."""
        path = path or renamed(place)
        if path is not None:
            self._go_on(path, place)
            return
        self._read_copy(place)
        _LOG.warning("%s is gone; it was read up to byte %d", place.path, place.offset)
        self._notes.gone.append(self._known.pop(place.key))

    def _begin_anew(self, one: Followed) -> None:
        """Truncated, or another file under the same inode."""
        self._read_copy(one.position)
        one.position = Position(*one.position.key, one.position.path, 0)
        self._notes.positions.append(one.position)

    def _read_copy(self, place: Position) -> None:
        """What was not read before the truncation stands in the copy."""
        for path in candidates(place) if place.offset else ():
            key = key_of(path)
            if key is None or key in self._open or self._was_read(key, path):
                continue
            copy = self._opened(path, replace(place, device=key[0], inode=key[1], path=str(path)))
            if copy is not None and copy.is_whole:
                copy.last_words = True
                self._open[key] = copy
                self._notes.positions.append(copy.position)
                return
            if copy is not None:
                copy.close()

    def _was_read(self, key: Key, path: Path) -> bool:
        """Whether it was read as a file of its own, and still is that file."""
        return key in self._known and repeats(path, self._known[key])

    def _is_copy(self, path: Path) -> bool:
        return any(is_copy(path, one.position) for one in self._open.values())

    def _take_notes(self) -> Batch:
        notes, self._notes = self._notes, Batch()
        return notes

    def _close_if_over(self, one: Followed) -> None:
        """A file that its pattern does not find any more, read to the end and quiet."""
        if not one.last_words:
            # Once more, for a rest without a line feed.
            one.last_words = time.monotonic() - one.active > _QUIET
            return
        if one.is_deleted:
            self._known.pop(one.position.key, None)
            self._notes.gone.append(one.position)
        one.close()
        del self._open[one.position.key]


def _found(patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        if Path(pattern).is_dir():
            yield from sorted(path for path in Path(pattern).iterdir() if path.suffix not in _PACKED)
        else:
            yield from (Path(name) for name in sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207
