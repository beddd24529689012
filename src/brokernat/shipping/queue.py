"""The bounded queue between log calls and the spool, and the writer thread that empties it.

Records are refused and counted only here. When the spool is at its limit (for example because the brokers are down) or
the disk is full, the writer keeps one block and retries, and the queue fills. The logger `brokernat.shipping` reports
the number of refused records, or of waiting calls, and the reason, at once and then once a minute, and at the end.

The sizes are differences of counters that only grow, each changed by one side only, so they cannot become negative; a
refusal changes none of them. A call costs a lock, two additions and an `append`. It does not wake a busy writer, which
sleeps a few milliseconds between blocks: waking it would cost more than the rest of the call.
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
_WAIT_STEP: Final = 0.25


class OnFull(StrEnum):
    """What a call does when the queue is full."""

    DROP = "drop"
    BLOCK = "block"
    RAISE = "raise"


QueuedRecord = tuple[bytes, Future[None] | None]
"""A record, and the future of a caller that waits until it is stored."""


class RecordQueue:
    """Any thread calls `offer`; one thread calls `take`."""

    def __init__(
        self, on_full: OnFull, *, max_records: int = MAX_RECORDS, max_bytes: int = MAX_BYTES, largest: int = MAX_BYTES
    ) -> None:
        """Both limits apply.

        Args:
            on_full: what a call does when the queue is full.
            max_records: the maximum number of records.
            max_bytes: the maximum bytes of records.
            largest: the maximum bytes of one record; a larger one would never fit into the spool and is refused.
        """
        self.on_full = on_full
        self.stalled: str | None = None
        """The reason why the writer cannot store records now; None if it can."""
        self.waiting = 0
        """The number of calls that wait for room."""
        self._max_records, self._max_bytes = max_records, max_bytes
        self._largest = min(max_bytes, largest)
        self._entries: list[QueuedRecord] = []
        # A SimpleQueue, because its `put` is reentrant: a signal handler may interrupt another call of it.
        self._wakeup: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._idle = self._urgent = False
        # Reentrant: a signal handler of the application may log during a call.
        self._lock = threading.RLock()
        self._room = threading.Condition(self._lock)
        self._offered = self._offered_bytes = 0
        self._taken = self._taken_bytes = 0
        self._refused = 0
        self._closed: str | None = None

    @property
    def refused(self) -> int:
        """The number of refused records so far."""
        return self._refused

    @property
    def offered(self) -> int:
        """The number of accepted records so far."""
        return self._offered

    @property
    def depth(self) -> tuple[int, int]:
        """Records and bytes in the queue."""
        return self._offered - self._taken, self._offered_bytes - self._taken_bytes

    def offer(self, body: bytes, *, receipt: bool = False) -> Future[None] | None:
        """Accept a record, or refuse it according to `on_full`.

        Args:
            body: the record.
            receipt: whether to return a future that is done when the record is stored.

        Raises:
            NotShippedError: refused, and `on_full` is not `drop`.
        """
        size = len(body)
        future: Future[None] | None = Future() if receipt else None
        with self._lock:
            if not self._fits(size) and (reason := self._wait_for_room(size)):
                self._refused += 1
                if self.on_full is OnFull.DROP:
                    return None
                raise NotShippedError(reason)
            self._offered += 1
            self._offered_bytes += size
            self._entries.append((body, future))
            self._urgent |= receipt
            if self._idle:
                self._idle = False
                self._wakeup.put(None)
        return future

    def take(self, max_records: int, max_bytes: int, timeout: float, linger: float) -> list[QueuedRecord]:
        """Removes and returns records in order, within both limits, but at least one.

        Waits up to `timeout` seconds for the first record, then `linger` seconds for others unless a caller waits
        for a receipt.
        """
        with self._lock:
            self._idle = not (self._entries or self._urgent)
        if self._idle:
            with suppress(queue.Empty):
                self._wakeup.get(timeout=timeout)
            self._idle = False
        if not self._urgent and 0 < len(self._entries) < max_records:
            time.sleep(linger)
        with self._lock:
            self._urgent = False
            entries = self._entries[:max_records]
        # Other threads only append, so these records stay at the front until they are removed here.
        size = sum(len(body) for body, _ in entries)
        while len(entries) > 1 and size > max_bytes:
            size -= len(entries.pop()[0])
        with self._lock:
            del self._entries[: len(entries)]
            self._taken += len(entries)
            self._taken_bytes += size
            self._room.notify_all()
        return entries

    def refuse(self, entries: list[QueuedRecord], reason: str) -> None:
        """Counts records that were taken from the queue and could not be stored."""
        with self._lock:
            self._refused += len(entries)
        for _, receipt in entries:
            if receipt is not None:
                receipt.set_exception(NotShippedError(reason))

    def wake(self) -> None:
        """Makes a waiting `take` return."""
        self._urgent = True
        self._wakeup.put(None)

    def close(self, reason: str) -> None:
        """Refuses records from now on; wakes callers that wait for room."""
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

    def _wait_for_room(self, size: int) -> str | None:
        """Waits for room if `on_full` is `block`; returns the reason if there is none."""
        if size > self._largest:
            return f"it has {size} bytes, the maximum is {self._largest}"
        self.waiting += 1
        try:
            while self.on_full is OnFull.BLOCK and self._closed is None and not self._fits(size):
                self._room.wait(_WAIT_STEP)
        finally:
            self.waiting -= 1
        return None if self._fits(size) else self._closed or self.stalled or "the queue is full"


_LINGER: Final = 0.02
_IDLE: Final = 0.2
_REPORT_EVERY: Final = 60.0


class SpoolWriter:
    """The thread that stores the records of the queue in the spool, from `start` until `stop`."""

    def __init__(self, records: RecordQueue, spool: Spool) -> None:
        self._queue = records
        self._spool = spool
        self._stop = threading.Event()
        self._give_up = 0.0
        self.ident: int | None = None
        """The thread's id; a plain attribute, because every call of the handler reads it."""
        self._thread = threading.Thread(target=self._run, name="brokernat-spool", daemon=True)
        self._stored = threading.Condition()
        self._stored_count = 0
        self._reported = self._stored_refusals = 0
        self._next_report = 0.0
        self._reason = "the queue was full"

    def start(self) -> None:
        """Starts the thread; from now on only this thread writes the spool."""
        self._thread.start()

    def wait_until_stored(self, count: int, deadline: float) -> bool:
        """Whether, by `deadline`, `count` records in total are in the spool or refused."""
        self._queue.wake()
        with self._stored:
            while self._stored_count < count:
                left = deadline - time.monotonic()
                if left <= 0 or not self._thread.is_alive():
                    return False
                self._stored.wait(min(left, _IDLE))
        return True

    def stop(self, patience: float) -> None:
        """Stores the queue, for at most `patience` seconds, and ends."""
        self._give_up = time.monotonic() + patience
        self._stop.set()
        self._queue.wake()
        self._thread.join()

    def _run(self) -> None:
        self.ident = threading.get_ident()
        try:
            while True:
                stopping = self._stop.is_set()
                waits = (0, 0) if stopping else (_IDLE, _LINGER)
                entries = self._queue.take(BLOCK_RECORDS, BLOCK_BYTES, *waits)
                if entries:
                    self._store(entries)
                else:
                    self._settle()
                    if self._spool.room >= BLOCK_BYTES:
                        # With `raise`, only a new record shows whether there is room again.
                        self._queue.stalled = None
                    if stopping:
                        self._report(at_end=True)
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
                entries = self._wait_and_retry(entries, error.message)
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

    def _wait_and_retry(self, entries: list[QueuedRecord], reason: str) -> list[QueuedRecord]:
        """Waits after an error of the spool, or gives up; returns the records that are still to be stored."""
        self._queue.stalled = self._reason = reason
        if self._queue.on_full is OnFull.RAISE or (self._stop.is_set() and time.monotonic() > self._give_up):
            self._queue.refuse(entries, reason)
            entries = []
        self._settle()
        self._report()
        if entries:
            time.sleep(_IDLE)
        return entries

    def _settle(self) -> None:
        refused = self._queue.refused
        try:
            self._spool.settle(refused=refused - self._stored_refusals)
        except SpoolFullError as error:
            self._queue.stalled = error.message
        else:
            self._stored_refusals = refused

    def _report(self, *, at_end: bool = False) -> None:
        refused, now = self._queue.refused - self._reported, time.monotonic()
        waiting = self._queue.waiting if self._queue.stalled else 0
        if not (refused or waiting) or (now < self._next_report and not at_end):
            return
        self._next_report = now + _REPORT_EVERY
        reason = self._queue.stalled or self._reason
        if refused:
            self._reported += refused
            log_later(logging.WARNING, "%d records were refused (%d in all): %s", refused, self._reported, reason)
        else:
            log_later(logging.WARNING, "log calls wait until records can be stored (%d now): %s", waiting, reason)
