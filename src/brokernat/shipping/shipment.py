"""The loop of `brokernat ship`: reads files or a pipe into the spool; the sender runs in parallel.

If the spool is full, the loop keeps its batch and waits: files keep their lines, and a pipe blocks its writer. At the
end the loop waits some time for the brokers; records without an answer stay in the spool for the next start. Lines of a
pipe that were read before a stop wait for room no longer than that: the brokers may never come back.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from typing import Final

from brokernat.shipping.errors import SpoolFullError
from brokernat.shipping.lines import Pipe
from brokernat.shipping.positions import LineBatch
from brokernat.shipping.sender import Sender
from brokernat.shipping.spool import Spool
from brokernat.shipping.tail import Tail
from brokernat.text import counted

_LOG = logging.getLogger("brokernat.shipping")
_PAUSE: Final = 0.2
_WARN_EVERY: Final = 60.0
_POLL_INTERVAL: Final = 0.02


class Shipment:
    """One run of `brokernat ship`."""

    def __init__(self, spool: Spool, sender: Sender, *, tail: Tail | None = None, pipe: Pipe | None = None) -> None:
        """Starts no thread and reads nothing. Without files and pipe it only sends the records in the spool."""
        self._spool, self._sender, self._tail, self._pipe = spool, sender, tail, pipe
        # Plain values: signal handlers call `stop` and must not take a lock.
        self._stopped_at = math.inf
        self._abort = False
        self._patience = 0.0
        self._next_warning = 0.0
        self.lost = 0
        """Records of the pipe that were read and had no room in the spool before the end."""

    def stop(self) -> None:
        """Stops reading; sends the rest."""
        self._stopped_at = time.monotonic()

    def abort(self) -> None:
        """Stops reading, and does not wait for the brokers."""
        self._abort = True

    def run(self, *, once: bool, patience: float) -> int:
        """Reads until `stop`, the end of the pipe, or, with `once`, the current end of the files.

        Args:
            once: whether to end when all present lines are read.
            patience: seconds to wait for the brokers at the end, from `stop` on.

        Returns:
            The number of records without an answer, which stay in the spool.

        Raises:
            OtherClusterError: the spool holds records for another cluster of this name.
        """
        self._patience = patience
        try:
            self._sender.start()
        except BaseException:
            self._spool.close()
            raise
        try:
            if self._tail is not None:
                self._store(self._tail.start())
            self._read(once=once)
            for batch in self._pipe.rest() if self._pipe is not None else ():
                # Also after `stop`, because a pipe cannot be read again.
                self._store(batch)
            deadline = min(self._stopped_at, time.monotonic()) + patience
            while self._spool.pending and time.monotonic() < deadline and not (self._abort or self._sender.refused):
                time.sleep(_POLL_INTERVAL)
                self._settle()
            if self.lost:
                _LOG.warning("%s of standard input lost: the spool had no room", counted(self.lost, "record"))
        finally:
            self._sender.stop()
            if self._tail is not None:
                self._tail.close()
            pending = self._spool.pending
            self._spool.close()
        if self._sender.refused is not None:
            raise self._sender.refused
        return pending

    def _read(self, *, once: bool) -> None:
        scan_at = 0.0
        while not (self._is_stopped or self._sender.refused):
            if self._tail is not None and time.monotonic() >= scan_at:
                self._tail.scan()
                scan_at = time.monotonic() + _PAUSE
            batches = self._batches(once=once)
            for batch in batches:
                self._store(batch)
            if batches:
                continue
            self._settle()
            if (once and self._pipe is None) or (self._pipe is not None and self._pipe.ended):
                return
            if self._pipe is None:
                time.sleep(_PAUSE)

    def _batches(self, *, once: bool) -> Sequence[LineBatch]:
        found = []
        if self._tail is not None:
            found.append(self._tail.read(final=once))
        if self._pipe is not None and not self._pipe.ended:
            found.append(self._pipe.read())
        return [batch for batch in found if batch]

    @property
    def _is_stopped(self) -> bool:
        return self._abort or self._stopped_at < math.inf

    def _store(self, batch: LineBatch) -> None:
        of_file = bool(batch.positions or batch.removed)
        while True:
            try:
                self._spool.append(batch.bodies, batch.positions, batch.removed)
            except SpoolFullError as error:
                if self._ends_without_room(of_file=of_file):
                    self.lost += 0 if of_file else len(batch.bodies)
                    return
                self._warn("reading waits", error)
                time.sleep(_PAUSE)
                continue
            if self._tail is not None:
                self._tail.mark_stored(batch)
            return

    def _ends_without_room(self, *, of_file: bool) -> bool:
        """Whether to give up a batch: the lines of a file can be read again, those of a pipe wait until the end."""
        if self._abort or self._sender.refused or (of_file and self._is_stopped):
            return True
        return time.monotonic() >= self._stopped_at + self._patience

    def _settle(self) -> None:
        try:
            self._spool.settle()
        except SpoolFullError as error:
            self._warn("acknowledgements cannot be stored", error)

    def _warn(self, what: str, error: SpoolFullError) -> None:
        """Warns once a minute: the loop retries many times per second, and the log may be on the same full disk."""
        if time.monotonic() >= self._next_warning:
            self._next_warning = time.monotonic() + _WARN_EVERY
            _LOG.warning("%s: %s", what, error)
