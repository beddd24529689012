"""The event loop of the proxy: asyncio's, with direct calls for the sockets of connections.

For each event asyncio runs an iteration of its loop (timers, a queue, a handle, a context), which costs more than a
small request (docs/reference/performance.md). The selector itself calls the functions of `Loop.on_readable` and
`on_writable`, and returns to asyncio for a timer, a signal or a ready task. Without epoll, asyncio calls them.
"""

from __future__ import annotations

import asyncio
import select
import selectors
from collections.abc import Callable, Coroutine, Mapping
from contextvars import Context
from time import monotonic
from typing import Any, Final, TypeVar, TypeVarTuple

_READ, _WRITE = 0, 1
_FOR_READERS: Final = ~select.POLLOUT
_FOR_WRITERS: Final = ~select.POLLIN
"""A fault of the socket is for both: whoever uses it next gets the error."""
_AT_ONCE: Final = 256
"""Events that one system call reports."""

Call = Callable[[], object]
_Result = TypeVar("_Result")
_Values = TypeVarTuple("_Values")


class Loop(asyncio.SelectorEventLoop):
    """An event loop that calls readers and writers of sockets directly.

    Args:
        direct: call directly; otherwise through asyncio.
    """

    def __init__(self, *, direct: bool = hasattr(select, "epoll")) -> None:
        self._direct = _DirectSelector(self._failed) if direct else None
        super().__init__(self._direct)

    def on_readable(self, descriptor: int, call: Call | None) -> None:
        """Call this whenever there is something to read; None ends it. Before a socket is closed, end it."""
        if self._direct is not None:
            self._direct.call(descriptor, _READ, call)
        elif call is not None:
            self.add_reader(descriptor, call)
        else:
            self.remove_reader(descriptor)

    def on_writable(self, descriptor: int, call: Call | None) -> None:
        """As `on_readable`, whenever there is room to write."""
        if self._direct is not None:
            self._direct.call(descriptor, _WRITE, call)
        elif call is not None:
            self.add_writer(descriptor, call)
        else:
            self.remove_writer(descriptor)

    def call_soon(
        self, callback: Callable[[*_Values], object], *args: *_Values, context: Context | None = None
    ) -> asyncio.Handle:
        self._return()
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*_Values], object], *args: *_Values, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._return()
        return super().call_at(when, callback, *args, context=context)

    def _return(self) -> None:
        if self._direct is not None:
            self._direct.wanted = True

    def _failed(self, error: Exception) -> None:
        self.call_exception_handler({"message": "a connection has failed", "exception": error})


class _DirectSelector(selectors.BaseSelector):
    """Runs the callbacks of sockets directly, and reports only asyncio's own registrations to asyncio."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._registered = selectors.EpollSelector()
        self._registered_at = self._registered.fileno()
        self._epoll = select.epoll()
        self._epoll.register(self._registered_at, select.EPOLLIN)
        self._calls: dict[int, list[Call | None]] = {}
        self.wanted = False
        """Whether a call has left something to asyncio."""

    def call(self, descriptor: int, kind: int, call: Call | None) -> None:
        calls = self._calls.setdefault(descriptor, [None, None])
        before = _events(calls)
        calls[kind] = call
        after = _events(calls)
        if not after:
            # Not left to the end of the socket: one that is passed on to another process has no end here.
            del self._calls[descriptor]
        if before and after:
            self._epoll.modify(descriptor, after)
        elif after:
            self._epoll.register(descriptor, after)
        elif before:
            self._epoll.unregister(descriptor)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.wanted = False
        until = None if timeout is None else monotonic() + timeout
        while True:
            registered = self._poll(timeout)
            if registered or self.wanted:
                return self._registered.select(0) if registered else []
            if until is not None and (timeout := until - monotonic()) <= 0:
                return []

    def _poll(self, timeout: float | None) -> bool:
        """Whether an event is for asyncio."""
        registered = False
        for descriptor, events in self._epoll.poll(timeout, _AT_ONCE):
            calls = self._calls.get(descriptor)
            if calls is None:
                # asyncio's, or an earlier call of this turn has ended it.
                registered = registered or descriptor == self._registered_at
                continue
            try:
                if events & _FOR_READERS and (call := calls[_READ]) is not None:
                    call()
                if events & _FOR_WRITERS and (call := calls[_WRITE]) is not None:
                    call()
            except Exception as error:  # noqa: BLE001 - as asyncio does: one connection must not end all
                self._failed(error)
        return registered

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._registered.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._registered.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._registered.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._registered.get_map()

    def close(self) -> None:
        self._registered.close()
        self._epoll.close()


def _events(calls: list[Call | None]) -> int:
    return (select.POLLIN if calls[_READ] else 0) | (select.POLLOUT if calls[_WRITE] else 0)


def running() -> Loop:
    """The running loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Loop), "a proxy is used within `polling.run`"  # noqa: S101
    return loop


def run(main: Coroutine[Any, Any, _Result]) -> _Result:
    """As `asyncio.run`, in a `Loop`."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main)
