"""What Kafka makes of a file; the same is held against Kafka itself in tests/conformance."""

import pytest
from tests.unit.doctor.broker_files.conftest import KRAFT, SITUATION_1, file

from brokernat.doctor.broker_files.listeners import Unreadable, broker_listeners


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
    assert broker_listeners(file(text)).unreadable == tuple(Unreadable(*each) for each in unreadable)


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
