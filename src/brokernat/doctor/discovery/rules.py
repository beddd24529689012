"""Turns matched nodes into rules, with a comment that states how each was proven; pure.

A rule for host and port is the safe form, because it covers no unprobed port. If the NAT translates hosts (all ports
are kept, and each of several advertised hosts has its own target host), a rule for the host describes it. There is
never a rule for a network, because it would cover addresses that were not probed.
"""

from __future__ import annotations

from collections.abc import Sequence

from brokernat.address import Endpoint
from brokernat.address.endpoint import as_ip
from brokernat.address.rules import CidrRule, HostPortRule, HostRule
from brokernat.config.merging import ProvenRule
from brokernat.doctor.discovery.matching import Discovery, MatchedNode
from brokernat.doctor.host_kinds import network
from brokernat.text import printable


def propose(discovery: Discovery, *, hosts: bool = True) -> tuple[ProvenRule, ...]:
    """A rule for each matched node, in the order of nodes; with `hosts` one for each host, if the ports are kept."""
    groups: dict[str, list[MatchedNode]] = {}
    by_host = hosts and host_to_host(discovery.matched)
    for each in discovery.matched:
        groups.setdefault(Endpoint.parse(each.advertised).host if by_host else each.advertised, []).append(each)
    return tuple(_rule(group, discovery, by_host=by_host) for group in groups.values())


def host_to_host(matched: Sequence[MatchedNode]) -> bool:
    """Whether every match translates only the host."""
    pairs = [(Endpoint.parse(each.advertised), Endpoint.parse(each.candidate)) for each in matched]
    hosts = {(advertised.host, candidate.host) for advertised, candidate in pairs}
    return (
        len(hosts) > 1
        and all(advertised.port == candidate.port for advertised, candidate in pairs)
        and len(hosts) == len({advertised for advertised, _ in hosts}) == len({candidate for _, candidate in hosts})
    )


def network_rule(matched: Sequence[MatchedNode]) -> CidrRule | None:
    """The rule for IPv4 networks with the same result for these hosts, None if their last numbers differ."""
    if not host_to_host(matched):
        return None
    found: set[CidrRule] = set()
    for each in matched:
        advertised, reachable = (as_ip(Endpoint.parse(text).host) for text in (each.advertised, each.candidate))
        if advertised is None or reachable is None or not advertised.version == reachable.version == 4:
            return None
        if advertised.packed[-1] != reachable.packed[-1]:
            return None
        found.add(CidrRule(network(str(advertised), small=True), network(str(reachable), small=True)))
    return found.pop() if len(found) == 1 else None


def _rule(matched: Sequence[MatchedNode], discovery: Discovery, *, by_host: bool) -> ProvenRule:
    first = matched[0]
    advertised, candidate = Endpoint.parse(first.advertised), Endpoint.parse(first.candidate)
    rule = HostRule(advertised.host, candidate.host) if by_host else HostPortRule(advertised, candidate)
    nodes = "+".join(str(each.node_id) for each in matched)
    comment = f"node {nodes}, by {first.method}, {first.confidence} {discovery.taken_at[:10]}"
    if discovery.cluster_id:
        # Untrusted text: with a line end in it, it could add its own rules.
        comment += f", cluster {printable(discovery.cluster_id)}"
    return ProvenRule(rule, tuple(Endpoint.parse(each.advertised) for each in matched), comment)
