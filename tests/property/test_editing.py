"""Whatever stands in a file: the proven rules lead, a second time changes nothing, and nobody's rule goes away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brokernat.address import AddressMap, Endpoint
from brokernat.address.rules import HostPortRule, HostRule
from brokernat.config.document import parse_document
from brokernat.config.editing import with_address_map, with_rules
from brokernat.config.merging import ProvenRule, leads

# Few hosts and ports, so that rules meet.
HOSTS = st.sampled_from(["a", "b", "a.d", "b.d", "10.0.0.1", "10.0.0.2", "fd00::1"])
ENDPOINTS = st.builds(Endpoint, HOSTS, st.integers(1, 3))
STANDING = st.one_of(
    st.builds("{} = {}".format, ENDPOINTS, ENDPOINTS),
    st.sampled_from(["a = x", "*.d = x", "*.d:1 = x:2", "10.0.0.0/24 = 10.9.0.0/24", "10.0.0.1 = y", "[fd00::1] = z"]),
)
COMMENTS = st.sampled_from(["", "  # rack 3", " # node 1, by apiversions, proven 2020-01-01, cluster c", "   "])
LINES = st.lists(st.tuples(STANDING, COMMENTS, st.sampled_from(["", "# between\n", "\n"])), max_size=6)


@st.composite
def proven_rules(draw: st.DrawFn) -> list[ProvenRule]:
    """As a discovery has them: a rule for each endpoint, or for each host with all its endpoints."""
    endpoints = draw(st.lists(ENDPOINTS, min_size=1, max_size=4, unique=True))
    if draw(st.booleans()):
        rules = [(HostPortRule(end, Endpoint("gw", 100 + number)), (end,)) for number, end in enumerate(endpoints)]
        return [
            ProvenRule(rule, ends, f"node {n}, by x, proven 2026-11-21, cluster c")
            for n, (rule, ends) in enumerate(rules)
        ]
    hosts = {end.host: tuple(each for each in endpoints if each.host == end.host) for end in endpoints}
    return [
        ProvenRule(HostRule(host, f"gw-{number}"), ends, f"node {number}, by x, proven 2026-11-21, cluster c")
        for number, (host, ends) in enumerate(hosts.items())
    ]


@given(LINES, proven_rules())
def test_a_rules_file(lines: list[tuple[str, str, str]], proven: list[ProvenRule]) -> None:
    text = "".join(f"{before}{rule}{comment}\n" for rule, comment, before in lines)
    edited = with_rules(text, proven)
    rules = AddressMap.parse(edited).rules
    assert leads(rules, proven)
    assert with_rules(edited, proven) == edited
    covered = [new.rule.pattern for new in proven]
    kept = [rule for rule in AddressMap.parse(text).rules if not any(each.contains(rule.pattern) for each in covered)]
    assert [rule for rule in rules if rule in kept] == kept
    assert edited.count("# between") == text.count("# between")
    assert edited.count("# rack 3") == text.count("# rack 3")


@given(LINES.filter(len), proven_rules(), st.sampled_from(["  ", "    "]), st.booleans())
def test_yaml(lines: list[tuple[str, str, str]], proven: list[ProvenRule], indent: str, flow: bool) -> None:
    head = "# mine\nclusters:\n  hq:\n    bootstrap_servers: gw:1   # here\n"
    tail = "    client:\n      sasl.password: ${env:P}\n"
    quoted = [(f'"{rule}"' if rule[0] in "*[" else f"'{rule}'", comment, before) for rule, comment, before in lines]
    if flow:
        body = f"    address_map: [{', '.join(rule for rule, _, _ in quoted)}]\n"
    else:
        body = "    address_map:\n" + "".join(
            f"{before}  {indent}- {rule}{comment}\n" for rule, comment, before in quoted
        )
    edited = with_address_map(head + body + tail, "hq", proven, "file")
    assert edited.startswith(head)
    assert edited.endswith(tail)
    document = parse_document(edited, "file")
    assert document.problems == []
    assert with_address_map(edited, "hq", proven, "file") == edited
