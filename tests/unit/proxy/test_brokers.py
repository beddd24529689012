"""Connections for the next client, to listeners that count what connects."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import count

import pytest
from tests.support.simulated_brokers import Simulated
from tests.unit.proxy.test_server import METADATA, connected

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.proxy import RunningProxy, Settings, relay, serve
from brokernat.proxy import brokers as room
from brokernat.proxy.brokers import BOOTSTRAP, Brokers
from brokernat.proxy.nodes import Nodes
from brokernat.proxy.upstream import Upstream

_PATIENCE = 60
_ADVERTISED = Endpoint("kafka-1", 9092)
_HOSTS = count(2)
_REQUEST = struct.pack(">i", 16) + METADATA + struct.pack(">ih", 1, 2) + b"me" + struct.pack(">i", 0)
_FETCH, _SASL_HANDSHAKE = struct.pack(">hh", 1, 4), struct.pack(">hh", 17, 1)


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


def kept(listener: socket.socket, brokers: Brokers, node_id: int = 1) -> socket.socket:
    """The broker's side of a connection that is kept."""
    connection = brokers.ready(node_id)
    assert connection
    accepted = listener.accept()[0]
    accepted.settimeout(_PATIENCE)
    assert brokers.keep(node_id, connection)
    return accepted


@pytest.mark.parametrize("first", [BOOTSTRAP, 1])
def test_what_takes_time_is_opened_for_the_next_client_and_not_for_the_one_after_it(
    listen: Callable[[], socket.socket], first: int
) -> None:
    async def test() -> None:
        listener = listen()
        brokers, _ = connecting_to(listener, _LogsIn())
        brokers.prepare_spare(first)
        brokers.prepare_spare(first)
        # The bootstrap server is the node, so its spare connection serves either.
        with closing(await spare_at(listener)) as spare, closing(await ready(brokers, 1)) as given:
            assert is_other_end(given, spare)
            assert nobody_waits(listener)
            assert brokers.ready(1) is None

    run(test)


def test_a_broker_on_this_machine_is_not_dialled_before_it_is_needed(listen: Callable[[], socket.socket]) -> None:
    listener = listen()
    brokers, _ = connecting_to(listener)
    brokers.prepare_spare(1)
    assert nobody_waits(listener)


@pytest.mark.parametrize("first", [BOOTSTRAP, 1])
def test_the_next_client_has_the_connection_of_one_that_has_ended_and_the_one_after_it_its_own(
    listen: Callable[[], socket.socket], first: int
) -> None:
    listener = listen()
    brokers, _ = connecting_to(listener)
    with closing(kept(listener, brokers, first)) as spare, ExitStack() as stack:
        given, own = (stack.enter_context(closing(brokers.ready(1) or socket.socket())) for _ in range(2))
        assert is_other_end(given, spare)
        assert not is_other_end(own, spare)
        assert brokers.keep(1, given)
        assert not brokers.keep(1, own), "one is enough"
        brokers.close_spares()


def test_a_spare_connection_that_the_broker_has_closed_is_given_to_nobody(
    listen: Callable[[], socket.socket],
) -> None:
    listener = listen()
    brokers, _ = connecting_to(listener)
    spare = kept(listener, brokers)
    name = spare.getpeername()
    spare.close()
    with closing(brokers.ready(1) or socket.socket()) as given:
        assert given.getsockname() != name


def test_a_connection_to_where_a_node_was_is_given_to_nobody(listen: Callable[[], socket.socket]) -> None:
    before, now = listen(), listen()
    brokers, nodes = connecting_to(before)
    with closing(brokers.ready(1) or socket.socket()) as ends_later, closing(kept(before, brokers)):
        nodes.address_map = AddressMap.parse(f"{_ADVERTISED} = {end(now)}")
        with closing(brokers.ready(1) or socket.socket()) as given:
            assert given.getpeername() == now.getsockname()
        brokers.close_spares()
        assert not brokers.keep(1, ends_later)


def test_a_connection_is_not_shared_for_ever(
    listen: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    brokers, _ = connecting_to(listen())
    with closing(brokers.ready(1) or socket.socket()) as old:
        monkeypatch.setattr(room, "_SHARED_FOR", 0.0)
        assert not brokers.keep(1, old)


def test_a_spare_connection_that_nobody_wants_is_closed(
    listen: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = listen()
    brokers, _ = connecting_to(listener)
    with closing(kept(listener, brokers)) as spare:
        brokers.close_old_spares()
        with closing(brokers.ready(1) or socket.socket()) as given:
            assert is_other_end(given, spare), "it is not old yet"
    monkeypatch.setattr(room, "_SPARE_FOR", 0.0)
    with closing(kept(listener, brokers)) as spare:
        brokers.close_old_spares()
        assert spare.recv(1) == b""


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


@dataclass
class _ByHand:
    """The proxy in front of a listener that answers by hand, so that only the proxy connects to it."""

    proxy: RunningProxy
    listener: socket.socket
    stop: Callable[[], None]

    def client(self) -> tuple[socket.socket, socket.socket]:
        """A client, and the broker's side of its connection."""
        client = connected(self.proxy.bootstrap)
        return client, self.accepted()

    def accepted(self) -> socket.socket:
        broker = self.listener.accept()[0]
        broker.settimeout(_PATIENCE)
        return broker

    def answered(self, client: socket.socket, broker: socket.socket, request: bytes = _REQUEST) -> None:
        """The client's request has its response."""
        client.sendall(request)
        received = broker.recv(len(request), socket.MSG_WAITALL)
        whole = Simulated({1: end(self.listener)}).answer(1, received[4:]) if request == _REQUEST else None
        broker.sendall(whole or struct.pack(">ii", 4, 1))
        assert client.recv(1 << 16)


@pytest.fixture
def by_hand(listen: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch) -> Iterator[_ByHand]:
    monkeypatch.setattr(room, "_SPARE_FOR", 2.0 * _PATIENCE)
    listener = listen()
    settings = Settings(Endpoint(f"127.12.{next(_HOSTS)}.1", 9000), remember=False)
    with ExitStack() as stack:
        proxy = stack.enter_context(serve(Cluster("hq", (end(listener),)), settings))
        yield _ByHand(proxy, listener, stack.close)


def test_the_connection_of_a_client_that_has_only_asked_serves_the_next_one(by_hand: _ByHand) -> None:
    client, broker = by_hand.client()
    with closing(broker):
        for _ in range(3):
            by_hand.answered(client, broker)
            client.close()
            client = connected(by_hand.proxy.bootstrap)
        by_hand.answered(client, broker)
        assert nobody_waits(by_hand.listener)
        client.close()
        by_hand.stop()
        assert broker.recv(1) == b""


@pytest.mark.parametrize("kind", [_FETCH, _SASL_HANDSHAKE], ids=["data", "a login"])
def test_the_connection_of_a_client_that_has_done_more_serves_nobody_else(by_hand: _ByHand, kind: bytes) -> None:
    client, broker = by_hand.client()
    with closing(client), closing(broker):
        by_hand.answered(client, broker)
        # Its bytes need not be right for these.
        by_hand.answered(client, broker, _REQUEST[:4] + kind + _REQUEST[8:])
        client.close()
        assert broker.recv(1) == b""


@pytest.mark.parametrize("half_closes", [True, False], ids=["half-closed", "as with TLS"])
@pytest.mark.parametrize("sent", [_REQUEST, _REQUEST + _REQUEST[:7]], ids=["no response", "half a request"])
def test_the_connection_of_a_client_that_has_not_finished_serves_nobody_else(
    by_hand: _ByHand, monkeypatch: pytest.MonkeyPatch, sent: bytes, half_closes: bool
) -> None:
    if not half_closes:
        monkeypatch.setattr(relay._Flow, "shut_down_sending", lambda _: False)
    client, broker = by_hand.client()
    with closing(client), closing(broker):
        if sent != _REQUEST:
            by_hand.answered(client, broker)
            sent = sent[len(_REQUEST) :]
        client.sendall(sent)
        client.close()
        received = b""
        while part := broker.recv(100):
            received += part
        assert sent.startswith(received)


def test_a_client_that_is_served_leaves_a_spare_connection_and_the_end_of_the_proxy_none(
    by_hand: _ByHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Upstream, "plain", _LogsIn.plain)
    client, broker = by_hand.client()
    with closing(client), closing(broker):
        assert nobody_waits(by_hand.listener)
        by_hand.listener.settimeout(_PATIENCE)
        by_hand.answered(client, broker)
        with closing(by_hand.accepted()) as spare:
            by_hand.stop()
            assert spare.recv(1) == b""
