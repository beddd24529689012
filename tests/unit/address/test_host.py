"""The forms of a host; the vectors cover the notation, this the functions that others call."""

from ipaddress import IPv6Address

import pytest

from brokernat.address.host import as_ip, bracketed, format_ip, parse_host


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
