"""The thread that makes blocks of what the queue holds and puts them into the spool.

While the spool takes nothing it holds one block and tries again, which lets the queue fill up: the queue is where
records are refused. Only a caller who asked for an error instead of waiting gets its record back from here.

It says so through the log `brokernat.shipping`, at once and then once a minute, how many records were refused and why:
never silent, never one line for each.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from brokernat.errors import BrokernatError
from brokernat.shipping.block import BLOCK_BYTES, BLOCK_RECORDS
from brokernat.shipping.faults import SpoolFullError
from brokernat.shipping.intake import Entry, Intake, OnFull
from brokernat.shipping.spool import Spool
from brokernat.shipping.telling import tell

_LINGER: Final = 0.02
_IDLE: Final = 0.2
_REPORT_EVERY: Final = 60.0


class Writer:
    """Runs from `start` until `stop`."""

    def __init__(self, intake: Intake, spool: Spool) -> None:
        self._intake = intake
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
        self._intake.wake()
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
        self._intake.wake()
        self._thread.join()

    def _run(self) -> None:
        self.ident = threading.get_ident()
        try:
            while True:
                stopping = self._stop.is_set()
                entries = self._intake.take(BLOCK_RECORDS, BLOCK_BYTES, 0 if stopping else _IDLE, _LINGER)
                if entries:
                    self._store(entries)
                else:
                    self._settle()
                    if self._spool.room >= BLOCK_BYTES:
                        # Where calls raise, only a new record can find out.
                        self._intake.stalled = None
                    if stopping:
                        return
                self._report()
        except BaseException as error:  # noqa: BLE001 - a thread that ends must not leave callers waiting
            reason = error.message if isinstance(error, BrokernatError) else f"internal error: {type(error).__name__}"
            self._intake.stalled = reason
            self._intake.close(reason)
            while entries := self._intake.take(BLOCK_RECORDS, BLOCK_BYTES, 0, 0):
                self._intake.refuse(entries, reason)
            tell(logging.ERROR, "shipping has ended: %s", reason)

    def _store(self, entries: list[Entry]) -> None:
        count = len(entries)
        while entries:
            try:
                self._spool.append([tail for tail, _ in entries])
            except SpoolFullError as error:
                entries = self._stalled(entries, error.message)
            except BaseException:
                self._intake.refuse(entries, "the spool cannot be written")
                raise
            else:
                self._intake.stalled = None
                break
        for _, receipt in entries:
            if receipt is not None:
                receipt.set_result(None)
        with self._stored:
            self._stored_count += count
            self._stored.notify_all()

    def _stalled(self, entries: list[Entry], reason: str) -> list[Entry]:
        """Those still to be stored, after a pause."""
        self._intake.stalled = reason
        if self._intake.on_full is OnFull.RAISE or (self._stop.is_set() and time.monotonic() > self._give_up):
            self._intake.refuse(entries, reason)
            entries = []
        self._settle()
        self._report()
        time.sleep(_IDLE)
        return entries

    def _settle(self) -> None:
        refused = self._intake.refused
        try:
            self._spool.settle(refused=refused - self._noted)
        except SpoolFullError as error:
            self._intake.stalled = error.message
        else:
            self._noted = refused

    def _report(self) -> None:
        refused, now = self._intake.refused - self._reported, time.monotonic()
        if refused and now >= self._report_at:
            self._reported += refused
            self._report_at = now + _REPORT_EVERY
            reason = self._intake.stalled or "the queue was full"
            tell(logging.WARNING, "%d records were refused (%d in all): %s", refused, self._reported, reason)
