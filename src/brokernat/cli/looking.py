"""What a person sees while the network is looked at, and how that ends early.

On a terminal a line says how far it is, in ASCII, and it is gone in the end. While it moves the cursor is hidden, so
SIGTERM must not end the process where it stands: it ends the command as Ctrl-C does.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from brokernat.cli import console


@contextmanager
def looking(words: str) -> Iterator[Callable[[str], None]]:
    """What to call with other words, as often as there are some."""
    with _ended_by_sigterm():
        if not console.is_terminal(sys.stderr):
            yield lambda _: None
            return
        from rich.console import Console

        # `|/-\` can be shown everywhere.
        with Console(stderr=True, highlight=False, markup=False).status(words, spinner="line") as status:
            yield status.update


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Whatever runs takes it for Ctrl-C, which asyncio knows how to end by; only the code is another."""
    received: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):
            # Ctrl-C is ignored, as in a shell's background.
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
