"""Spare connections, to listeners that count what connects."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing
from itertools import count

import pytest
from tests.support.simulated_brokers import Simulated
from tests.unit.proxy.test_server import API_VERSIONS, answer, connected

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.proxy import Settings, serve
from brokernat.proxy import brokers as room
from brokernat.proxy.brokers import BOOTSTRAP, Brokers
from brokernat.proxy.nodes import Nodes
from brokernat.proxy.upstream import Upstream

_PATIENCE = 60
_ADVERTISED = Endpoint("kafka-1", 9092)
_HOSTS = count(2)
_REQUEST = struct.pack(">i", 12) + API_VERSIONS + struct.pack(">ih", 1, 2) + b"me"


class _LogsIn(Upstream):
    """Takes the way of TLS and logins, which cannot connect within a call."""

    @property
    def plain(self) -> bool:
        return False


@pytest.fixture
def listen() -> Iterator[Callable[[], socket.socket]]:
    with ExitStack() as stack:

        def listening() -> socket.socket:
            listener = stack.enter_context(closing(socket.create_server((f"127.12.{next(_HOSTS)}.1", 9092))))
            listener.settimeout(_PATIENCE)
            return listener

        yield listening


def end(listener: socket.socket) -> Endpoint:
    return Endpoint(*listener.getsockname()[:2])


def connecting_to(listener: socket.socket, upstream: Upstream | None = None) -> tuple[Brokers, Nodes]:
    nodes = Nodes(AddressMap.parse(f"{_ADVERTISED} = {end(listener)}"))
    nodes.learn(1, _ADVERTISED)
    return Brokers([_ADVERTISED], nodes, upstream or Upstream(), _PATIENCE), nodes


def run(test: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(test())


async def spare_at(listener: socket.socket) -> socket.socket:
    """The broker's side of the connection that arrives."""
    connection = (await asyncio.to_thread(listener.accept))[0]
    connection.settimeout(_PATIENCE)
    return connection


async def ready(brokers: Brokers, node_id: int) -> socket.socket:
    """The spare connection, as soon as it is complete."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            if connection := brokers.ready(node_id):
                return connection
            await asyncio.sleep(0)


def is_other_end(connection: socket.socket, of: socket.socket) -> bool:
    return bool(connection.getsockname() == of.getpeername())


def nobody_waits(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return True
    return False


@pytest.mark.parametrize("upstream", [Upstream(), _LogsIn()], ids=["plain", "with a login"])
@pytest.mark.parametrize("first", [BOOTSTRAP, 1])
def test_the_next_client_has_the_spare_connection_and_the_one_after_it_its_own(
    listen: Callable[[], socket.socket], upstream: Upstream, first: int
) -> None:
    async def test() -> None:
        listener = listen()
        brokers, _ = connecting_to(listener, upstream)
        brokers.prepare_spare(first)
        brokers.prepare_spare(first)
        # The bootstrap server is the node, so its spare connection serves either.
        with closing(await spare_at(listener)) as spare, closing(await ready(brokers, 1)) as given:
            assert is_other_end(given, spare)
            assert nobody_waits(listener)
            if upstream.plain:
                with closing(await ready(brokers, 1)) as own:
                    assert not is_other_end(own, spare)
            else:
                assert brokers.ready(1) is None

    run(test)


def test_a_spare_connection_that_the_broker_has_closed_is_given_to_nobody(
    listen: Callable[[], socket.socket],
) -> None:
    async def test() -> None:
        listener = listen()
        brokers, _ = connecting_to(listener)
        brokers.prepare_spare(1)
        spare = await spare_at(listener)
        name = spare.getpeername()
        spare.close()
        with closing(await ready(brokers, 1)) as given:
            assert given.getsockname() != name

    run(test)


def test_a_spare_connection_to_where_a_node_was_is_given_to_nobody(listen: Callable[[], socket.socket]) -> None:
    async def test() -> None:
        before, now = listen(), listen()
        brokers, nodes = connecting_to(before)
        brokers.prepare_spare(1)
        nodes.address_map = AddressMap.parse(f"{_ADVERTISED} = {end(now)}")
        with closing(await ready(brokers, 1)) as given:
            assert given.getpeername() == now.getsockname()
        brokers.close_spares()

    run(test)


def test_a_spare_connection_that_nobody_wants_is_closed(
    listen: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        listener = listen()
        brokers, _ = connecting_to(listener)
        brokers.prepare_spare(1)
        with closing(await spare_at(listener)) as spare:
            brokers.close_old_spares()
            with closing(await ready(brokers, 1)) as given:
                assert is_other_end(given, spare), "it is not old yet"
        monkeypatch.setattr(room, "_SPARE_FOR", 0.0)
        brokers.prepare_spare(1)
        with closing(await spare_at(listener)) as spare:
            brokers.close_old_spares()
            assert await asyncio.to_thread(spare.recv, 1) == b""

    run(test)


def test_nothing_stays_open_of_what_is_being_opened_at_the_end(listen: Callable[[], socket.socket]) -> None:
    async def test() -> None:
        listener = listen()
        brokers, _ = connecting_to(listener, _LogsIn())
        brokers.prepare_spare(1)
        connection = await spare_at(listener)
        brokers.close_spares()
        with closing(connection):
            assert await asyncio.to_thread(connection.recv, 1) == b""

    run(test)


def test_a_client_that_is_served_leaves_a_spare_connection_and_the_end_of_the_proxy_none(
    listen: Callable[[], socket.socket],
) -> None:
    """The broker is a listener that answers by hand, so that only the proxy connects to it."""
    listener = listen()
    broker = Simulated({1: end(listener)})
    settings = Settings(Endpoint(f"127.12.{next(_HOSTS)}.1", 9000), remember=False)
    with serve(Cluster("hq", (end(listener),)), settings) as proxy, closing(connected(proxy.bootstrap)) as client:
        client.sendall(_REQUEST)
        with closing(listener.accept()[0]) as first:
            listener.settimeout(0)
            with pytest.raises(BlockingIOError):
                listener.accept()
            listener.settimeout(_PATIENCE)
            first.sendall(broker.answer(1, first.recv(len(_REQUEST), socket.MSG_WAITALL)[4:]) or b"")
            spare = listener.accept()[0]
            spare.settimeout(_PATIENCE)
            assert answer(client)
    with closing(spare):
        assert spare.recv(1) == b""
