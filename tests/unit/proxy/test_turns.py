"""Which of two workers the kernel gives a client to."""

from __future__ import annotations

import asyncio
import copy
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from brokernat.proxy import polling
from brokernat.proxy.metrics import Counters
from brokernat.proxy.ports import Turns

_PATIENCE = 30
_NODE = 1


class Worker:
    """A worker of a proxy without its connections."""

    def __init__(self, number: int, counters: Counters, turns: Turns, port: tuple[str, int]) -> None:
        # As a fork does: the shared memory is the same, all else is a copy.
        self.counters, self.turns = copy.copy(counters), copy.copy(turns)
        self.counters.row(number)
        self.turns._counters = self.counters
        self.turns._accepted = {}
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.listener.bind(port)
        self.listener.listen()
        self.turns.join(_NODE, self.listener)

    async def accept(self) -> socket.socket:
        client, _ = self.listener.accept()
        self.counters.add("connections")
        self.turns.accepted(_NODE, self.listener)
        return client

    async def has_compared(self) -> None:
        # Twice, because the first time the newest client may be one that goes soon.
        for _ in range(2):
            idle = asyncio.Event()
            polling.running().when_idle(idle.set)
            await idle.wait()


@pytest.fixture
def workers() -> Iterator[tuple[Worker, Worker]]:
    counters = Counters(2)
    turns = Turns(counters)
    first = Worker(0, counters, turns, ("127.0.0.1", 0))
    second = Worker(1, counters, turns, first.listener.getsockname())
    with first.listener, second.listener:
        yield first, second


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def connect(workers: tuple[Worker, Worker], stack: ExitStack) -> tuple[Worker, socket.socket]:
    """Connect one client; returns the worker that has got it, and its end."""
    stack.enter_context(socket.create_connection(workers[0].listener.getsockname()))
    readable, _, _ = select.select([each.listener for each in workers], [], [], _PATIENCE)
    worker = next(each for each in workers if each.listener in readable)
    return worker, stack.enter_context(await worker.accept())


def test_clients_that_go_again_all_meet_one_worker(workers: tuple[Worker, Worker], stack: ExitStack) -> None:
    async def clients() -> set[Worker]:
        met = set()
        for _ in range(40):
            worker, _ = await connect(workers, stack)
            met.add(worker)
            await asyncio.sleep(0)
            worker.counters.add("connections", -1)
        return met

    assert len(polling.run(clients())) == 1


def test_clients_that_stay_are_spread_evenly(workers: tuple[Worker, Worker], stack: ExitStack) -> None:
    async def clients() -> None:
        for _ in range(20):
            worker, _ = await connect(workers, stack)
            await worker.has_compared()

    polling.run(clients())
    assert [each.counters.own("connections") for each in workers] == [10, 10]


def test_a_worker_with_clients_of_other_ports_passes_its_turn_on(
    workers: tuple[Worker, Worker], stack: ExitStack
) -> None:
    async def clients() -> list[Worker]:
        busy, _ = await connect(workers, stack)
        busy.counters.add("connections", 5)
        await busy.has_compared()
        met = []
        for _ in range(6):
            worker, _ = await connect(workers, stack)
            await worker.has_compared()
            met.append(worker)
        return [busy, *met]

    busy, *met = polling.run(clients())
    assert busy not in met


def test_a_client_that_is_turned_away_meets_the_other_worker_next(
    workers: tuple[Worker, Worker], stack: ExitStack
) -> None:
    async def clients() -> tuple[Worker, Worker]:
        full, _ = await connect(workers, stack)
        full.turns.pass_on(_NODE, full.listener)
        other, _ = await connect(workers, stack)
        return full, other

    full, other = polling.run(clients())
    assert full is not other


def test_while_a_worker_hangs_no_worker_has_the_turn(workers: tuple[Worker, Worker], stack: ExitStack) -> None:
    async def met() -> int:
        found = set()
        for _ in range(64):
            worker, _ = await connect(workers, stack)
            worker.counters.add("connections", -1)
            found.add(worker)
        return len(found)

    async def clients() -> list[int]:
        first, second = workers
        start, counts = time.monotonic(), []
        for second_of_first, second_of_second in ((0, None), (1, 1), (2, None), (4.5, None), (5.5, 5.4), (6.5, 6.4)):
            if second_of_second is not None:
                second.turns.watch(start + second_of_second, {_NODE: second.listener})
            first.turns.watch(start + second_of_first, {_NODE: first.listener})
            counts.append(await met())
        return counts

    assert polling.run(clients()) == [1, 1, 1, 2, 1, 1]
