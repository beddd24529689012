import pytest

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.errors import ConfigError, UnmappedEndpointError


def test_the_first_match_wins_and_is_named() -> None:
    found = AddressMap.parse("a:1=x:1,a=y").translate(Endpoint("a", 1))
    assert (str(found.endpoint), str(found.rule)) == ("x:1", "a:1=x:1")


def test_unmapped_fail_names_the_rule_to_add() -> None:
    with pytest.raises(UnmappedEndpointError) as caught:
        AddressMap.parse("a:1=x:1").translate(Endpoint("fd00::1", 9092))
    assert caught.value.endpoint == "[fd00::1]:9092"
    assert caught.value.rule_to_add == "[fd00::1]:9092 = HOST:PORT"


def test_unmapped_pass_keeps_the_endpoint() -> None:
    found = AddressMap.parse("a:1=x:1", Unmapped.PASS).translate(Endpoint("b", 1))
    assert (found.endpoint, found.rule) == (Endpoint("b", 1), None)


def test_a_template_counts_only_where_it_decides() -> None:
    address_map = AddressMap.parse("a:1=b:1,*.hq:1=gw:{1+id}")
    assert str(address_map.translate(Endpoint("a", 1)).endpoint) == "b:1"
    assert str(address_map.translate(Endpoint("x.hq", 1), node_id=4).endpoint) == "gw:5"
    with pytest.raises(ConfigError) as caught:
        address_map.translate(Endpoint("x.hq", 1))
    assert caught.value.problems[0].code == "needs-node-id"
