"""The vectors cover the notation, this the functions that others call."""

from ipaddress import IPv6Address

import pytest

from brokernat.address import Endpoint, NodeEndpoint
from brokernat.address.endpoint import as_ip, bracketed, format_ip, parse_host
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "host", "port", "written"),
    [
        ("Kafka-1.HQ.:9092", "kafka-1.hq", 9092, "kafka-1.hq:9092"),
        ("10.0.0.1:1", "10.0.0.1", 1, "10.0.0.1:1"),
        ("[FD00:0::1]:65535", "fd00::1", 65535, "[fd00::1]:65535"),
        (" a:1\t", "a", 1, "a:1"),
    ],
)
def test_text_in_value_out_text_again(text: str, host: str, port: int, written: str) -> None:
    endpoint = Endpoint.parse(text)
    assert (endpoint.host, endpoint.port, str(endpoint)) == (host, port, written)
    assert Endpoint.parse(written) == endpoint == Endpoint(host.upper(), port)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "missing-port"),
        ("kafka-1", "missing-port"),
        ("[fd00::1]", "missing-port"),
        ("kafka-1:", "bad-port"),
        (":9092", "empty-host"),
        ("fd00::1:9092", "bare-ipv6"),
        ("[kafka]:1", "bad-ipv6"),
        ("10.1:9092", "bad-ipv4"),
        ("ka fka:9092", "bad-host"),
        ("PLAINTEXT://kafka:9092", "listener-url"),
    ],
)
def test_wrong_texts(text: str, kind: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Endpoint.parse(text)
    (problem,) = caught.value.problems
    assert problem.code == kind
    assert problem.message.startswith(f"endpoint `{text}`: ")
    assert problem.hint


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_ports_are_checked_in_values_too(port: int) -> None:
    with pytest.raises(ConfigError) as caught:
        Endpoint("a", port)
    assert caught.value.problems[0].code == "bad-port"


def test_node_endpoints() -> None:
    assert str(NodeEndpoint(2, Endpoint("fd00::1", 9092))) == "node 2 at [fd00::1]:9092"


@pytest.mark.parametrize(
    ("text", "host"),
    [("A.B.", "a.b"), ("10.0.0.1", "10.0.0.1"), ("FD00::0:1", "fd00::1"), ("::FFFF:192.0.2.1", "::ffff:192.0.2.1")],
)
def test_parse_host(text: str, host: str) -> None:
    assert parse_host(text) == host
    assert parse_host(host) == host


def test_ipv4_mapped_addresses_are_the_same_text_on_every_python() -> None:
    assert format_ip(IPv6Address("::ffff:c000:201")) == "::ffff:192.0.2.1"


def test_as_ip() -> None:
    assert as_ip("kafka-1") is None
    assert str(as_ip("10.0.0.1")) == "10.0.0.1"
    assert as_ip("fd00::1") == IPv6Address("fd00::1")


def test_brackets_are_for_ipv6_only() -> None:
    assert [bracketed(host) for host in ("a", "10.0.0.1", "::1")] == ["a", "10.0.0.1", "[::1]"]
