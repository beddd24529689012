"""The bounded queue between the application's calls and the thread that writes the spool.

The only place where a record is ever refused, so the only one that counts refusals: whatever stops behind it (brokers
away, spool at its limit, disk full) lets the queue fill up. Both bounds are differences of counters that only grow,
each with one writer, so nothing can wrap below zero; a refusal touches none of them.

An ordinary call pays for a lock, two additions and an `append`. It does not wake the writer, which sleeps a few
milliseconds between blocks: a wake-up for every record would cost the caller more than all the rest.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from typing import Final

from brokernat.shipping.faults import NotShippedError

MAX_RECORDS: Final = 20_000
MAX_BYTES: Final = 16 << 20
_STEP: Final = 0.25


class OnFull(StrEnum):
    """What a call does that finds no room."""

    DROP = "drop"
    BLOCK = "block"
    RAISE = "raise"


Entry = tuple[bytes, Future[None] | None]
"""A record on its way, and what somebody holds who waits for it to be stored."""


class Intake:
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
        self._entries: list[Entry] = []
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

    def offer(self, tail: bytes, *, receipt: bool = False) -> Future[None] | None:
        """Take a record in, or refuse it by what `on_full` says.

        Args:
            tail: the record.
            receipt: whether the caller wants to know when it is stored.

        Raises:
            NotShippedError: refused, and `on_full` is not to drop.
        """
        size = len(tail)
        mine: Future[None] | None = Future() if receipt else None
        with self._lock:
            if not self._fits(size) and (reason := self._make_room(size)):
                self._refused += 1
                if self.on_full is OnFull.DROP:
                    return None
                raise NotShippedError(reason)
            self._offered += 1
            self._offered_bytes += size
            self._entries.append((tail, mine))
            self._urgent |= receipt
            if self._idle:
                self._idle = False
                self._bell.put(None)
        return mine

    def take(self, max_records: int, max_bytes: int, timeout: float, linger: float) -> list[Entry]:
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
        size = sum(len(tail) for tail, _ in found)
        while len(found) > 1 and size > max_bytes:
            size -= len(found.pop()[0])
        with self._lock:
            del self._entries[: len(found)]
            self._taken += len(found)
            self._taken_bytes += size
            self._room.notify_all()
        return found

    def refuse(self, entries: list[Entry], reason: str) -> None:
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
        """Refuse from now on; those who wait for room are told."""
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
            return f"it has {size} bytes, at most {self._largest} are taken"
        while self.on_full is OnFull.BLOCK and self._closed is None and not self._fits(size):
            self._room.wait(_STEP)
        return None if self._fits(size) else self._closed or self.stalled or "the queue is full"
