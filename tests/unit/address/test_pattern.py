import pytest

from brokernat.address import Endpoint, parse_rule
from brokernat.address.pattern import Pattern


def pattern(advertised: str) -> Pattern:
    if "/" in advertised:
        return parse_rule(f"{advertised}={advertised}").pattern
    with_port = ":" in advertised.rpartition("]")[2]
    return parse_rule(f"{advertised}=x{':1' if with_port else ''}").pattern


@pytest.mark.parametrize(
    ("outer", "inner", "contains"),
    [
        ("a:1", "a:1", True),
        ("a", "a:1", True),
        ("a:1", "a", False),
        ("a:1", "a:2", False),
        ("*.hq", "a.hq", True),
        ("*.hq", "a.hq:1", True),
        ("*.hq:1", "a.hq", False),
        ("*.hq", "*.b.hq", True),
        ("*.b.hq", "*.hq", False),
        ("*.hq", "hq", False),
        ("*.hq", "10.0.0.0/8", False),
        ("10.0.0.0/8", "10.1.0.0/16", True),
        ("10.1.0.0/16", "10.0.0.0/8", False),
        ("10.0.0.0/8", "10.1.2.3:9092", True),
        ("10.0.0.0/8", "11.1.2.3:9092", False),
        ("10.0.0.0/8", "fd00::/64", False),
        ("fd00::/57", "[fd00::1]", True),
        ("10.0.0.0/8", "a", False),
        ("10.0.0.1", "10.0.0.1/32", True),
        ("10.0.0.1", "10.0.0.0/31", False),
        ("10.0.0.1:1", "10.0.0.1/32", False),
    ],
)
def test_containment(outer: str, inner: str, contains: bool) -> None:
    assert pattern(outer).contains(pattern(inner)) is contains


@pytest.mark.parametrize("text", ["a", "a:1", "*.hq", "*.hq:1", "10.0.0.0/8", "[fd00::1]:9", "fd00::/57"])
def test_text(text: str) -> None:
    assert str(pattern(text)) == text


def test_matches() -> None:
    assert pattern("*.hq:1").matches(Endpoint.parse("a.hq:1"))
    assert not pattern("*.hq:1").matches(Endpoint.parse("a.hq:2"))
    assert not pattern("0.0.0.0/0").matches(Endpoint.parse("[::]:1"))
