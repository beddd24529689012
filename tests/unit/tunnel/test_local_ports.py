"""Local ports: the same in every run, held until a forward takes them, and ahead of the brokers that may join."""

import socket

import pytest

from brokernat.address import Endpoint
from brokernat.tunnel import local_ports
from brokernat.tunnel.local_ports import AHEAD, FIRST, LAST, LOOPBACK, LocalPorts, expected_endpoints, usual_port

TUNNEL = "ssh user@bastion hq kafka-1:9092"


def endpoints(*texts: str) -> list[Endpoint]:
    return [Endpoint.parse(text) for text in texts]


def test_a_port_depends_on_the_tunnel_and_the_endpoint_alone() -> None:
    (broker,) = endpoints("kafka-1.hq.internal:9092")
    assert usual_port(TUNNEL, broker) == usual_port(TUNNEL, Endpoint.parse("KAFKA-1.hq.internal.:9092")) == 27626
    assert usual_port(TUNNEL, broker) != usual_port(TUNNEL.replace("hq", "hq2"), broker)
    assert all(FIRST <= usual_port(TUNNEL, Endpoint("kafka", port)) <= LAST for port in range(1, 500))


def test_a_taken_port_is_passed_over_and_a_held_one_refuses() -> None:
    (broker,) = endpoints("kafka-1:9092")
    wanted = usual_port(TUNNEL, broker)
    with socket.create_server((LOOPBACK, wanted)):
        ports = LocalPorts(TUNNEL)
        ports.reserve([broker])
        local = ports.of(broker)
        assert local.port == wanted + 1
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((local.host, local.port), timeout=5)
    # As most servers, this one sets SO_REUSEADDR.
    with pytest.raises(OSError, match="in use"):
        socket.create_server((local.host, local.port))
    ports.release(broker)
    socket.create_server((local.host, local.port)).close()
    ports.hold(broker)
    with pytest.raises(OSError, match="in use"):
        socket.create_server((local.host, local.port))
    ports.release(broker)
    with socket.create_server((local.host, local.port)):
        ports.hold(broker)
    assert ports.known() == ()
    ports.close()


def test_two_endpoints_that_want_one_port_get_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_ports, "usual_port", lambda *_: LAST)
    ports, known = LocalPorts(TUNNEL), endpoints("kafka-1:9092", "kafka-2:9092")
    ports.reserve(known)
    assert len({ports.of(each) for each in known}) == 2
    ports.close()


@pytest.mark.parametrize(
    ("known", "first", "last"),
    [
        (("kafka-1.hq:9092", "kafka-2.hq:9092"), "kafka-3.hq:9092", f"kafka-{2 + AHEAD}.hq:9092"),
        (("b08:9092",), "b09:9092", f"b{8 + AHEAD}:9092"),
        (("192.168.1.23:9092",), "192.168.1.24:9092", f"192.168.1.{23 + AHEAD}:9092"),
        (("10.0.0.253:9092",), "10.0.0.254:9092", "10.0.0.254:9092"),
        (("gw:9092", "gw:9093"), "gw:9094", f"gw:{9093 + AHEAD}"),
        (("pool-2-kafka-0.brokers.kafka.svc:9092",), "pool-2-kafka-1.brokers.kafka.svc:9092",
         f"pool-2-kafka-{AHEAD}.brokers.kafka.svc:9092"),
    ],
    ids=["names", "zeros", "addresses", "end of a network", "ports", "the last number"],
)  # fmt: skip
def test_brokers_that_may_join_are_counted_on(known: tuple[str, ...], first: str, last: str) -> None:
    expected = set(expected_endpoints(endpoints(*known)))
    assert {Endpoint.parse(first), Endpoint.parse(last)} <= expected
    assert not expected & set(endpoints(*known))
    assert len(expected) <= AHEAD


@pytest.mark.parametrize("known", ["kafka.hq.internal:9092", "[fd00::1]:9092", "gw:65535"])
def test_what_is_not_counted_has_no_next(known: str) -> None:
    assert expected_endpoints(endpoints(known)) == ()
