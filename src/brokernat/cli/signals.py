"""SIGTERM and Ctrl-C for each kind of command.

A pipeline finishes its batch (`StopSignals`), a shipment stops reading and delivers the rest (`stop_at_signals`), and a
command that probes the network is interrupted (`sigterm_as_interrupt`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

FINISHING = "finishing the batch; send the signal again to stop at once"
_BEFORE_START = b"stopped before the first record\n"
_AT_ONCE = b"stopped at once: the batch is not committed, and the next start runs it again\n"
_SHOW_CURSOR = b"\x1b[?25h\n"


class StopSignals:
    """The first SIGTERM or Ctrl-C lets the batch finish, the second one ends the process at once.

    At the start of a session PySpark installs its own SIGINT handler, which cancels all jobs and so the batch that
    should finish. So these handlers are installed again after it (`reinstall`). The handler only stores the first
    signal, and the loop that waits for the run reports it: a live line on a terminal would overwrite the handler's
    output. A context manager; it restores the previous handlers at its end.
    """

    def __init__(self) -> None:
        self.received: int = 0
        """The number of the first signal, 0 without one."""
        self._stop: Callable[[], None] | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def reinstall(self) -> None:
        """Install the handlers again after a session has installed its own."""
        for number in self._previous:
            signal.signal(number, self._handle)

    def call_on_first(self, stop: Callable[[], None]) -> None:
        """From now on the first signal calls `stop`; before, it ends the process."""
        self._stop = stop

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.received:
            # The JVM ends with this process: it reads from a pipe.
            _write_from_handler(_AT_ONCE)
            os._exit(128 + number)
        self.received = number
        if self._stop is None:
            _write_from_handler(_BEFORE_START)
            raise SystemExit(128 + number)
        self._stop()


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """SIGTERM acts as Ctrl-C, which asyncio handles; only the exit code differs."""
    received: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):
            # Ctrl-C is ignored, as for a background job of a shell.
            raise SystemExit(128 + number)
        interrupt(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt:
        if received:
            raise SystemExit(128 + received[0]) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def stop_at_signals(stop: Callable[[], None], abort: Callable[[], None]) -> list[int]:
    """The first SIGTERM or SIGINT calls `stop`, every later one calls `abort`.

    Returns:
        The numbers of the signals received so far; the list grows.
    """
    received: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if received:
            abort()
        else:
            stop()
        received.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
    return received


def _write_from_handler(text: bytes) -> None:
    # A live line hides the cursor, and the terminal has printed ^C after it.
    os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else b"") + text)
