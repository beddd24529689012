"""Finds rules of a valid map that are never used, or that are probably a mistake.

| code | severity | what |
|---|---|---|
| `contradicting-rule` | error | an earlier rule has the same advertised side and another target |
| `shadowed-rule` | error | an earlier rule matches everything that this one would |
| `duplicate-rule` | warning | the same rule again |
| `chained-rule` | warning | the target is itself advertised: people expect a second translation, which never happens |
| `shared-target` | warning | two advertised endpoints are dialled at one: right for two names of one broker only |

A rule hides every later rule whose endpoints it all matches: a host hides its `host:port` rules, a network its subnets.
Two rules that hide a third only together are not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from brokernat.address.address_map import AddressMap
from brokernat.address.endpoint import Endpoint
from brokernat.address.pattern import Network, OneHost, Pattern
from brokernat.address.rules import CidrRule, HostPortRule, HostRule, NodeIdRule, Rule, WildcardRule
from brokernat.errors import Severity


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One finding. `rules` are indexes into the map; the last one is the rule to change."""

    code: str
    severity: Severity
    message: str
    hint: str
    rules: tuple[int, ...]


def lint(address_map: AddressMap) -> tuple[LintFinding, ...]:
    """All findings, in the order of the rules."""
    rules = address_map.rules
    found: list[LintFinding] = []
    for index in range(len(rules)):
        hidden = list(_hidden(rules, index))
        found += hidden or (*_chained(rules, index), *_shared(rules, index))
    return tuple(found)


def _hidden(rules: tuple[Rule, ...], index: int) -> Iterator[LintFinding]:
    rule = rules[index]
    first = next((i for i in range(index) if rules[i].pattern.contains(rule.pattern)), None)
    if first is None:
        return
    earlier, pair = rules[first], (first, index)
    if earlier == rule:
        message = f"the rule `{rule}` stands in the map twice"
        yield LintFinding("duplicate-rule", Severity.WARNING, message, "remove one of them", pair)
    elif earlier.pattern == rule.pattern:
        message = f"the rule `{rule}` is never used: `{earlier}` stands before it and has another target"
        yield LintFinding("contradicting-rule", Severity.ERROR, message, "keep the right one", pair)
    else:
        message = f"the rule `{rule}` is never used: `{earlier}` stands before it and matches all of it"
        yield LintFinding("shadowed-rule", Severity.ERROR, message, "put the narrower rule first", pair)


def _chained(rules: tuple[Rule, ...], index: int) -> Iterator[LintFinding]:
    rule = rules[index]
    target = _target(rule)
    if target is None or target == rule.pattern:
        return
    following = next((i for i, other in enumerate(rules) if i != index and other.pattern.contains(target)), None)
    if following is not None:
        message = f"the target of `{rule}` is itself advertised: `{rules[following]}`"
        hint = "an endpoint is translated once: write what is dialled in the end, or leave it when the networks overlap"
        yield LintFinding("chained-rule", Severity.WARNING, message, hint, (following, index))


def _shared(rules: tuple[Rule, ...], index: int) -> Iterator[LintFinding]:
    rule = rules[index]
    if not isinstance(rule, HostPortRule | HostRule | CidrRule):
        return
    for first, other in enumerate(rules[:index]):
        same = type(other) is type(rule) and other.reachable == rule.reachable and other.advertised != rule.advertised
        # A rule that is never used shares nothing.
        if same and not any(_hidden(rules, first)):
            message = f"`{other}` and `{rule}` have one target"
            hint = "each broker needs an endpoint of its own, unless both sides are names of one broker"
            yield LintFinding("shared-target", Severity.WARNING, message, hint, (first, index))
            return


def _target(rule: Rule) -> Pattern | None:
    """What a rule makes clients dial, as a pattern."""
    match rule:
        case HostPortRule(_, Endpoint(host, port)):
            return Pattern(OneHost(host), port)
        case HostRule(_, host):
            return Pattern(OneHost(host))
        case CidrRule(_, network):
            return Pattern(Network(network))
        case WildcardRule():
            return Pattern(OneHost(rule.reachable_host), rule.reachable_port)
        case NodeIdRule():
            return None
