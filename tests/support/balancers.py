"""Ports that lead each connection to one of several endpoints: what a gateway or a balancer does."""

from __future__ import annotations

import random
import select
import socket
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from socketserver import BaseRequestHandler, ThreadingTCPServer

from brokernat.address import Endpoint

Choice = Callable[[str, int], int]
"""From the client's address and the connection's number to the number of an endpoint."""

_DICE = random.Random(11)
BALANCERS: Mapping[str, Choice] = {
    "round-robin": lambda _, number: number,
    "random": lambda _, __: _DICE.randrange(1 << 16),
    "by-source": lambda address, _: zlib.crc32(address.encode()) >> 7,
}


@contextmanager
def switched(*targets: Sequence[Endpoint], choice: Choice = BALANCERS["round-robin"]) -> Iterator[list[Endpoint]]:
    """A port for each of the targets, whose connections go to that one's endpoints."""
    with ExitStack() as stack:
        servers = [stack.enter_context(Switch(upstreams, choice)) for upstreams in targets]
        for server in servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
        yield [Endpoint(*server.server_address) for server in servers]


class Switch(ThreadingTCPServer):
    """`received` is what all clients sent."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstreams: Sequence[Endpoint], choice: Choice = BALANCERS["round-robin"]) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.upstreams, self.choice, self.numbers = upstreams, choice, count()
        self.received = bytearray()

    server_address: tuple[str, int]


class _Connection(BaseRequestHandler):
    server: Switch

    def handle(self) -> None:
        chosen = self.server.choice(self.client_address[0], next(self.server.numbers))
        upstream = self.server.upstreams[chosen % len(self.server.upstreams)]
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
