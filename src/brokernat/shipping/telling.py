"""What shipping's own threads have to say goes to `logging` by a thread that nobody waits for.

`logging.config` closes handlers while it holds the lock that every log call may need. A thread that logs itself and is
joined by `close` would wait for that lock, and `close` for the thread.
"""

from __future__ import annotations

import logging
import queue
import threading
from contextlib import suppress
from typing import Final

_LOG: Final = logging.getLogger("brokernat.shipping")
_messages: queue.SimpleQueue[tuple[logging.Logger, int, str, tuple[object, ...]]] = queue.SimpleQueue()
_thread = threading.Thread(daemon=True)
_starting = threading.Lock()


def tell(level: int, message: str, *arguments: object, log: logging.Logger = _LOG) -> None:
    """Log soon; never waits for anything."""
    global _thread
    _messages.put((log, level, message, arguments))
    # A forked child has no threads but its own. The lock is only tried: who holds it starts the thread.
    if not _thread.is_alive() and _starting.acquire(blocking=False):
        try:
            with suppress(RuntimeError):  # the interpreter is ending
                _thread = threading.Thread(target=_run, name="brokernat-telling", daemon=True)
                _thread.start()
        finally:
            _starting.release()


def _run() -> None:
    while True:
        log, level, message, arguments = _messages.get()
        log.log(level, message, *arguments)
