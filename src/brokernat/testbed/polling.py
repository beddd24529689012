"""Waiting for a condition: ask again until it holds or the deadline has passed."""

from __future__ import annotations

import time
from collections.abc import Callable

from brokernat.errors import NothingReachableError

_PAUSE = 0.05


def wait_until(
    condition: Callable[[], bool], what: str, *, timeout: float, abort: Callable[[], str | None] = lambda: None
) -> None:
    """Return when `condition()` is true.

    Args:
        condition: asked every 50 ms.
        what: what is waited for, for the message.
        timeout: seconds.
        abort: a reason to give up at once, such as the end of the process that would make it true.

    Raises:
        NothingReachableError: it did not come true.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if reason := abort():
            raise NothingReachableError(f"{what}: {reason}")
        if time.monotonic() > deadline:
            raise NothingReachableError(f"{what}: not within {timeout:.0f} s")
        time.sleep(_PAUSE)
