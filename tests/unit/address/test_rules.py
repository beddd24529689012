import pytest

from brokernat.address import Endpoint, NodeIdRule, parse_rule
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
