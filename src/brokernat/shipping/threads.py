"""What shipping's threads share: no fork in the middle of a call, and log lines that nobody waits for.

A forked child has the handler and none of its threads. It must neither use nor close what the parent has open: SQLite
forbids carrying a connection over, and librdkafka would wait for threads that are not there. So these objects are kept
alive for ever in the child, and the handler opens a spool of its own at the child's first record. What was in the queue
is the parent's, and the parent stores it.

SQLite has locks of the whole process. A fork in the middle of a call would leave them locked in the child for ever, so
every call happens under `no_fork`, and a fork waits for it. `logging` takes its own lock for a fork, and holds it while
a configuration opens and closes handlers, which is under `no_fork` as well. So a fork takes that lock first: in the
other order the two would wait for each other.

For the same reason shipping's threads log through `log_later`: `logging.config` closes handlers while it holds the lock
that every log call may need. A thread that logs itself and is joined by `close` would wait for that lock, and `close`
for the thread.
"""

from __future__ import annotations

import ctypes
import logging
import os
import queue
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol


class Forked(Protocol):
    """Something that must start anew in a child."""

    def after_fork(self) -> None: ...


# Private, and the same in every Python; `logging.config` takes it by this name.
_LOGGING: Final[Any] = vars(logging)["_lock"]
_members: weakref.WeakSet[Forked] = weakref.WeakSet()
_lock = threading.RLock()


def register(member: Forked) -> None:
    """`member.after_fork()` is called in every child."""
    _members.add(member)


@contextmanager
def no_fork() -> Iterator[None]:
    """No fork happens in here."""
    with _lock:
        yield


def keep_alive(*things: object) -> None:
    """They are never destroyed in this process, not even when the interpreter ends."""
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _before() -> None:
    _LOGGING.acquire()
    _lock.acquire()


def _in_parent() -> None:
    _lock.release()
    _LOGGING.release()


def _in_child() -> None:
    global _lock
    # The old one may belong to a thread that is not here. That of `logging` is a new one by now.
    _lock = threading.RLock()
    for member in list(_members):
        member.after_fork()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)


_LOG: Final = logging.getLogger("brokernat.shipping")
_messages: queue.SimpleQueue[tuple[logging.Logger, int, str, tuple[object, ...]]] = queue.SimpleQueue()
_thread = threading.Thread(daemon=True)
_starting = threading.Lock()


def log_later(level: int, message: str, *arguments: object, log: logging.Logger = _LOG) -> None:
    """Log soon; never waits for anything."""
    global _thread
    _messages.put((log, level, message, arguments))
    # A forked child has no threads but its own. The lock is only tried: who holds it starts the thread.
    if not _thread.is_alive() and _starting.acquire(blocking=False):
        try:
            with suppress(RuntimeError):  # the interpreter is ending
                _thread = threading.Thread(target=_run, name="brokernat-log", daemon=True)
                _thread.start()
        finally:
            _starting.release()


def _run() -> None:
    while True:
        log, level, message, arguments = _messages.get()
        log.log(level, message, *arguments)
