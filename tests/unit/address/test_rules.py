import pytest

from brokernat.address import Endpoint, NodeIdRule, parse_rule
from brokernat.address.rules import Pattern
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("rule", "endpoint", "reachable"),
    [
        ("a:1=b:2", "a:1", "b:2"),
        ("a=b", "a:7", "b:7"),
        ("10.1.4.0/22=172.16.252.0/22", "10.1.7.255:9", "172.16.255.255:9"),
        ("fd00:1:2:80::/57=fd00:9:9:f00::/57", "[fd00:1:2:ff::1]:9", "[fd00:9:9:f7f::1]:9"),
        ("*.hq:1=gw:2", "a.hq:1", "gw:2"),
        ("*.hq=gw", "a.hq:7", "gw:7"),
    ],
)
def test_translation(rule: str, endpoint: str, reachable: str) -> None:
    assert str(parse_rule(rule).translate(Endpoint.parse(endpoint))) == reachable


def test_a_template_takes_the_node_id() -> None:
    rule = parse_rule("*.hq:9092=gw:{9092+id}")
    assert isinstance(rule, NodeIdRule)
    assert rule.needs_node_id
    assert str(rule.translate(Endpoint.parse("a.hq:9092"), node_id=3)) == "gw:9095"


def test_a_template_without_a_node_id_is_refused_by_name() -> None:
    rule = parse_rule("*.hq:9092=gw:{9092+id}")
    with pytest.raises(ConfigError) as caught:
        rule.translate(Endpoint.parse("a.hq:9092"))
    assert caught.value.problems[0].code == "needs-node-id"
    assert "`*.hq:9092=gw:{9092+id}`" in str(caught.value)


def test_a_template_that_leaves_the_ports_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rule("*.hq:9092=gw:{65000+id}").translate(Endpoint.parse("a.hq:9092"), node_id=1000)
    assert caught.value.problems[0].code == "bad-port"


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
