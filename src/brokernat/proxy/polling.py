"""The event loop of the proxy: asyncio's, with direct calls for the sockets of connections.

For each event asyncio runs an iteration of its loop (timers, a queue, a handle, a context), which costs more than a
small request (docs/reference/performance.md). So the selector itself calls the callbacks of `Loop.on_readable` and
`Loop.on_writable`. It returns to asyncio only for a timer, a signal or a ready task. Without epoll, asyncio calls these
callbacks.
"""

from __future__ import annotations

import asyncio
import select
import selectors
from collections.abc import Callable, Coroutine, Mapping
from contextlib import closing
from contextvars import Context
from time import monotonic
from typing import Any, Final, TypeVar, TypeVarTuple

_READ, _WRITE = 0, 1
_FOR_READERS: Final = ~select.POLLOUT
_FOR_WRITERS: Final = ~select.POLLIN
"""Error events of a socket call the reader and the writer: the next read or write raises the error."""
_MOST_EVENTS: Final = 256
"""The maximum number of events per system call."""

_PAUSE: Final = 0.001
"""Seconds without an event after which postponed calls are made; epoll's unit."""
_MOST_BUSY_TURNS: Final = 100

Call = Callable[[], object]
_Result = TypeVar("_Result")
_Values = TypeVarTuple("_Values")


class Loop(asyncio.SelectorEventLoop):
    """An event loop that calls readers and writers of sockets directly.

    Args:
        direct: whether the selector calls the callbacks; otherwise asyncio does.
    """

    def __init__(self, *, direct: bool = hasattr(select, "epoll")) -> None:
        self._direct = _DirectSelector(self._failed) if direct else None
        super().__init__(self._direct)

    def on_readable(self, descriptor: int, call: Call | None) -> None:
        """Call `call` whenever the socket is readable. None removes the call; do so before the socket is closed."""
        if self._direct is not None:
            self._direct.call(descriptor, _READ, call)
        elif call is not None:
            self.add_reader(descriptor, call)
        else:
            self.remove_reader(descriptor)

    def on_writable(self, descriptor: int, call: Call | None) -> None:
        """As `on_readable`, whenever the socket is writable."""
        if self._direct is not None:
            self._direct.call(descriptor, _WRITE, call)
        elif call is not None:
            self.add_writer(descriptor, call)
        else:
            self.remove_writer(descriptor)

    def when_idle(self, call: Call) -> None:
        """Call `call` once, when no socket has been ready for a millisecond, or after a hundred turns."""
        if self._direct is not None:
            self._direct.postponed.append(call)
        else:
            self.call_soon(call)

    def catch_up(self) -> None:
        """Make the calls that wait for such a millisecond."""
        if self._direct is not None:
            self._direct.catch_up()

    def call_soon(
        self, callback: Callable[[*_Values], object], *args: *_Values, context: Context | None = None
    ) -> asyncio.Handle:
        self._return_to_asyncio()
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*_Values], object], *args: *_Values, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._return_to_asyncio()
        return super().call_at(when, callback, *args, context=context)

    def _return_to_asyncio(self) -> None:
        if self._direct is not None:
            self._direct.asyncio_has_work = True

    def _failed(self, error: Exception) -> None:
        self.call_exception_handler({"message": "a connection has failed", "exception": error})


class _DirectSelector(selectors.BaseSelector):
    """Runs the callbacks of sockets directly, and reports only asyncio's own registrations to asyncio."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._asyncio_selector = selectors.EpollSelector()
        self._asyncio_descriptor = self._asyncio_selector.fileno()
        self._epoll = select.epoll()
        self._epoll.register(self._asyncio_descriptor, select.EPOLLIN)
        self._calls: dict[int, list[Call | None]] = {}
        self.postponed: list[Call] = []
        self._busy_turns = 0
        self.asyncio_has_work = False
        """Whether a callback has scheduled a call or a timer in asyncio."""

    def call(self, descriptor: int, kind: int, call: Call | None) -> None:
        calls = self._calls.setdefault(descriptor, [None, None])
        before = _events(calls)
        calls[kind] = call
        after = _events(calls)
        if not after:
            # epoll would keep the descriptor of a socket that is closed here but still open in another process.
            del self._calls[descriptor]
        if before and after:
            self._epoll.modify(descriptor, after)
        elif after:
            self._epoll.register(descriptor, after)
        elif before:
            self._epoll.unregister(descriptor)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.asyncio_has_work = False
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            for_asyncio = self._poll(timeout)
            if for_asyncio or self.asyncio_has_work:
                return self._asyncio_selector.select(0) if for_asyncio else []
            if deadline is not None and (timeout := deadline - monotonic()) <= 0:
                return []

    def _poll(self, timeout: float | None) -> bool:
        """Calls the callbacks of ready sockets; returns whether an event is for asyncio."""
        for_asyncio = False
        ready = self._epoll.poll(_PAUSE if self.postponed else timeout, _MOST_EVENTS)
        if self.postponed:
            self._busy_turns += 1
            if not ready or self._busy_turns >= _MOST_BUSY_TURNS:
                self.catch_up()
        for descriptor, events in ready:
            calls = self._calls.get(descriptor)
            if calls is None:
                # asyncio's own, or an earlier callback of this iteration has removed it.
                for_asyncio = for_asyncio or descriptor == self._asyncio_descriptor
                continue
            try:
                if events & _FOR_READERS and (call := calls[_READ]) is not None:
                    call()
                if events & _FOR_WRITERS and (call := calls[_WRITE]) is not None:
                    call()
            except Exception as error:  # noqa: BLE001 - as asyncio does: one connection must not end all others
                self._failed(error)
        return for_asyncio

    def catch_up(self) -> None:
        postponed, self.postponed, self._busy_turns = self.postponed, [], 0
        for call in postponed:
            try:
                call()
            except Exception as error:  # noqa: BLE001
                self._failed(error)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._asyncio_selector.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._asyncio_selector.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._asyncio_selector.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._asyncio_selector.get_map()

    def close(self) -> None:
        self._asyncio_selector.close()
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
    # Closed, because a coroutine that never runs is warned of: the loop may fail to be created.
    with closing(main), asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(main)
