"""Finds rules of a valid map that are never used, or that are probably a mistake.

| code | severity | what |
|---|---|---|
| `contradicting-rule` | error | an earlier rule has the same advertised side and another target |
| `shadowed-rule` | error | an earlier rule matches all endpoints of this one |
| `duplicate-rule` | warning | the same rule again |
| `reversed-rule` | warning | a bootstrap server is on the advertised side, and the map speaks for exchanged sides |
| `chained-rule` | warning | the target is itself advertised, but is not translated again |
| `shared-target` | warning | two advertised endpoints have one target: correct only for two names of one broker |

Bootstrap servers are usually dialled as they are, so their hosts belong on the reachable side. But a broker's
advertised name may be a bootstrap server, too, for the name in its certificate, and the map translates it. So
`reversed-rule` needs more: another rule leads to that host, the rules of its ports lead to several hosts, or a
bootstrap server of that host has no rule.

A rule shadows every later rule whose endpoints it matches completely: a host its `host:port` rules, a network its
subnets. Two rules that only together shadow a third are not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_network

from brokernat.address.address_map import AddressMap
from brokernat.address.endpoint import Endpoint, as_ip, bracketed
from brokernat.address.rules import (
    CidrRule,
    HostPortRule,
    HostRule,
    Hosts,
    Network,
    NodeIdRule,
    OneHost,
    Pattern,
    Rule,
    Subdomains,
    WildcardRule,
)
from brokernat.errors import Finding, Location, Severity


def lint(address_map: AddressMap, bootstrap_servers: Sequence[Endpoint] = ()) -> tuple[Finding, ...]:
    """All findings, in the order of the rules.

    Args:
        bootstrap_servers: those of the map's cluster; without them reversed rules are not found.
    """
    rules = _Rules(address_map.rules)
    found: list[Finding] = []
    for index in range(len(rules.all)):
        found += (
            list(_hidden(rules, index))
            or list(_reversed(rules, index, bootstrap_servers))
            or (*_chained(rules, index), *_shared(rules, index))
        )
    return tuple(found)


class _Rules:
    """The rules of a map, indexed by the hosts of their patterns and by their targets."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.all = rules
        self.patterns = [rule.pattern for rule in rules]
        self._of_hosts: dict[Hosts, list[int]] = {}
        self._of_target: dict[object, list[int]] = {}
        for index, (rule, pattern) in enumerate(zip(rules, self.patterns, strict=True)):
            self._of_hosts.setdefault(pattern.hosts, []).append(index)
            self._of_target.setdefault(_shareable(rule), []).append(index)
        self._targets_of: dict[Hosts, set[Hosts]] = {}
        for rule in rules:
            if (target := _target(rule)) is not None:
                self._targets_of.setdefault(rule.pattern.hosts, set()).add(target.hosts)
        self._targets = set().union(*self._targets_of.values())
        self._lengths = {each.network.prefixlen for each in self._of_hosts if isinstance(each, Network)}

    def containing(self, pattern: Pattern) -> Iterator[int]:
        """The rules that match every endpoint of the pattern, in their order."""
        found = {i for hosts in self._holders(pattern.hosts) for i in self._of_hosts.get(hosts, ())}
        return (i for i in sorted(found) if self.patterns[i].contains(pattern))

    def _holders(self, hosts: Hosts) -> Iterator[Hosts]:
        """The sets of hosts that contain this one; of networks, those of a length that the map has."""
        yield hosts
        if isinstance(hosts, Network) and (only := hosts.only_host()) is not None:
            yield OneHost(only)
        if isinstance(hosts, Subdomains) or (isinstance(hosts, OneHost) and as_ip(hosts.host) is None):
            labels = (hosts.domain if isinstance(hosts, Subdomains) else hosts.host).split(".")
            yield from (Subdomains(".".join(labels[n:])) for n in range(1, len(labels)))
            return
        network = hosts.network if isinstance(hosts, Network) else ip_network(hosts.host)
        yield from (
            Network(network.supernet(new_prefix=length)) for length in self._lengths if length <= network.prefixlen
        )

    def hiding(self, index: int) -> int | None:
        """The first earlier rule that matches every endpoint of this one."""
        return next((i for i in self.containing(self.patterns[index]) if i < index), None)

    def why_exchanged(self, hosts: Hosts, servers: Sequence[Endpoint]) -> str | None:
        """What speaks for exchanged sides where advertised hosts are those of bootstrap servers, None if nothing does.

        Args:
            hosts: of the advertised side.
            servers: the bootstrap servers that they hold.
        """
        if hosts in self._targets:
            return f"another rule leads to {hosts}"
        if len(self._targets_of[hosts]) > 1:
            return f"the rules of {hosts} lead to several hosts"
        by_itself = (each for each in servers if not any(pattern.matches(each) for pattern in self.patterns))
        return next((f"no rule translates {each}" for each in by_itself), None)

    def sharing_target(self, index: int) -> Iterator[int]:
        """The earlier rules of other endpoints that lead where this one leads, in their order."""
        target = _shareable(self.all[index])
        same = self._of_target[target] if target is not None else ()
        return (i for i in same if i < index and self.patterns[i] != self.patterns[index])


def _shareable(rule: Rule) -> object | None:
    """The target of a rule, None if the rules of several brokers may have it."""
    return (type(rule), rule.reachable) if isinstance(rule, HostPortRule | HostRule | CidrRule) else None


def _finding(code: str, severity: Severity, message: str, hint: str, rules: tuple[int, ...]) -> Finding:
    return Finding(code, message, hint, Location(path=f"rule {rules[-1] + 1}"), severity=severity, rules=rules)


def _hidden(rules: _Rules, index: int) -> Iterator[Finding]:
    first = rules.hiding(index)
    if first is None:
        return
    rule, earlier, pair = rules.all[index], rules.all[first], (first, index)
    if earlier == rule:
        message = f"the map has the rule `{rule}` twice"
        yield _finding("duplicate-rule", Severity.WARNING, message, "remove one of them", pair)
    elif earlier.pattern == rule.pattern:
        message = f"the rule `{rule}` is never used: the earlier rule `{earlier}` has another target"
        yield _finding("contradicting-rule", Severity.ERROR, message, "keep the correct one", pair)
    else:
        message = f"the rule `{rule}` is never used: the earlier rule `{earlier}` matches all its addresses"
        yield _finding("shadowed-rule", Severity.ERROR, message, "put the narrower rule first", pair)


def _reversed(rules: _Rules, index: int, servers: Sequence[Endpoint]) -> Iterator[Finding]:
    rule = rules.all[index]
    target = _target(rule)
    if target is None or isinstance(rule, WildcardRule) or any(target.hosts.has(each.host) for each in servers):
        return
    advertised = [server for server in servers if rule.pattern.hosts.has(server.host)]
    why = rules.why_exchanged(rule.pattern.hosts, advertised) if advertised else None
    if why is not None:
        host = f"its advertised side is the host of the bootstrap server {advertised[0]}"
        message = f"the rule `{rule}` may be reversed: {host}, and {why}"
        hint = f"a rule is written `advertised = reachable`; reversed, it is `{target} = {rule.pattern}`"
        yield _finding("reversed-rule", Severity.WARNING, message, hint, (index,))


def _chained(rules: _Rules, index: int) -> Iterator[Finding]:
    rule = rules.all[index]
    target = _target(rule)
    if target is None or target == rule.pattern:
        return
    following = next((i for i in rules.containing(target) if i != index), None)
    if following is not None:
        message = f"the target of `{rule}` is itself advertised: `{rules.all[following]}`"
        final = _final(rule, rules.all[following])
        write = f"write `{rule.pattern} = {final}`" if final else "write the final target"
        hint = f"an endpoint is translated only once: {write}, or keep the rule if the networks overlap"
        if final == str(rule.pattern):
            hint = "each leads to the other one: remove the rule whose sides are exchanged"
        yield _finding("chained-rule", Severity.WARNING, message, hint, (following, index))


def _shared(rules: _Rules, index: int) -> Iterator[Finding]:
    # A rule that is never used shares no target.
    first = next((i for i in rules.sharing_target(index) if rules.hiding(i) is None), None)
    if first is not None:
        message = f"`{rules.all[first]}` and `{rules.all[index]}` have the same target"
        hint = "each broker needs its own endpoint, unless one broker has both, or a gateway chooses by the TLS name"
        yield _finding("shared-target", Severity.WARNING, message, hint, (first, index))


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
