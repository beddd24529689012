"""The notation on random rules and endpoints."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brokernat.address import AddressMap, Endpoint, Rule, Unmapped, canonical_text, lint, parse_rule
from brokernat.address.faults import HINTS
from brokernat.address.rules import Pattern
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


@given(st.lists(st.one_of(rule_texts, templates), max_size=8))
def test_lint_finds_what_a_comparison_of_all_pairs_finds(texts: list[str]) -> None:
    rules = AddressMap.parse("\n".join(texts)).rules
    hidden = {
        (next(i for i in range(n) if rules[i].pattern.contains(rule.pattern)), n)
        for n, rule in enumerate(rules)
        if any(earlier.pattern.contains(rule.pattern) for earlier in rules[:n])
    }
    codes = ("duplicate-rule", "contradicting-rule", "shadowed-rule")
    assert {each.rules for each in lint(AddressMap(rules)) if each.code in codes} == hidden


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


# Patterns of every kind that lie in each other, and endpoints that tell each two of them apart.
NESTED = [
    *("hq", "b.hq", "c.b.hq", "10.0.0.1", "10.1.0.0", "[fd00::1]", "*.hq", "*.b.hq", "*.c.b.hq"),
    *("0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/16", "10.0.0.0/24", "10.0.0.0/31", "10.0.0.1/32", "10.1.0.0/16"),
    *("::/0", "fd00::/16", "fd00::/127", "fd00::1/128"),
]
WITNESSES = [
    Endpoint(host, port)
    for host in (
        *("hq", "a.hq", "b.hq", "a.b.hq", "c.b.hq", "a.c.b.hq", "10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.1.1"),
        *("10.1.0.0", "10.1.0.1", "10.2.0.0", "11.0.0.0", "fd00::", "fd00::1", "fd00::2", "fe00::1"),
    )
    for port in (1, 9092, 9093)
]


def nested_patterns() -> Iterator[Pattern]:
    for text in NESTED:
        if "/" in text:
            yield parse_rule(f"{text}={text}").pattern
            continue
        for port in ("", ":1", ":9092"):
            yield parse_rule(f"{text}{port}=target{port}").pattern


def test_a_rule_contains_another_where_it_matches_all_of_it_and_only_there() -> None:
    patterns = [(pattern, frozenset(filter(pattern.matches, WITNESSES))) for pattern in nested_patterns()]
    wrong = [
        f"{outer} contains {inner}: {outer.contains(inner)}"
        for outer, by_outer in patterns
        for inner, by_inner in patterns
        if outer.contains(inner) != (by_inner <= by_outer)
    ]
    assert wrong == []
    assert sum(outer.contains(inner) for outer, _ in patterns for inner, _ in patterns) > 2 * len(patterns)


def kinds_of(text: str) -> list[str]:
    """The faults of a text; when there are none, the text is a map that reads the same again."""
    try:
        address_map = AddressMap.parse(text)
    except ConfigError as caught:
        return [problem.code for problem in caught.problems if problem.hint and problem.location.line]
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
