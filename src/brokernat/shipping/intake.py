"""The bounded queue between the application's calls and the thread that writes the spool.

The only place where a record is ever refused, so the only one that counts refusals: whatever stops behind it (brokers
away, spool at its limit, disk full) lets the queue fill up. Both bounds are differences of counters that only grow,
each with one writer, so nothing can wrap below zero; a refusal touches none of them.

An ordinary call pays for a lock, two additions and a `SimpleQueue.put`. It does not wake the writer, which sleeps a few
milliseconds between blocks: a wake-up for every record would cost the caller more than all the rest.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from typing import Final, NamedTuple

from brokernat.shipping.faults import NotShippedError

MAX_RECORDS: Final = 20_000
MAX_BYTES: Final = 16 << 20
_STEP: Final = 0.25


class OnFull(StrEnum):
    """What a call does that finds no room."""

    DROP = "drop"
    BLOCK = "block"
    RAISE = "raise"


class Entry(NamedTuple):
    """A record on its way. Whoever waits for it to be stored holds the receipt."""

    tail: bytes
    receipt: Future[None] | None


class Intake:
    """Calls `offer`, from any thread; one thread calls `take`."""

    def __init__(self, on_full: OnFull, *, max_records: int = MAX_RECORDS, max_bytes: int = MAX_BYTES) -> None:
        """Bounds are both in force; a record larger than `max_bytes` is refused."""
        self.on_full = on_full
        self.stalled: str | None = None
        """Why the writer cannot go on at the moment."""
        self._max_records, self._max_bytes = max_records, max_bytes
        self._entries: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
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
        entry = Entry(tail, Future() if receipt else None)
        with self._lock:
            if not self._fits(size) and (reason := self._make_room(size)):
                self._refused += 1
                if self.on_full is OnFull.DROP:
                    return None
                raise NotShippedError(reason)
            self._offered += 1
            self._offered_bytes += size
            self._entries.put(entry)
        return entry.receipt

    def take(self, max_records: int, max_bytes: int, timeout: float, linger: float) -> list[Entry]:
        """What is there, in order, up to one block of it; the room is free at once.

        Waits up to `timeout` seconds for a first record, then gives others `linger` seconds to come unless somebody
        waits for it.
        """
        try:
            entry = self._entries.get(timeout=timeout)
        except queue.Empty:
            return []
        waited_for = entry is None or entry.receipt is not None
        if not waited_for and self._offered - self._taken < max_records:
            time.sleep(linger)
        found: list[Entry] = []
        size = 0
        with suppress(queue.Empty):
            while True:
                if entry is not None:
                    found.append(entry)
                    size += len(entry.tail)
                    if len(found) >= max_records or size >= max_bytes:
                        break
                entry = self._entries.get_nowait()
        with self._lock:
            self._taken += len(found)
            self._taken_bytes += size
            self._room.notify_all()
        return found

    def refuse(self, entries: list[Entry], reason: str) -> None:
        """Records that were taken from the queue and could not be stored."""
        with self._lock:
            self._refused += len(entries)
        for entry in entries:
            if entry.receipt is not None:
                entry.receipt.set_exception(NotShippedError(reason))

    def wake(self) -> None:
        """Let `take` return."""
        self._entries.put(None)

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
            and not (self.stalled and self.on_full is OnFull.RAISE)
        )

    def _make_room(self, size: int) -> str | None:
        """Wait for room where that is asked for; else why there is none."""
        if size > self._max_bytes:
            return f"it has {size} bytes, the queue takes {self._max_bytes}"
        while self.on_full is OnFull.BLOCK and self._closed is None and not self._fits(size):
            self._room.wait(_STEP)
        return None if self._fits(size) else self._closed or self.stalled or "the queue is full"
