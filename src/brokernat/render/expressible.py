"""The table of rules that a target cannot express.

A file that lacks a rule would leave a broker unreachable, so such a map is refused; the error names all these rules and
an alternative. Other limits (a hosts file applies to all ports, nginx resolves a name once) are no error; the header of
the file states them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from brokernat.address import AddressMap, CidrRule, HostPortRule, HostRule, NodeIdRule, Rule, WildcardRule
from brokernat.address.endpoint import as_ip
from brokernat.errors import NotExpressibleError


class Means(Enum):
    """The kinds of targets; targets of one kind can express the same rules."""

    CLIENT = "a client's configuration"
    GATEWAY = "a gateway with one port for each broker"
    HOSTS = "a hosts file"
    DNAT = "the kernel's NAT"


@dataclass(frozen=True, slots=True)
class _Refusal:
    concerns: Callable[[Rule], bool]
    because: str


def _is_node_id(rule: Rule) -> bool:
    return isinstance(rule, NodeIdRule)


def _is_wildcard(rule: Rule) -> bool:
    return isinstance(rule, WildcardRule)


def _is_network(rule: Rule) -> bool:
    return isinstance(rule, CidrRule)


def _changes_port(rule: Rule) -> bool:
    return isinstance(rule, HostPortRule) and rule.advertised.port != rule.reachable.port


def _hosts(rule: Rule) -> tuple[str, str] | None:
    match rule:
        case HostPortRule():
            return rule.advertised.host, rule.reachable.host
        case HostRule():
            return rule.advertised, rule.reachable
        case _:
            return None


def _advertises_address(rule: Rule) -> bool:
    hosts = _hosts(rule)
    return hosts is not None and as_ip(hosts[0]) is not None


def _advertises_name(rule: Rule) -> bool:
    hosts = _hosts(rule)
    return hosts is not None and as_ip(hosts[0]) is None


def _leads_to_name(rule: Rule) -> bool:
    hosts = _hosts(rule)
    return hosts is not None and as_ip(hosts[1]) is None


def _changes_family(rule: Rule) -> bool:
    advertised, reachable = (as_ip(host) for host in _hosts(rule) or ("", ""))
    return advertised is not None and reachable is not None and advertised.version != reachable.version


_NODE_ID = _Refusal(_is_node_id, "only a Kafka-aware proxy knows the node id")

REFUSALS = {
    Means.CLIENT: (_NODE_ID,),
    Means.GATEWAY: (
        _NODE_ID,
        _Refusal(_is_wildcard, "a wildcard names no broker, and a gateway needs the address of each one"),
    ),
    Means.HOSTS: (
        _NODE_ID,
        _Refusal(_is_wildcard, "a hosts file has no wildcards"),
        _Refusal(_is_network, "clients resolve names, not IP addresses"),
        _Refusal(_advertises_address, "clients resolve names, not IP addresses"),
        _Refusal(_changes_port, "a hosts file has no ports"),
        _Refusal(_leads_to_name, "the target in a hosts file is an address, not a name"),
    ),
    Means.DNAT: (
        _NODE_ID,
        _Refusal(_is_wildcard, "packets carry addresses, not names"),
        _Refusal(_advertises_name, "packets carry addresses, not names"),
        _Refusal(_leads_to_name, "packets carry addresses, not names"),
        _Refusal(_changes_family, "NAT does not change between IPv4 and IPv6"),
    ),
}

_OTHER = {Means.HOSTS: (Means.DNAT, "`iptables` or `nftables`"), Means.DNAT: (Means.HOSTS, "`hosts`")}
"""What may express a map instead, and its commands."""


def require_expressible(address_map: AddressMap, means: Means) -> None:
    """Refuse a map with rules that `means` cannot express.

    Raises:
        NotExpressibleError: names all such rules with the reasons.
    """
    reasons = ((rule, _reason(rule, means)) for rule in address_map.rules)
    refuse(address_map, means, [(rule, because) for rule, because in reasons if because is not None])


def refuse(address_map: AddressMap, means: Means, refused: Iterable[tuple[Rule, str]]) -> None:
    """Refuse a map because of these of its rules, each with its reason; without a rule nothing happens.

    Raises:
        NotExpressibleError: there is at least one rule.
    """
    reasons = [f"  {rule}: {because}" for rule, because in refused]
    if reasons:
        message = "\n".join((f"{means.value} cannot express every rule of the address map:", *reasons))
        raise NotExpressibleError(message, hint=_instead(address_map, means))


def _instead(address_map: AddressMap, means: Means) -> str:
    if means not in _OTHER:
        return "write one `host:port` rule for each broker"
    other, commands = _OTHER[means]
    able = all(_reason(rule, other) is None for rule in address_map.rules)
    return "give the map to the clients themselves (`brokernat map export`)" + (f", or use {commands}" if able else "")


def _reason(rule: Rule, means: Means) -> str | None:
    return next((refusal.because for refusal in REFUSALS[means] if refusal.concerns(rule)), None)
