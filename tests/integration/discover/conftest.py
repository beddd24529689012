"""A world of three kinds of broker for this folder, and forwards that lead where a test wants them to."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import cycle
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol

Switch = Callable[..., AbstractContextManager[list[Endpoint]]]
Recorder = Callable[[Endpoint], AbstractContextManager[tuple[Endpoint, bytearray]]]


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
    with ExitStack() as stack:
        servers = [stack.enter_context(_Server(upstreams)) for upstreams in targets]
        for server in servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
        yield [Endpoint(*server.server_address) for server in servers]


@pytest.fixture
def recorder() -> Recorder:
    """`with recorder(a) as (end, received)`: a port that leads to a, and all bytes that clients send there."""
    return _recorder


@contextmanager
def _recorder(target: Endpoint) -> Iterator[tuple[Endpoint, bytearray]]:
    with _Server([target]) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield Endpoint(*server.server_address), server.received
        server.shutdown()


class _Server(ThreadingTCPServer):
    """Leads each connection to the next of its upstreams."""

    daemon_threads = True

    def __init__(self, upstreams: list[Endpoint]) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.turns = cycle(upstreams)
        self.received = bytearray()

    server_address: tuple[str, int]


class _Connection(BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        upstream = next(self.server.turns)
        with suppress(OSError), socket.create_connection((upstream.host, upstream.port)) as far:
            other = {self.request: far, far: self.request}
            while True:
                for end in select.select(list(other), [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    if end is self.request:
                        self.server.received += data
                    other[end].sendall(data)
