"""One connection between two sockets of this process: what it holds back, and when it ends."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.unit.proxy.test_tls_and_login import CERTIFICATE, over_tls

from brokernat.proxy import polling
from brokernat.proxy.relay import BUFFER, Relay
from brokernat.proxy.server import server_context
from brokernat.wire import Session

FETCH = 1


def request(correlation: int) -> bytes:
    return struct.pack(">ihhih", 12, FETCH, 4, correlation, 2) + b"me"


def response(correlation: int, size: int = 0) -> bytes:
    return struct.pack(">ii", 4 + size, correlation) + bytes(size)


@contextmanager
def relayed(
    buffer: int = BUFFER, room: int = 1 << 18, *, tls: bool = False
) -> Iterator[tuple[Relay, socket.socket, socket.socket]]:
    """The connection, its client and its broker; `room` is for bytes that the client has not read."""
    client, ours = socket.socketpair()
    theirs, broker = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room)
    if tls:
        with ThreadPoolExecutor(1) as shaking:
            shaken = shaking.submit(over_tls, client)
            ours = server_context(*CERTIFICATE).wrap_socket(ours, server_side=True)
            client = shaken.result()
    with client, broker:
        for each in (client, ours, theirs, broker):
            each.setblocking(False)
        session = Session(lambda *_: None, 1 << 20)
        space = memoryview(bytearray(buffer))
        relay = Relay(ours, theirs, session, space, 0.0, lambda: None, lambda _: False, lambda *_: None)
        yield relay, client, broker
        relay.close()


def test_a_drained_connection_ends_behind_the_last_byte_of_its_response() -> None:
    async def drained() -> bytes:
        loop = asyncio.get_running_loop()
        with relayed(room=4096) as (relay, client, broker):
            relay.start()
            client.sendall(request(1))
            assert await loop.sock_recv(broker, 100) == request(1)
            broker.sendall(response(1, 30_000))
            assert relay._responses._read()
            assert relay.session.idle
            assert relay._responses.unsent
            relay.drain()
            received = b""
            while part := await loop.sock_recv(client, 1 << 16):
                received += part
            return received

    assert polling.run(drained()) == response(1, 30_000)


def test_the_end_of_tls_waits_until_there_is_room_for_it() -> None:
    """Without `close_notify` a client takes the end of its connection for an attack."""

    async def waited(size: int) -> bool:
        with relayed(room=4096, tls=True) as (relay, client, broker):
            relay.start()
            client.sendall(request(1))
            assert await asyncio.get_running_loop().sock_recv(broker, 100) == request(1)
            broker.sendall(response(1, size))
            assert relay._responses._read()
            full = not relay._responses.unsent
            relay.drain()
            full = full and relay._responses._waits_for_room
            client.setblocking(True)
            received = b""
            while part := await asyncio.to_thread(client.recv, 1 << 16):
                received += part
            assert received == response(1, size)
            return full

    # One of these fills the room with its last byte.
    assert any(polling.run(waited(size)) for size in range(500, 10_000, 500))


def test_of_a_client_that_asks_on_and_on_only_so_much_is_read_as_is_answered() -> None:
    async def crowded() -> None:
        with relayed(buffer=100 * len(request(1))) as (relay, client, broker):
            client.sendall(b"".join(map(request, range(3_000))))
            relay.start()
            while relay._requests._reading and relay._requests._read():
                pass
            assert 1_000 < relay.session.in_flight <= 1_100
            broker.sendall(b"".join(map(response, range(700))))
            while relay._responses._reading and relay._responses._read():
                pass
            assert relay._requests._reading

    polling.run(crowded())
