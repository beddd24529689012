"""Standard input, or any pipe, to records: one for each line.

A pipe cannot be read twice: what was read and is not in the spool when the process is killed is gone, at most one read.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator

from brokernat.shipping.batch import Batch
from brokernat.shipping.lines import LineEncoder

_READ = 64 << 10
_WAIT = 0.2


class Pipe:
    """`read` gives what is new; `ended` when the other side has closed and everything was given."""

    def __init__(self, descriptor: int) -> None:
        self.ended = False
        self._descriptor = descriptor
        self._closed = False
        self._rest = b""
        self._pieces = 0
        self._encoder = LineEncoder()

    def read(self) -> Batch:
        """Up to a block of records; waits for a moment where there is nothing."""
        batch = self._encode()
        if batch or self._closed:
            # What was read at once may be more than a block takes.
            self.ended = not batch
            return batch
        if not select.select([self._descriptor], [], [], _WAIT)[0]:
            return batch
        data = os.read(self._descriptor, _READ)
        self._rest += data
        self._closed = not data
        return self._encode()

    def rest(self) -> Iterator[Batch]:
        """What was read already and not given yet, a rest without a line feed too; nothing more is read."""
        self._closed = True
        while batch := self.read():
            yield batch

    def _encode(self) -> Batch:
        tails, used, self._pieces = self._encoder.encode(self._rest, "", self._pieces, final=self._closed)
        self._rest = self._rest[used:]
        return Batch(tails)
