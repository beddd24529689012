"""The proxy in front of simulated brokers: ports, map, limits, the end; each test has an address of its own."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import select
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from kio.schema.api_versions.v0.response import ApiVersionsResponse
from kio.schema.metadata.v2.response import MetadataResponse
from kio.serial import entity_reader
from tests.support.simulated_brokers import Served, Simulated, serving, serving_as

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError
from brokernat.proxy import Limits, RunningProxy, Settings, polling, serve, server, upstream
from brokernat.proxy.brokers import BOOTSTRAP
from brokernat.proxy.metrics import Counters
from brokernat.proxy.nodes import Nodes
from brokernat.proxy.ports import Turns
from brokernat.proxy.server import Proxy

API_VERSIONS, METADATA = struct.pack(">hh", 18, 0), struct.pack(">hh", 3, 2)
_ADDRESSES = count(2)

Start = Callable[..., RunningProxy]


@pytest.fixture
def brokers() -> Iterator[Served]:
    with serving(2, dead="127.0.77") as served:
        yield served


@pytest.fixture
def start(brokers: Served) -> Iterator[Start]:
    """Start a proxy of the brokers; where it listens, the host is free on every port."""
    with ExitStack() as stack:

        def started(address_map: AddressMap | None = None, **options: object) -> RunningProxy:
            options.setdefault("limits", Limits(handshake=60))
            listen = Endpoint(f"127.9.{next(_ADDRESSES)}.1", 9000)
            cluster = Cluster("hq", (brokers.reachable[1],), address_map or whole_map(brokers))
            settings = Settings(listen, remember=False, **options)  # type: ignore[arg-type]
            return stack.enter_context(serve(cluster, settings))

        yield started


def whole_map(brokers: Served) -> AddressMap:
    pairs = [(brokers.cluster.advertised[node_id], end) for node_id, end in brokers.reachable.items()]
    return AddressMap.parse(",".join(f"{advertised}={end}" for advertised, end in pairs))


def ask(connection: socket.socket, kind: bytes, correlation: int = 1, body: bytes = b"") -> bytes:
    """The body of the response, empty where there is none."""
    packet = kind + struct.pack(">ih", correlation, 2) + b"me" + body
    connection.sendall(struct.pack(">i", len(packet)) + packet)
    return answer(connection)


def answer(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        head = stream.read(8)
        return stream.read(struct.unpack(">i", head[:4])[0] - 4) if len(head) == 8 else b""


def connected(endpoint: Endpoint) -> socket.socket:
    connection = socket.create_connection((endpoint.host, endpoint.port), timeout=60)
    connection.settimeout(60)
    return connection


def nodes_at(endpoint: Endpoint) -> dict[int, Endpoint]:
    with closing(connected(endpoint)) as connection:
        return nodes_on(connection)


def nodes_on(connection: socket.socket) -> dict[int, Endpoint]:
    found, _ = entity_reader(MetadataResponse)(ask(connection, METADATA, body=b"\xff" * 4), 0)
    return {node.node_id: Endpoint(node.host, node.port) for node in found.brokers}


def test_each_node_has_the_port_behind_the_bootstrap_servers(start: Start) -> None:
    proxy = start()
    nodes = nodes_at(proxy.bootstrap)
    host = proxy.bootstrap.host
    assert nodes == {1: Endpoint(host, 9002), 2: Endpoint(host, 9003)}
    assert nodes_at(nodes[2]) == nodes


def test_a_process_that_ends_names_the_ports_of_whoever_comes_next(brokers: Served) -> None:
    listen = Endpoint(f"127.9.{next(_ADDRESSES)}.1", 9000)

    async def told() -> dict[int, Endpoint]:
        proxy = Proxy(Cluster("hq", (brokers.reachable[1],), whole_map(brokers)), Settings(listen, remember=False))
        proxy.start()
        with closing(await asyncio.to_thread(connected, listen)) as connection:
            assert await asyncio.to_thread(ask, connection, API_VERSIONS)
            proxy.stop_listening()
            nodes = await asyncio.to_thread(nodes_on, connection)
        await proxy.drain()
        return nodes

    assert polling.run(told()) == {1: Endpoint(listen.host, 9002), 2: Endpoint(listen.host, 9003)}


def test_the_bytes_of_a_connection_that_ends_between_two_collections_are_counted(
    brokers: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_SWEEP_INTERVAL", 3600.0)
    listen, counters = Endpoint(f"127.9.{next(_ADDRESSES)}.1", 9000), Counters()

    async def answered() -> bytes:
        cluster = Cluster("hq", (brokers.reachable[1],), whole_map(brokers))
        proxy = Proxy(cluster, Settings(listen, remember=False), counters)
        proxy.start()
        with closing(await asyncio.to_thread(connected, listen)) as connection:
            response = await asyncio.to_thread(ask, connection, API_VERSIONS)
        proxy.stop_listening()
        await proxy.drain()
        return response

    response = polling.run(answered())
    assert (counters.total("received"), counters.total("sent")) == (16, 8 + len(response))


def test_ids_may_begin_elsewhere_and_a_node_without_a_port_is_left_out(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    proxy = start(first_node=2, advertise="proxy.example")
    assert nodes_at(Endpoint(host_of(proxy), 9000)) == {2: Endpoint("proxy.example", 9001)}
    assert "node 1 is not advertised to clients: node 1 has no port: 9000 is not" in caplog.text


def host_of(proxy: RunningProxy) -> str:
    return f"127.9.{next(_ADDRESSES) - 1}.1"


def test_a_node_that_no_rule_names_is_refused_in_words_and_not_shown(
    start: Start, brokers: Served, caplog: pytest.LogCaptureFixture
) -> None:
    proxy = start(AddressMap.parse(f"{brokers.cluster.advertised[1]}={brokers.reachable[1]}"))
    nodes = nodes_at(proxy.bootstrap)
    assert set(nodes) == {1, 2}
    with closing(connected(nodes[2])) as connection:
        assert ended(connection)
    hidden = brokers.cluster.advertised[2]
    assert f"node 2 is refused: no rule names {hidden}" in caplog.text or str(hidden) in caplog.text
    proxy.use(whole_map(brokers))
    assert nodes_at(nodes[2]) == nodes


def test_a_node_without_a_port_at_the_gateway_is_refused_and_no_other(
    start: Start, brokers: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """It is node 1, the first one of a Metadata response."""
    first, second = brokers.cluster.advertised.values()
    proxy = start(AddressMap.parse(f"{first}=gw.example:{{65535+id}},{second}={brokers.reachable[2]}"))
    nodes = nodes_at(proxy.bootstrap)
    assert set(nodes) == {1, 2}
    assert nodes_at(nodes[2]) == nodes
    with closing(connected(nodes[1])) as connection:
        assert ended(connection)
    assert f"node 1 is refused: the rule `{first}=gw.example:{{65535+id}}` gives node 1 the port 65536" in caplog.text
    proxy.use(whole_map(brokers))
    assert nodes_at(nodes[1]) == nodes


def test_nodes_are_translated_once_each_and_saved_behind_the_response(
    brokers: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    translated: list[int] = []
    reachable = Nodes.reachable

    def counted(nodes: Nodes, node_id: int) -> Endpoint | None:
        translated.append(node_id)
        return reachable(nodes, node_id)

    monkeypatch.setattr(Nodes, "reachable", counted)
    monkeypatch.setattr(server, "_SWEEP_INTERVAL", 3600.0)
    cluster = Cluster("hq", (brokers.reachable[1],), whole_map(brokers))
    settings = Settings(Endpoint(f"127.9.{next(_ADDRESSES)}.1", 9000))
    with serve(cluster, settings) as proxy:
        nodes = nodes_at(proxy.bootstrap)
        in_the_response = list(translated)
        assert nodes_at(nodes[2]) == nodes
    assert sorted(in_the_response) == [1, 2]
    # The file has the nodes, which the next proxy serves without a Metadata response.
    with serve(cluster, settings):
        connected(nodes[2]).close()


def test_versions_are_clamped(start: Start) -> None:
    with closing(connected(start().bootstrap)) as connection:
        found, _ = entity_reader(ApiVersionsResponse)(ask(connection, API_VERSIONS), 0)
    assert {int(each.api_key): each.max_version for each in found.api_keys}[18] == 5


def test_a_client_is_told_what_the_broker_has_told_the_last_one_and_connects_again_if_that_was_wrong(
    start: Start, brokers: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "brokernat.proxy")
    proxy = start()

    def told(at: Endpoint = proxy.bootstrap) -> tuple[int, bool]:
        """The newest version of Metadata, and whether the connection then lasts."""
        with closing(connected(at)) as connection:
            offered, _ = entity_reader(ApiVersionsResponse)(ask(connection, API_VERSIONS), 0)
            (newest,) = [each.max_version for each in offered.api_keys if each.api_key == 3]
            with suppress(ConnectionError):
                return newest, ask(connection, METADATA, 2, b"\xff" * 4) != b""
            return newest, False

    nodes = nodes_at(proxy.bootstrap)
    assert [told(), told(), told(nodes[1])] == [(6, True)] * 3
    # As after an upgrade; the simulated brokers are frozen.
    object.__setattr__(brokers.cluster, "newest_metadata", 5)
    assert told(nodes[2]) == (5, True)
    assert [told(), told(), told()] == [(6, False), (5, True), (5, True)]
    assert "on the bootstrap port has to connect again: the broker offers other versions than before" in caplog.text


def test_a_connection_that_has_ended_counts_for_no_limit(start: Start) -> None:
    """A client that connects anew at once must not be refused because of its last connection."""
    proxy = start(limits=Limits(handshake=60, per_address=1))
    for _ in range(50):
        assert nodes_at(proxy.bootstrap)


def test_a_new_map_ends_the_connections_of_nodes_that_have_moved_and_no_other(start: Start, brokers: Served) -> None:
    proxy = start()
    nodes = nodes_at(proxy.bootstrap)
    with closing(connected(nodes[1])) as stays, closing(connected(nodes[2])) as moves:
        assert ask(stays, API_VERSIONS)
        assert ask(moves, API_VERSIONS)
        first, second = brokers.cluster.advertised.values()
        proxy.use(AddressMap.parse(f"{first}={brokers.reachable[1]},{second}={brokers.reachable[1]}"))
        assert moves.recv(1) == b""
        assert ask(stays, API_VERSIONS, 2)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP instead of Kafka"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00", "TLS instead of Kafka"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH instead of Kafka"),
        (struct.pack(">ihhih", 10, 1, 16, 1, 0), "Fetch v16: its response carries the endpoints of new leaders"),
        (struct.pack(">ihhih", 10, 999, 0, 1, 0), "the unknown request 999 v0: its response is unknown"),
        (struct.pack(">ihhih", 2**31 - 1, 3, 0, 1, 0), "a request of 2147483647 bytes"),
    ],
)
def test_what_does_not_pass_is_named(start: Start, caplog: pytest.LogCaptureFixture, sent: bytes, words: str) -> None:
    proxy = start()
    with closing(connected(proxy.bootstrap)) as connection:
        connection.sendall(sent)
        assert ended(connection)
    assert f"on the bootstrap port sent {words}" in caplog.text


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("limits", [Limits(per_address=1), Limits(connections=1)])
def test_a_connection_above_a_limit_is_closed_and_no_other(
    start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    proxy, turned_away = start(limits=limits), []
    monkeypatch.setattr(Turns, "pass_on", lambda _, node_id, __: turned_away.append(node_id))
    with closing(connected(proxy.bootstrap)) as first:
        assert ask(first, API_VERSIONS)
        with closing(connected(proxy.bootstrap)) as second:
            assert ended(second)
        assert ask(first, API_VERSIONS, 2)
    # And not because it has sent no request.
    assert "closed a connection of 127.0.0.1: " in caplog.text
    # Another worker may have room for the next one.
    assert turned_away == [BOOTSTRAP]


def test_a_client_that_does_not_begin_is_closed(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    proxy = start(limits=Limits(handshake=0.5))
    with closing(connected(proxy.bootstrap)) as connection:
        assert ended(connection)
    assert "no request within" in caplog.text


def test_a_connection_without_bytes_is_closed_and_one_with_bytes_stays(start: Start) -> None:
    proxy = start(limits=Limits(idle=1.5))
    with closing(connected(proxy.bootstrap)) as quiet, closing(connected(proxy.bootstrap)) as busy:
        assert ask(quiet, API_VERSIONS)
        while not select.select([quiet], [], [], 0.05)[0]:
            assert ask(busy, API_VERSIONS)
        assert quiet.recv(1) == b""
        assert ask(busy, API_VERSIONS)


def test_a_port_in_use_is_named(start: Start, brokers: Served) -> None:
    proxy = start()
    settings = Settings(proxy.bootstrap, remember=False)
    with (
        pytest.raises(ConfigError, match=r"the proxy cannot listen on .*:9000: Address already in use"),
        serve(Cluster("hq", (brokers.reachable[1],)), settings),
    ):
        pass


@pytest.mark.parametrize(
    ("owner", "name"), [(Proxy, "start"), (polling, "Loop")], ids=["the proxy", "the event loop of the thread"]
)
def test_whatever_prevents_the_start_is_raised(
    brokers: Served, monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    def none_left(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(owner, name, none_left)
    settings = Settings(Endpoint(f"127.9.{next(_ADDRESSES)}.1", 9000), remember=False)
    with (
        pytest.raises(OSError, match="Too many open files"),
        serve(Cluster("hq", (brokers.reachable[1],)), settings),
    ):
        pass


def test_a_start_that_fails_late_leaves_no_port_open(brokers: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    listen = Endpoint(f"127.9.{next(_ADDRESSES)}.1", 9000)

    def fail(_: Proxy) -> None:
        raise RuntimeError("late")

    monkeypatch.setattr(Proxy, "_bind_known_nodes", fail)
    cluster = Cluster("hq", (brokers.reachable[1],))
    with pytest.raises(RuntimeError, match="late"), serve(cluster, Settings(listen, remember=False)):
        pass
    socket.create_server((listen.host, listen.port)).close()


def test_ipv6(brokers: Served) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as free:
        listen = Endpoint("::1", free.getsockname()[1])
    with serve(Cluster("hq", (brokers.reachable[1],), whole_map(brokers)), Settings(listen, remember=False)) as proxy:
        nodes = nodes_at(proxy.bootstrap)
        assert nodes == {node: Endpoint("::1", listen.port + 1 + node) for node in (1, 2)}
        assert nodes_at(nodes[1]) == nodes


def test_another_bootstrap_server_takes_the_place_of_one_that_is_down(
    brokers: Served, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = Cluster("hq", (Endpoint("127.9.1.2", 1), brokers.reachable[1]), whole_map(brokers))
    with serve(cluster, Settings(Endpoint("127.9.1.3", 9000), remember=False)) as proxy:
        assert set(nodes_at(proxy.bootstrap)) == {1, 2}
    assert "cannot be reached" not in caplog.text


def test_an_address_that_drops_packets_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        socket.create_server(("127.9.1.6", 0), backlog=0) as dropping,
        socket.create_server(("127.9.1.7", 0)) as listening,
        ExitStack() as waiting,
    ):

        async def addresses(_: Endpoint) -> list[tuple[int, object]]:
            return [(socket.AF_INET, each.getsockname()) for each in (dropping, listening)]

        async def dialled() -> tuple[str, int]:
            async with asyncio.timeout(60):
                with closing(await upstream.dial(Endpoint("kafka-1", 9092))) as connection:
                    peer: tuple[str, int] = connection.getpeername()
                    return peer

        monkeypatch.setattr(upstream, "_addresses", addresses)
        # The queue of a listening socket that accepts nobody: when it is full, the kernel drops the next packets.
        for _ in range(4):
            client = waiting.enter_context(closing(socket.socket()))
            client.setblocking(False)
            client.connect_ex(dropping.getsockname())
        assert asyncio.run(dialled()) == listening.getsockname()


def test_brokers_that_cannot_be_reached_are_named(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(Endpoint("127.9.1.1", 9000), remember=False)
    with serve(Cluster("hq", (Endpoint("127.9.1.2", 1),)), settings) as proxy:
        with closing(connected(proxy.bootstrap)) as connection:
            assert ended(connection)
        assert "the broker cannot be reached: 127.9.1.2:1: Connection refused" in caplog.text


def test_without_a_map_the_log_says_so_where_a_node_cannot_be_reached(caplog: pytest.LogCaptureFixture) -> None:
    with (
        serving_as(lambda _: Simulated({1: Endpoint("127.9.1.2", 1)}), 1) as served,
        serve(Cluster("hq", (served.reachable[1],)), Settings(Endpoint("127.9.1.1", 9000), remember=False)) as proxy,
        closing(connected(nodes_at(proxy.bootstrap)[1])) as connection,
    ):
        assert ended(connection)
    assert "there is no address map, so advertised endpoints are dialled: give `--map`" in caplog.text


def test_a_connection_whose_broker_is_away_takes_no_place_of_another(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(Endpoint("127.9.1.1", 9000), limits=Limits(connections=1, per_address=1), remember=False)
    with serve(Cluster("hq", (Endpoint("127.9.1.2", 1),)), settings) as proxy:
        for _ in range(3):
            with closing(connected(proxy.bootstrap)) as connection:
                assert ended(connection)
    assert "the broker cannot be reached" in caplog.text
    assert "closed a connection of" not in caplog.text


def test_brokers_that_are_away_are_in_the_log_before_a_client_comes(
    brokers: Served, caplog: pytest.LogCaptureFixture
) -> None:
    for endpoint, away in ((brokers.reachable[1], False), (Endpoint("127.9.1.2", 1), True)):
        proxy = Proxy(Cluster("hq", (endpoint,)), Settings(Endpoint("127.9.1.1", 9000), remember=False))
        polling.run(proxy.check())
        said = "no bootstrap server can be reached now: 127.9.1.2:1: Connection refused"
        assert (said in caplog.text) == away


def test_a_process_without_free_descriptors_says_so(
    start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = start()

    def none_left(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(upstream, "socket", SimpleNamespace(**vars(socket) | {"socket": none_left}))
    with closing(connected(proxy.bootstrap)) as connection:
        assert ended(connection)
    assert "Too many open files" in caplog.text


@pytest.fixture(autouse=True)
def _log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "brokernat.proxy")
