"""A world of three kinds of broker for this folder, and forwards that lead where a test wants them to."""

from __future__ import annotations

import asyncio
import queue
import threading
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Switch = Callable[..., AbstractContextManager[list[Endpoint]]]


@pytest.fixture(scope="package")
def kinds_world() -> Iterator[LoopbackWorld]:
    """Brokers of 3.9.2, and of 4.4.0 that advertise the same; a broker whose user may ask for nothing but metadata."""
    with LoopbackWorld(
        hq=ClusterOptions(brokers=2, version="3.9.2"),
        second_hq=ClusterOptions(brokers=2, version="4.4.0"),
        local=ClusterOptions(brokers=1, protocol=Protocol.SASL_PLAINTEXT, authorize=True),
    ) as world:
        yield world


@pytest.fixture
def switch() -> Switch:
    """`with switch([a], [a, b]) as ends`: a port that leads to a, and one whose connections go to a and b in turn."""
    return _switch


@contextmanager
def _switch(*targets: list[Endpoint]) -> Iterator[list[Endpoint]]:
    started: queue.Queue[tuple[list[Endpoint], asyncio.AbstractEventLoop]] = queue.Queue()
    stop = asyncio.Event()

    async def serve() -> None:
        servers = [await asyncio.start_server(_Turns(upstreams), "127.0.0.1", 0) for upstreams in targets]
        ends = [Endpoint(*server.sockets[0].getsockname()[:2]) for server in servers]
        started.put((ends, asyncio.get_running_loop()))
        await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ends, loop = started.get(timeout=30)
    try:
        yield ends
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


class _Turns:
    """Leads each connection to the next of its upstreams."""

    def __init__(self, upstreams: list[Endpoint]) -> None:
        self._turns = cycle(upstreams)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = next(self._turns)
        far_reader, far_writer = await asyncio.open_connection(upstream.host, upstream.port)
        try:
            await asyncio.wait(
                [asyncio.ensure_future(_pump(reader, far_writer)), asyncio.ensure_future(_pump(far_reader, writer))],
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            far_writer.transport.abort()
            writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
