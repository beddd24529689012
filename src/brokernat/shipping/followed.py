"""One file that is followed: open from when it is found until it is read to its end and quiet.

Reading does not move the place: it moves when the spool has what was read, so that a spool that takes nothing loses
nothing. The descriptor keeps a file that was renamed or deleted.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from brokernat.shipping.batch import Batch
from brokernat.shipping.lines import LineEncoder
from brokernat.shipping.position import KNOWN_BY, Position, identity, stands_in

CHUNK: Final = 512 << 10
"""Bytes that are read at once."""


@dataclass(slots=True)
class Followed:
    """`position` is what the spool knows."""

    descriptor: int
    position: Position
    active: float
    """When it was last read from or found under its pattern, by the monotonic clock."""
    last_words: bool = False
    """It will not grow any more: a rest without a line feed is a line."""

    @classmethod
    def open(cls, path: Path, place: Position) -> Self | None:
        """From a place on; None where `path` does not lead to the file of that place (any more).

        Raises:
            OSError: it may not be read.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        if identity(os.fstat(descriptor)) != place.key:
            os.close(descriptor)
            return None
        if place.offset and not place.start:
            place = replace(
                place,
                start=os.pread(descriptor, min(KNOWN_BY, place.offset), 0),
                before=os.pread(descriptor, min(KNOWN_BY, place.offset), max(0, place.offset - KNOWN_BY)),
            )
        return cls(descriptor, place, time.monotonic())

    @property
    def is_whole(self) -> bool:
        """Whether what was read still stands there: the file was neither truncated nor replaced in place."""
        return stands_in(self.position, self.descriptor)

    @property
    def is_deleted(self) -> bool:
        """Whether no name leads to it."""
        return not os.fstat(self.descriptor).st_nlink

    def read(self, encoder: LineEncoder, *, final: bool) -> Batch:
        """The records of the next `CHUNK`, up to a block, with the place behind them; empty when no line is complete.

        Args:
            encoder: makes records of lines.
            final: a rest without a line feed is a line.
        """
        place = self.position
        data = os.pread(self.descriptor, CHUNK, place.offset)
        tails, used, pieces = encoder.encode(data, place.path, place.pieces, final=final and len(data) < CHUNK)
        if not tails:
            return Batch()
        # Of what was read, and not asked for anew: the file may be another one by now.
        start = place.start if len(place.start) == KNOWN_BY else (place.start + data[: min(used, KNOWN_BY)])[:KNOWN_BY]
        before = (place.before + data[max(0, used - KNOWN_BY) : used])[-KNOWN_BY:]
        after = replace(place, offset=place.offset + used, start=start, before=before, pieces=pieces)
        return Batch(tails, [after])

    def close(self) -> None:
        """The file is not followed any more."""
        os.close(self.descriptor)
