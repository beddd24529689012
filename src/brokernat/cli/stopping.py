"""How a run is stopped: the first SIGTERM or Ctrl-C lets the batch finish, the second one ends the process at once.

PySpark puts a SIGINT handler of its own in place when a session starts; it cancels every job, which would cut the batch
that we promise to finish. So the handlers are set again behind it (`take_over`). The first signal is only noted here
and said by whoever waits for the run: a line that is kept up to date on a terminal would wipe out what a handler
writes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

FINISHING = "finishing the batch; once more to stop at once"
_BEFORE = b"stopped before the first record\n"
_AT_ONCE = b"stopped at once: the batch is not committed, and the next start runs it again\n"
_SHOW_CURSOR = b"\x1b[?25h\n"


class StopSignals:
    """A context manager; the handlers of before are back at its end."""

    def __init__(self) -> None:
        self.received: int = 0
        """The number of the first signal, 0 for none."""
        self._stop: Callable[[], None] | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def take_over(self) -> None:
        """Sets the handlers again, once a session has set its own."""
        for number in self._previous:
            signal.signal(number, self._handle)

    def stops(self, stop: Callable[[], None]) -> None:
        """From now on the first signal calls `stop`; until now it ends the process, for nothing has begun."""
        self._stop = stop

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.received:
            # The JVM ends with us: it reads our end of a pipe.
            _say(_AT_ONCE)
            os._exit(128 + number)
        self.received = number
        if self._stop is None:
            _say(_BEFORE)
            raise SystemExit(128 + number)
        self._stop()


def _say(text: bytes) -> None:
    # A live line hides the cursor, and the terminal has shown ^C behind it.
    os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else b"") + text)
