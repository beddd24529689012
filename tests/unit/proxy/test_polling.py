"""The loop of the proxy: sockets are served between asyncio's own work, and keep nobody from it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator

import pytest

from brokernat.proxy.polling import Loop


@pytest.fixture(params=[True, False], ids=["direct", "asyncio's"])
def loop(request: pytest.FixtureRequest) -> Iterator[Loop]:
    made = Loop(direct=request.param)
    yield made
    made.close()


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        yield here, there


def test_a_reader_and_a_writer_of_one_socket(loop: Loop, ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    came: asyncio.Future[bytes] = loop.create_future()

    def write() -> None:
        loop.on_writable(here.fileno(), None)
        here.send(b"sent")

    def read() -> None:
        loop.on_readable(here.fileno(), None)
        came.set_result(here.recv(100))

    async def both() -> bytes:
        loop.on_readable(here.fileno(), read)
        loop.on_writable(here.fileno(), write)
        assert await loop.run_in_executor(None, there.recv, 100) == b"sent"
        there.send(b"received")
        return await came

    assert loop.run_until_complete(both()) == b"received"


def test_a_socket_that_is_always_ready_keeps_no_task_timer_or_thread_waiting(
    loop: Loop, ends: tuple[socket.socket, socket.socket]
) -> None:
    here, _ = ends
    turns = 0

    def busy() -> None:
        nonlocal turns
        turns += 1

    async def work() -> str:
        loop.on_writable(here.fileno(), busy)
        await asyncio.sleep(0.01)
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))
        return await loop.run_in_executor(None, lambda: "done")

    assert loop.run_until_complete(work()) == "done"
    assert turns
    loop.on_writable(here.fileno(), None)


def test_what_a_reader_leaves_to_asyncio_is_done_although_nothing_else_comes(
    loop: Loop, ends: tuple[socket.socket, socket.socket]
) -> None:
    here, there = ends
    done = asyncio.Event()

    async def finish() -> None:
        done.set()

    tasks: list[asyncio.Task[None]] = []

    def read() -> None:
        here.recv(100)
        tasks.append(loop.create_task(finish()))

    async def wait() -> None:
        loop.on_readable(here.fileno(), read)
        there.send(b"once")
        await done.wait()
        loop.on_readable(here.fileno(), None)

    loop.run_until_complete(wait())


def test_a_fault_of_one_reader_ends_no_other(loop: Loop, ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    faults: list[BaseException] = []
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
    more: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        data = here.recv(1)
        if data == b"1":
            raise ValueError("one")
        loop.on_readable(here.fileno(), None)
        more.set_result(data)

    async def both() -> bytes:
        loop.on_readable(here.fileno(), read)
        there.send(b"12")
        return await more

    assert loop.run_until_complete(both()) == b"2"
    assert [str(fault) for fault in faults] == ["one"]


def test_a_postponed_call_is_made_when_nothing_is_ready_and_its_fault_ends_no_other(loop: Loop) -> None:
    faults: list[BaseException] = []
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
    made = asyncio.Event()

    def fail() -> None:
        raise ValueError("one")

    async def wait() -> None:
        loop.when_idle(fail)
        loop.when_idle(made.set)
        await made.wait()

    loop.run_until_complete(wait())
    assert [str(fault) for fault in faults] == ["one"]


def test_a_socket_that_is_always_ready_postpones_a_call_for_a_hundred_turns(
    loop: Loop, ends: tuple[socket.socket, socket.socket]
) -> None:
    here, _ = ends
    turns = 0
    made: asyncio.Future[int] = loop.create_future()

    def busy() -> None:
        nonlocal turns
        turns += 1
        if turns == 1:
            loop.when_idle(lambda: made.set_result(turns))

    async def wait() -> int:
        loop.on_writable(here.fileno(), busy)
        at = await made
        loop.on_writable(here.fileno(), None)
        return at

    assert loop.run_until_complete(wait()) <= 101


def test_an_ended_reader_is_not_called_for_what_came_before(loop: Loop) -> None:
    """Both sockets are ready in the same turn; whoever is called first ends the other."""
    pairs = [socket.socketpair(), socket.socketpair()]
    called: list[int] = []
    some = asyncio.Event()

    def ends(number: int, other: int) -> Callable[[], None]:
        def read() -> None:
            called.append(number)
            some.set()
            loop.on_readable(pairs[other][0].fileno(), None)
            loop.on_readable(pairs[number][0].fileno(), None)

        return read

    async def both() -> None:
        for number, (here, there) in enumerate(pairs):
            there.send(b"ready")
            loop.on_readable(here.fileno(), ends(number, 1 - number))
        await some.wait()

    loop.run_until_complete(both())
    for here, there in pairs:
        here.close()
        there.close()
    assert len(called) == 1
