"""Fork safety and asynchronous logging for shipping's threads.

A forked child has the handler but none of its threads. It must neither use nor close the parent's objects: SQLite
forbids a connection across a fork, and librdkafka would wait for threads that do not exist. So the child keeps these
objects alive for ever, and its handler opens its own spool at the first record. The parent stores the records of the
queue.

SQLite has process-wide mutexes. A fork during a call would leave them locked in the child for ever, so every call holds
`no_fork`, and a fork waits for it. `logging` takes its own lock for a fork, and holds it while a configuration opens
and closes handlers, which also takes `no_fork`. So a fork takes the lock of `logging` first; the other order could
deadlock.

To avoid another deadlock, shipping's threads log through `log_later`: `logging.config` closes handlers while it holds
the lock that a log call may need. If a thread logged directly, it would wait for that lock, and `close` would wait for
the thread.
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
    """An object that must be reset in a forked child."""

    def after_fork(self) -> None: ...


# Private, but the same in all Python versions; `logging.config` uses it by this name.
_LOGGING_LOCK: Final[Any] = vars(logging)["_lock"]
_members: weakref.WeakSet[Forked] = weakref.WeakSet()
_lock = threading.RLock()


def register(member: Forked) -> None:
    """Registers `member.after_fork()` for every forked child."""
    _members.add(member)


@contextmanager
def no_fork() -> Iterator[None]:
    """A context in which no fork happens."""
    with _lock:
        yield


def keep_alive(*things: object) -> None:
    """Keeps objects from being destroyed in this process, even when the interpreter ends."""
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _before_fork() -> None:
    _LOGGING_LOCK.acquire()
    _lock.acquire()


def _after_fork_in_parent() -> None:
    _lock.release()
    _LOGGING_LOCK.release()


def _after_fork_in_child() -> None:
    global _lock
    # A thread of the parent may hold the old lock. `logging` has already replaced its own.
    _lock = threading.RLock()
    for member in list(_members):
        member.after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


_LOG: Final = logging.getLogger("brokernat.shipping")
_messages: queue.SimpleQueue[tuple[logging.Logger, int, str, tuple[object, ...]] | threading.Event] = (
    queue.SimpleQueue()
)
_thread = threading.Thread(daemon=True)
_starting = threading.Lock()


def log_later(level: int, message: str, *arguments: object, log: logging.Logger = _LOG) -> None:
    """Logs in a separate thread; never blocks."""
    global _thread
    _messages.put((log, level, message, arguments))
    # A forked child does not have the parent's thread. Never waits for the lock, because its holder starts the thread.
    if not _thread.is_alive() and _starting.acquire(blocking=False):
        try:
            with suppress(RuntimeError):  # the interpreter is ending
                _thread = threading.Thread(target=_run, name="brokernat-log", daemon=True)
                _thread.start()
        finally:
            _starting.release()


def wait_for_log(seconds: float) -> None:
    """Waits until the messages so far are logged: the end of the process would lose them."""
    logged = threading.Event()
    if _thread.is_alive():
        _messages.put(logged)
        logged.wait(seconds)


def _run() -> None:
    while True:
        message = _messages.get()
        if isinstance(message, threading.Event):
            message.set()
            continue
        log, level, text, arguments = message
        log.log(level, text, *arguments)
