"""Standard input, or any pipe, to records: one for each line.

A pipe cannot be read twice: what was read and is not in the spool when the process is killed is gone, at most one read.
"""

from __future__ import annotations

import os
import select

from brokernat.shipping.batch import Batch
from brokernat.shipping.lines import LineEncoder, cut

_READ = 64 << 10
_WAIT = 0.2


class Pipe:
    """`read` gives what is new; `ended` when the other side has closed and everything was given."""

    def __init__(self, descriptor: int) -> None:
        self.ended = False
        self._descriptor = descriptor
        self._rest = b""
        self._pieces = 0
        self._encoder = LineEncoder()

    def read(self) -> Batch:
        """Waits for a moment where there is nothing."""
        if not select.select([self._descriptor], [], [], _WAIT)[0]:
            return Batch()
        data = os.read(self._descriptor, _READ)
        self.ended = not data
        pieces, used, self._pieces = cut(self._rest + data, self._pieces, final=self.ended)
        self._rest = (self._rest + data)[used:]
        return Batch(self._encoder.encode(pieces, ""))
