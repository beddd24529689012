"""Finds rules of a valid map that are never used, or that are probably a mistake.

| code | severity | what |
|---|---|---|
| `contradicting-rule` | error | an earlier rule has the same advertised side and another target |
| `shadowed-rule` | error | an earlier rule matches all endpoints of this one |
| `duplicate-rule` | warning | the same rule again |
| `reversed-rule` | warning | a bootstrap server is on the advertised side, and none on the reachable side |
| `chained-rule` | warning | the target is itself advertised, but is not translated again |
| `shared-target` | warning | two advertised endpoints have one target: correct only for two names of one broker |

Bootstrap servers can be dialled, so their hosts belong on the reachable side. `reversed-rule` is only a warning,
because a broker's advertised name may be listed as a bootstrap server and translated.

A rule shadows every later rule whose endpoints it matches completely: a host its `host:port` rules, a network its
subnets. Two rules that only together shadow a third are not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brokernat.address.address_map import AddressMap
from brokernat.address.endpoint import Endpoint
from brokernat.address.host import bracketed
from brokernat.address.rules import (
    CidrRule,
    HostPortRule,
    HostRule,
    Network,
    NodeIdRule,
    OneHost,
    Pattern,
    Rule,
    WildcardRule,
)
from brokernat.errors import Finding, Location, Severity


def lint(address_map: AddressMap, bootstrap_servers: Sequence[Endpoint] = ()) -> tuple[Finding, ...]:
    """All findings, in the order of the rules.

    Args:
        bootstrap_servers: those of the map's cluster; without them reversed rules are not found.
    """
    rules = address_map.rules
    found: list[Finding] = []
    for index, rule in enumerate(rules):
        found += (
            list(_hidden(rules, index))
            or list(_reversed(rule, index, bootstrap_servers))
            or (*_chained(rules, index), *_shared(rules, index))
        )
    return tuple(found)


def _finding(code: str, severity: Severity, message: str, hint: str, rules: tuple[int, ...]) -> Finding:
    return Finding(code, message, hint, Location(path=f"rule {rules[-1] + 1}"), severity=severity, rules=rules)


def _hidden(rules: tuple[Rule, ...], index: int) -> Iterator[Finding]:
    rule = rules[index]
    first = next((i for i in range(index) if rules[i].pattern.contains(rule.pattern)), None)
    if first is None:
        return
    earlier, pair = rules[first], (first, index)
    if earlier == rule:
        message = f"the map has the rule `{rule}` twice"
        yield _finding("duplicate-rule", Severity.WARNING, message, "remove one of them", pair)
    elif earlier.pattern == rule.pattern:
        message = f"the rule `{rule}` is never used: the earlier rule `{earlier}` has another target"
        yield _finding("contradicting-rule", Severity.ERROR, message, "keep the correct one", pair)
    else:
        message = f"the rule `{rule}` is never used: the earlier rule `{earlier}` matches all its addresses"
        yield _finding("shadowed-rule", Severity.ERROR, message, "put the narrower rule first", pair)


def _reversed(rule: Rule, index: int, servers: Sequence[Endpoint]) -> Iterator[Finding]:
    target = _target(rule)
    if target is None or isinstance(rule, WildcardRule) or any(target.hosts.has(each.host) for each in servers):
        return
    server = next((each for each in servers if rule.pattern.hosts.has(each.host)), None)
    if server is not None:
        message = f"the rule `{rule}` may be reversed: its advertised side is the host of the bootstrap server {server}"
        hint = f"a rule is written `advertised = reachable`; reversed, it is `{target} = {rule.pattern}`"
        yield _finding("reversed-rule", Severity.WARNING, message, hint, (index,))


def _chained(rules: tuple[Rule, ...], index: int) -> Iterator[Finding]:
    rule = rules[index]
    target = _target(rule)
    if target is None or target == rule.pattern:
        return
    following = next((i for i, other in enumerate(rules) if i != index and other.pattern.contains(target)), None)
    if following is not None:
        message = f"the target of `{rule}` is itself advertised: `{rules[following]}`"
        final = _final(rule, rules[following])
        write = f"write `{rule.pattern} = {final}`" if final else "write the final target"
        hint = f"an endpoint is translated only once: {write}, or keep the rule if the networks overlap"
        yield _finding("chained-rule", Severity.WARNING, message, hint, (following, index))


def _shared(rules: tuple[Rule, ...], index: int) -> Iterator[Finding]:
    rule = rules[index]
    if not isinstance(rule, HostPortRule | HostRule | CidrRule):
        return
    for first, other in enumerate(rules[:index]):
        same = type(other) is type(rule) and other.reachable == rule.reachable and other.advertised != rule.advertised
        # A rule that is never used shares no target.
        if same and not any(_hidden(rules, first)):
            message = f"`{other}` and `{rule}` have the same target"
            hint = (
                "each broker needs its own endpoint, unless one broker has both, or a gateway chooses by the TLS name"
            )
            yield _finding("shared-target", Severity.WARNING, message, hint, (first, index))
            return


def _final(rule: Rule, following: Rule) -> str | None:
    """The endpoint if the second rule translated the first one's target; None if it depends on the port."""
    if isinstance(rule, HostPortRule) and not isinstance(following, NodeIdRule):
        return str(following.translate(rule.reachable))
    if isinstance(rule, HostRule) and isinstance(following, HostRule):
        return bracketed(following.reachable)
    return None


def _target(rule: Rule) -> Pattern | None:
    """The reachable side of a rule, as a pattern."""
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
