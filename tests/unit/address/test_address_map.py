import hashlib

import pytest

from brokernat.address import AddressMap, Endpoint, Unmapped, canonical_text, fingerprint, pair
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


def endpoints(*texts: str) -> list[Endpoint]:
    return [Endpoint.parse(text) for text in texts]


def test_first_with_first() -> None:
    address_map = pair(endpoints("gw:1", "gw:2"), endpoints("10.0.0.1:9092", "10.0.0.2:9092"), Unmapped.PASS)
    assert str(address_map) == "10.0.0.1:9092=gw:1,10.0.0.2:9092=gw:2"
    assert address_map.unmapped is Unmapped.PASS


@pytest.mark.parametrize(
    ("bootstrap", "broker_nat", "message", "hint"),
    [
        (
            ["gw:1", "gw:2", "kafka-3:9092"],
            ["a:1", "b:1"],
            "`broker_nat` has 2 entries for 3 bootstrap servers\nunpaired: kafka-3:9092",
            "add one entry to `broker_nat`",
        ),
        (
            ["gw:1"],
            ["a:1", "b:1", "c:1"],
            "`broker_nat` has 3 entries for 1 bootstrap server\nunpaired: b:1, c:1",
            "add 2 entries to `bootstrap_servers`",
        ),
    ],
)
def test_entries_without_a_partner_are_named(
    bootstrap: list[str], broker_nat: list[str], message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        pair(endpoints(*bootstrap), endpoints(*broker_nat))
    assert caught.value.message == message
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)


def test_the_text_has_no_blanks_and_keeps_the_order() -> None:
    assert canonical_text(AddressMap.parse("B:1 = x:1\nA = [FD00::0]")) == "b:1=x:1,a=[fd00::]"


def test_the_fingerprint_is_that_of_the_text() -> None:
    address_map = AddressMap.parse("a:1 = b:1")
    assert fingerprint(address_map) == hashlib.sha256(b"a:1=b:1").hexdigest()
    assert fingerprint(address_map) == fingerprint(AddressMap(address_map.rules, Unmapped.PASS))


def test_templates_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"`\*\.hq:1=gw:\{1\+id\}`"):
        fingerprint(AddressMap.parse("a:1=b:1,*.hq:1=gw:{1+id}"))
