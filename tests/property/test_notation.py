"""The notation on random rules and endpoints."""

from ipaddress import IPv4Network, IPv6Network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brokernat.address import AddressMap, Endpoint, Rule, Unmapped, canonical_text, parse_rule
from brokernat.address.faults import HINTS
from brokernat.errors import ConfigError, UnmappedEndpointError

pytestmark = pytest.mark.property

labels = st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True)
names = (
    st.lists(labels, min_size=1, max_size=3).map(".".join).filter(lambda name: not name.rpartition(".")[2].isdigit())
)
ipv4 = st.ip_addresses(v=4).map(str)
ipv6 = st.ip_addresses(v=6).map(lambda address: f"[{address}]")
# Few of each, so that rules and endpoints meet.
hosts = st.one_of(st.sampled_from(["a", "b.hq", "c.b.hq", "10.0.0.1", "10.0.1.1", "[fd00::1]"]), names, ipv4, ipv6)
ports = st.one_of(st.sampled_from([1, 9092]), st.integers(1, 65535))
blanks = st.sampled_from(["", " ", "\t "])


def networks(version: int) -> st.SearchStrategy[str]:
    bits = 32 if version == 4 else 128
    kind = IPv4Network if version == 4 else IPv6Network
    address = st.ip_addresses(v=4 if version == 4 else 6)
    return st.integers(0, bits).flatmap(
        lambda length: st.tuples(address, address).map(
            lambda pair: "=".join(str(kind((one, length), strict=False)) for one in pair)
        )
    )


rule_texts = st.one_of(
    st.builds("{}:{}={}:{}".format, hosts, ports, hosts, ports),
    st.builds("{}={}".format, hosts, hosts),
    networks(4),
    networks(6),
    st.builds("*.{}:{}={}:{}".format, names, ports, hosts, ports),
    st.builds("*.{}={}".format, names, hosts),
)
templates = st.builds("*.{}:{}={}:{{{}+id}}".format, names, ports, hosts, ports)
endpoints = st.builds("{}:{}".format, hosts, ports).map(Endpoint.parse)


@given(st.one_of(rule_texts, templates), blanks, blanks)
def test_text_in_value_out_text_again(text: str, before: str, after: str) -> None:
    rule = parse_rule(before + text.replace("=", f"{after}={before}") + after)
    assert parse_rule(str(rule)) == rule
    assert not set(str(rule)) & set(" \t\n,")


@given(st.lists(rule_texts), st.sampled_from([",", "\n", " ,\n", "# comment, a=b\r\n"]))
def test_separators_do_not_matter(texts: list[str], separator: str) -> None:
    address_map = AddressMap.parse(separator.join(texts))
    assert address_map == AddressMap.parse(canonical_text(address_map))
    assert len(address_map.rules) == len(texts)


@given(st.lists(rule_texts), endpoints)
def test_the_first_match_wins(texts: list[str], endpoint: Endpoint) -> None:
    rules: list[Rule] = [parse_rule(text) for text in texts]
    first = next((rule for rule in rules if rule.pattern.matches(endpoint)), None)
    found = AddressMap(tuple(rules), Unmapped.PASS).translate(endpoint)
    assert found.rule == first
    assert found.endpoint == (first.translate(endpoint) if first else endpoint)


@given(st.lists(rule_texts), endpoints)
def test_translation_is_total(texts: list[str], endpoint: Endpoint) -> None:
    address_map = AddressMap.parse(",".join(texts))
    try:
        found = address_map.translate(endpoint)
    except UnmappedEndpointError as error:
        added = AddressMap.parse(error.rule_to_add.replace("HOST:PORT", "x:1"))
        assert str(added.translate(endpoint).endpoint) == "x:1"
    else:
        assert Endpoint.parse(str(found.endpoint)) == found.endpoint


@given(st.lists(rule_texts, min_size=2, max_size=4), endpoints)
def test_a_rule_that_contains_another_matches_all_of_it(texts: list[str], endpoint: Endpoint) -> None:
    patterns = [parse_rule(text).pattern for text in texts]
    for outer in patterns:
        for inner in patterns:
            if outer.contains(inner) and inner.matches(endpoint):
                assert outer.matches(endpoint)


def kinds_of(text: str) -> list[str]:
    """The faults of a text; when there are none, the text is a map that reads the same again."""
    try:
        address_map = AddressMap.parse(text)
    except ConfigError as caught:
        return [problem.kind for problem in caught.problems if problem.hint and problem.location.line]
    assert AddressMap.parse(str(address_map)) == address_map
    return []


@given(st.text())
@example("[::1]=")
@example("*.=\x00")
@example("10.0.0.0/\u0663=10.0.0.0/3")
@example("a:\u0661=b:1")
def test_any_text_is_a_map_or_a_report(text: str) -> None:
    assert set(kinds_of(text)) <= set(HINTS)


@given(st.lists(st.sampled_from(list("ab10.:/*[]{}+id=,#\n -")), max_size=40).map("".join))
def test_any_text_of_the_alphabet_is_a_map_or_a_report(text: str) -> None:
    assert set(kinds_of(text)) <= set(HINTS)
