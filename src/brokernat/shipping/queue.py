"""The bounded queue between the application's calls and the spool, and the thread that empties it.

The queue is the only place that refuses records, so the only one that counts refusals: when anything behind it stops
(brokers down, spool at its limit, disk full), the writer keeps one block and tries again, and the queue fills. The log
`brokernat.shipping` reports at once, then once a minute, how many records were refused and why.

Both bounds are differences of counters that only grow, each with one writer, so nothing can wrap below zero; a refusal
changes none of them. An ordinary call costs a lock, two additions and an `append`. It does not wake the writer, which
sleeps a few milliseconds between blocks: a wake-up for every record would cost the caller more than all the rest.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from typing import Final

from brokernat.errors import BrokernatError
from brokernat.shipping.block import BLOCK_BYTES, BLOCK_RECORDS
from brokernat.shipping.errors import NotShippedError, SpoolFullError
from brokernat.shipping.spool import Spool
from brokernat.shipping.threads import log_later

MAX_RECORDS: Final = 20_000
MAX_BYTES: Final = 16 << 20
_STEP: Final = 0.25


class OnFull(StrEnum):
    """What a call does that finds no room."""

    DROP = "drop"
    BLOCK = "block"
    RAISE = "raise"


QueuedRecord = tuple[bytes, Future[None] | None]
"""A record on its way, and what somebody holds who waits for it to be stored."""


class RecordQueue:
    """Calls `offer`, from any thread; one thread calls `take`."""

    def __init__(
        self, on_full: OnFull, *, max_records: int = MAX_RECORDS, max_bytes: int = MAX_BYTES, largest: int = MAX_BYTES
    ) -> None:
        """Bounds are both in force.

        Args:
            on_full: what a call does that finds no room.
            max_records: that the queue holds.
            max_bytes: of records that the queue holds.
            largest: bytes of a single record; a larger one would wait for ever behind this queue, and is refused.
        """
        self.on_full = on_full
        self.stalled: str | None = None
        """Why the writer cannot go on at the moment."""
        self._max_records, self._max_bytes = max_records, max_bytes
        self._largest = min(max_bytes, largest)
        self._entries: list[QueuedRecord] = []
        # A queue and no event: what rings must do so from a signal handler in the middle of another ring.
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._idle = self._urgent = False
        # Reentrant: a signal handler of the application may log in the middle of a call.
        self._lock = threading.RLock()
        self._room = threading.Condition(self._lock)
        self._offered = self._offered_bytes = 0
        self._taken = self._taken_bytes = 0
        self._refused = 0
        self._closed: str | None = None

    @property
    def refused(self) -> int:
        """Records that were not taken, ever."""
        return self._refused

    @property
    def offered(self) -> int:
        """Records that were taken in, ever."""
        return self._offered

    @property
    def depth(self) -> tuple[int, int]:
        """Records and bytes in the queue."""
        return self._offered - self._taken, self._offered_bytes - self._taken_bytes

    def offer(self, body: bytes, *, receipt: bool = False) -> Future[None] | None:
        """Take a record in, or refuse it as `on_full` has it.

        Args:
            body: the record.
            receipt: whether the caller wants to know when it is stored.

        Raises:
            NotShippedError: refused, and `on_full` is not to drop.
        """
        size = len(body)
        mine: Future[None] | None = Future() if receipt else None
        with self._lock:
            if not self._fits(size) and (reason := self._make_room(size)):
                self._refused += 1
                if self.on_full is OnFull.DROP:
                    return None
                raise NotShippedError(reason)
            self._offered += 1
            self._offered_bytes += size
            self._entries.append((body, mine))
            self._urgent |= receipt
            if self._idle:
                self._idle = False
                self._bell.put(None)
        return mine

    def take(self, max_records: int, max_bytes: int, timeout: float, linger: float) -> list[QueuedRecord]:
        """What is there, in order, within both bounds, but at least one record; the room is free at once.

        Waits up to `timeout` seconds for a first record, then gives others `linger` seconds to come unless somebody
        waits for it.
        """
        with self._lock:
            self._idle = not (self._entries or self._urgent)
        if self._idle:
            with suppress(queue.Empty):
                self._bell.get(timeout=timeout)
            self._idle = False
        if not self._urgent and 0 < len(self._entries) < max_records:
            time.sleep(linger)
        with self._lock:
            self._urgent = False
            found = self._entries[:max_records]
        # Others only append: what was found stays where it is until it is removed here.
        size = sum(len(body) for body, _ in found)
        while len(found) > 1 and size > max_bytes:
            size -= len(found.pop()[0])
        with self._lock:
            del self._entries[: len(found)]
            self._taken += len(found)
            self._taken_bytes += size
            self._room.notify_all()
        return found

    def refuse(self, entries: list[QueuedRecord], reason: str) -> None:
        """Records that were taken from the queue and could not be stored."""
        with self._lock:
            self._refused += len(entries)
        for _, receipt in entries:
            if receipt is not None:
                receipt.set_exception(NotShippedError(reason))

    def wake(self) -> None:
        """Let `take` return."""
        self._urgent = True
        self._bell.put(None)

    def close(self, reason: str) -> None:
        """Refuse from now on; those who wait for room wake up."""
        with self._lock:
            self._closed = reason
            self._room.notify_all()

    def _fits(self, size: int) -> bool:
        return (
            self._closed is None
            and self._offered - self._taken < self._max_records
            and self._offered_bytes - self._taken_bytes + size <= self._max_bytes
            and size <= self._largest
            and not (self.stalled and self.on_full is OnFull.RAISE)
        )

    def _make_room(self, size: int) -> str | None:
        """Wait for room where that is asked for; else why there is none."""
        if size > self._largest:
            return f"it has {size} bytes, the maximum is {self._largest}"
        while self.on_full is OnFull.BLOCK and self._closed is None and not self._fits(size):
            self._room.wait(_STEP)
        return None if self._fits(size) else self._closed or self.stalled or "the queue is full"


_LINGER: Final = 0.02
_IDLE: Final = 0.2
_REPORT_EVERY: Final = 60.0


class SpoolWriter:
    """Runs from `start` until `stop`."""

    def __init__(self, records: RecordQueue, spool: Spool) -> None:
        self._queue = records
        self._spool = spool
        self._stop = threading.Event()
        self._give_up = 0.0
        self.ident: int | None = None
        """The thread's; plain, because every call of the handler looks at it."""
        self._thread = threading.Thread(target=self._run, name="brokernat-spool", daemon=True)
        self._stored = threading.Condition()
        self._stored_count = 0
        self._reported = self._noted = 0
        self._report_at = 0.0

    def start(self) -> None:
        """From here on the spool is written by this thread only."""
        self._thread.start()

    def wait_until_stored(self, count: int, deadline: float) -> bool:
        """Whether `count` records in all have left the queue for the spool, or were refused, by `deadline`."""
        self._queue.wake()
        with self._stored:
            while self._stored_count < count:
                left = deadline - time.monotonic()
                if left <= 0 or not self._thread.is_alive():
                    return False
                self._stored.wait(min(left, _IDLE))
        return True

    def stop(self, patience: float) -> None:
        """Store what is in the queue, for at most `patience` seconds, and end."""
        self._give_up = time.monotonic() + patience
        self._stop.set()
        self._queue.wake()
        self._thread.join()

    def _run(self) -> None:
        self.ident = threading.get_ident()
        try:
            while True:
                stopping = self._stop.is_set()
                entries = self._queue.take(BLOCK_RECORDS, BLOCK_BYTES, 0 if stopping else _IDLE, _LINGER)
                if entries:
                    self._store(entries)
                else:
                    self._settle()
                    if self._spool.room >= BLOCK_BYTES:
                        # Where calls raise, only a new record can find out.
                        self._queue.stalled = None
                    if stopping:
                        return
                self._report()
        except BaseException as error:  # noqa: BLE001 - a thread that ends must not leave callers waiting
            reason = error.message if isinstance(error, BrokernatError) else f"internal error: {type(error).__name__}"
            self._queue.stalled = reason
            self._queue.close(reason)
            while entries := self._queue.take(BLOCK_RECORDS, BLOCK_BYTES, 0, 0):
                self._queue.refuse(entries, reason)
            log_later(logging.ERROR, "shipping has ended: %s", reason)

    def _store(self, entries: list[QueuedRecord]) -> None:
        count = len(entries)
        while entries:
            try:
                self._spool.append([body for body, _ in entries])
            except SpoolFullError as error:
                entries = self._stalled(entries, error.message)
            except BaseException:
                self._queue.refuse(entries, "the spool cannot be written")
                raise
            else:
                self._queue.stalled = None
                break
        for _, receipt in entries:
            if receipt is not None:
                receipt.set_result(None)
        with self._stored:
            self._stored_count += count
            self._stored.notify_all()

    def _stalled(self, entries: list[QueuedRecord], reason: str) -> list[QueuedRecord]:
        """Those still to be stored, after a pause."""
        self._queue.stalled = reason
        if self._queue.on_full is OnFull.RAISE or (self._stop.is_set() and time.monotonic() > self._give_up):
            self._queue.refuse(entries, reason)
            entries = []
        self._settle()
        self._report()
        time.sleep(_IDLE)
        return entries

    def _settle(self) -> None:
        refused = self._queue.refused
        try:
            self._spool.settle(refused=refused - self._noted)
        except SpoolFullError as error:
            self._queue.stalled = error.message
        else:
            self._noted = refused

    def _report(self) -> None:
        refused, now = self._queue.refused - self._reported, time.monotonic()
        if refused and now >= self._report_at:
            self._reported += refused
            self._report_at = now + _REPORT_EVERY
            reason = self._queue.stalled or "the queue was full"
            log_later(logging.WARNING, "%d records were refused (%d in all): %s", refused, self._reported, reason)
