"""What Kafka makes of a file; the same is held against Kafka itself in tests/conformance."""

import pytest
from tests.unit.doctor.broker_files.conftest import BOB_AND_FRED, KRAFT, SITUATION_1, file, files

from brokernat.doctor.broker_files.listeners import (
    Listener,
    broker_listeners,
    listener_table,
)
from brokernat.doctor.evidence import Evidence


@pytest.mark.parametrize(
    ("text", "advertised"),
    [
        ("node.id=1", ["PLAINTEXT://:9092"]),
        ("listeners=plaintext://a:1", ["PLAINTEXT://a:1"]),
        ("listeners=A://[fd00::1]:1, B://b_c:2 ,", ["A://[fd00::1]:1", "B://b_c:2"]),
        ("listeners=A://a:1\nadvertised.listeners=A://b:2", ["A://b:2"]),
        ("listeners=A://a:1\nadvertised.listeners=", []),
        (KRAFT, ["PLAINTEXT://kafka-1.example:9092"]),
        (KRAFT.replace("advertised", "x"), ["PLAINTEXT://:9092"]),
        ("host.name=h", ["PLAINTEXT://h:9092"]),
        ("host.name=h\nport=1\nadvertised.host.name=a", ["PLAINTEXT://a:1"]),
        (f"{KRAFT}\nadvertised.host.name=a\nadvertised.port=1", ["PLAINTEXT://kafka-1.example:9092"]),
        ("process.roles=broker\nhost.name=h\nadvertised.host.name=a", ["PLAINTEXT://:9092"]),
        ("listeners=A://:1,B://:0\nadvertised.listeners=A://a:0,B://b:0", ["A://a:1", "B://b:0"]),
        ("advertised.host.name=a\nadvertised.listeners=B://b:2", ["B://b:2"]),
    ],
)
def test_what_is_advertised(text: str, advertised: list[str]) -> None:
    assert [str(each) for each in broker_listeners(file(text)).advertised] == advertised


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("listeners=A:9092,B://b:1", [("listeners", "A:9092")]),
        ("listeners=A://a", [("listeners", "A://a")]),
        ("listeners=A://a:70000", [("listeners", "A://a:70000")]),
        (f"listeners=A://a:{'9' * 5000}", [("listeners", f"A://a:{'9' * 5000}")]),
        ("listeners=A://a b:1", [("listeners", "A://a b:1")]),
        (
            "listener.security.protocol.map=A,B:TLS,C:ssl",
            [("listener.security.protocol.map", x) for x in ["A", "B:TLS"]],
        ),
        ("process.roles=broker,brokr", [("process.roles", "brokr")]),
    ],
)
def test_unreadable(text: str, unreadable: list[tuple[str, str]]) -> None:
    assert broker_listeners(file(text)).unreadable == tuple(unreadable)


def test_protocols() -> None:
    assert broker_listeners(file("node.id=1")).protocols["SASL_SSL"] == "SASL_SSL"
    assert broker_listeners(file(KRAFT)).protocols["CONTROLLER"] == "PLAINTEXT"
    with_tls = KRAFT.replace("PLAINTEXT://", "SSL://")
    assert "CONTROLLER" not in broker_listeners(file(with_tls)).protocols
    assert broker_listeners(file("listener.security.protocol.map=a:ssl")).protocols == {"A": "SSL"}


def test_who_it_is() -> None:
    broker = broker_listeners(file(SITUATION_1, "s"))
    assert (broker.node_id, broker.name, broker.is_kraft, broker.inter_broker) == (
        1,
        "node 1 (s)",
        False,
        "INTERNAL_LISTENER",
    )
    assert "canary" not in repr(broker)
    assert broker_listeners(file("node.id=-1")).node_id is None
    assert broker_listeners(file("security.inter.broker.protocol=ssl")).inter_broker == "SSL"
    assert not broker_listeners(file("process.roles=controller")).serves_clients


def test_the_last_one_counts() -> None:
    broker = broker_listeners(file("listeners=A://:1\nlisteners=B://:2"))
    assert [each.name for each in broker.listeners] == ["B"]


def test_the_port_decides() -> None:
    bob, fred = listener_table(files(BOB_AND_FRED))
    assert (bob.listener, bob.protocol, bob.inter_broker) == ("BOB", "PLAINTEXT", True)
    assert [(each.broker.name, each.listener) for each in bob.ports] == [
        ("node 0 (f0)", Listener("BOB", "kafka0", 29092)),
    ]
    assert bob.endpoints == bob.ports
    assert bob.endpoints[0].listener.where == "same-network"
    assert [(each.broker.name, each.listener) for each in fred.endpoints] == [
        ("node 0 (f0)", Listener("FRED", "localhost", 9092)),
    ]
    assert fred.endpoints[0].listener.where == "same-machine"
    assert not fred.inter_broker


def test_brokers_without_the_name_are_missing() -> None:
    one = "node.id=1\nlisteners=PLAINTEXT://a:1,TEXT://a:2\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,TEXT:SSL"
    rows = {row.listener: row for row in listener_table(files("node.id=0\nlisteners=PLAINTEXT://b.example:1", one))}
    assert [each.broker.node_id for each in rows["PLAINTEXT"].endpoints] == [0, 1]
    assert [each.broker.node_id for each in rows["TEXT"].endpoints] == [1]


def test_a_controllers_listener_is_nobodys_business() -> None:
    assert [row.listener for row in listener_table(files(KRAFT))] == ["PLAINTEXT"]


def test_published_ports() -> None:
    (row,) = listener_table(Evidence.without_network("files", files=(file(KRAFT, published=((9092, 29092),)),)))
    assert row.ports[0].published == 29092


def test_where() -> None:
    hosts = ("", "kafka0", "a.svc", "localhost", "127.0.0.2", "::1", "0.0.0.0", "::", "a.example", "10.0.0.1")
    found = [Listener("A", host, 1).where for host in hosts]
    assert found == ["same-network"] * 3 + ["same-machine"] * 3 + ["nowhere"] * 2 + ["anywhere"] * 2
