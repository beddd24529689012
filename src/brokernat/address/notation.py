"""Parses the text of rules and reports the place of an error in it::

    192.168.1.23:9092 = 172.10.1.40:9093     host and port
    kafka-1 = 10.9.0.1                       host; the port does not change
    10.1.0.0/24 = 10.9.0.0/24                network; host bits and port do not change
    *.hq.internal:9092 = gateway:9093        wildcard, with ports or without
    *.hq.internal:9092 = gateway:{9092+id}   template with the node id
    kafka-1 => 10.9.0.1                      refused: the sign is `=`
    kafka-1 = 10.0.0.1:9093                  refused: which ports of kafka-1 are meant?

`,` or a line end separates rules, `#` starts a comment up to the end of the line, and blanks (space, tab) around rules
and `=` are ignored. The Java agent and the plug-in parse the same text and must report the same error for a rule, which
is the first one in the order of the checks below; `tests/vectors/address_map/` holds the cases for all three.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from brokernat.address.endpoint import Endpoint, as_ip, parse_host, parse_ipv4, parse_ipv6, parse_port, split_endpoint
from brokernat.address.faults import fault
from brokernat.address.rules import (
    CidrRule,
    HostPortRule,
    HostRule,
    Hosts,
    IpNetwork,
    NodeIdRule,
    OneHost,
    Pattern,
    Rule,
    Subdomains,
    WildcardRule,
    format_network,
)
from brokernat.errors import ConfigError, Location

_BLANKS = " \t"
_ARROW = re.compile("[-=]+>")
_TEMPLATE = re.compile(r"\{([1-9][0-9]{0,4})\+id\}", re.ASCII)
_PREFIX_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class RuleText:
    """The text of one rule, without blanks around it, and its position."""

    text: str
    location: Location


def split_rules(text: str) -> Iterator[RuleText]:
    """The rules of a text, without comments and empty entries."""
    for number, line in enumerate(_LINE_END.split(text), start=1):
        start = 0
        for entry in line.partition("#")[0].split(","):
            rule = entry.strip(_BLANKS)
            if rule:
                column = start + len(entry) - len(entry.lstrip(_BLANKS)) + 1
                yield RuleText(rule, Location(line=number, column=column))
            start += len(entry) + 1


def parse_rule(text: str) -> Rule:
    """Parses one rule.

    Raises:
        ConfigError: with one problem; its kind is a key of `faults.HINTS`.
    """
    try:
        return _parse(text)
    except ConfigError as error:
        problem = error.problems[0]
        rule = text.strip(_BLANKS)
        raise fault(problem.code, f"rule `{rule}`: {problem.message}", hint=problem.hint) from None


def _parse(text: str) -> Rule:
    arrow = _ARROW.search(text)
    if arrow:
        meant = f"{text[: arrow.start()].strip(_BLANKS)} = {text[arrow.end() :].strip(_BLANKS)}"
        raise fault(
            "arrow", f"there is `{arrow[0]}` in place of `=`", hint=f"write `{meant}`" if _is_rule(meant) else None
        )
    left, equals, right = text.partition("=")
    if not equals:
        raise fault("missing-equals", "there is no `=`")
    if "=" in right:
        raise fault("extra-equals", "there is more than one `=`")
    advertised = _parse_advertised(left.strip(_BLANKS))
    reachable = _parse_reachable(right.strip(_BLANKS))
    if isinstance(advertised, IPv4Network | IPv6Network) or isinstance(reachable, IPv4Network | IPv6Network):
        return _network_rule(advertised, reachable)
    if (advertised.port is None) != (reachable.port is None):
        raise _port_on_one_side(advertised, reachable)
    return _host_rule(advertised, reachable)


def _is_rule(text: str) -> bool:
    try:
        _parse(text)
    except ConfigError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Target:
    """A reachable side that is not a network: `port` is a number, a template's base, or absent."""

    host: str
    port: int | None
    template: bool = False


def _parse_advertised(text: str) -> Pattern | IpNetwork:
    _refuse_at_sight(text, "advertised")
    if "{" in text or "}" in text:
        raise fault("template-advertised", "the advertised side holds a template")
    if "/" in text:
        return _parse_network(text)
    host, port = split_endpoint(text)
    return Pattern(_parse_hosts(host), None if port is None else parse_port(port))


def _parse_reachable(text: str) -> _Target | IpNetwork:
    _refuse_at_sight(text, "reachable")
    if "*" in text:
        raise fault("wildcard-target", "the reachable side holds a wildcard")
    if "/" in text:
        return _parse_network(text)
    host, port = split_endpoint(text)
    if "{" in host or "}" in host:
        raise fault("bad-template", f"`{host}` holds a template where the host is")
    host = parse_host(host)
    if port is not None and ("{" in port or "}" in port):
        return _Target(host, _parse_template(port), template=True)
    return _Target(host, None if port is None else parse_port(port))


def _refuse_at_sight(text: str, side: str) -> None:
    if not text:
        raise fault("empty-side", f"the {side} side is empty")
    if any(blank in text for blank in _BLANKS):
        raise fault("blank-inside", f"the {side} side `{text}` holds a blank")
    if "://" in text:
        raise fault("listener-url", f"the {side} side `{text}` names a protocol")


def _parse_hosts(host: str) -> Hosts:
    if "*" not in host:
        return OneHost(parse_host(host))
    try:
        domain = parse_host(host.removeprefix("*.")) if host.startswith("*.") else ""
    except ConfigError:
        domain = ""
    if not domain or as_ip(domain):
        raise fault("bad-wildcard", f"`{host}` is not a wildcard")
    return Subdomains(domain)


def _parse_template(text: str) -> int:
    match = _TEMPLATE.fullmatch(text)
    if not match:
        raise fault("bad-template", f"`{text}` is not a template of a port")
    try:
        return parse_port(match[1])
    except ConfigError:
        raise fault("bad-template", f"`{text}` starts from a number that is not a port") from None


def _parse_network(text: str) -> IpNetwork:
    address, _, length = text.partition("/")
    if length and ":" in length:
        raise fault("cidr-with-port", f"the network `{text}` has a port")
    try:
        address = parse_ipv6(address) if ":" in address else parse_ipv4(address)
        if not _PREFIX_LENGTH.fullmatch(length):
            raise ValueError(length)
        network = ip_network(f"{address}/{length}", strict=False)
    except (ConfigError, ValueError):
        raise fault("bad-cidr", f"`{text}` is not a network") from None
    if str(network.network_address) != str(ip_network(address).network_address):
        hint = f"a network is written with its host bits zero: `{format_network(network)}`"
        raise fault("cidr-host-bits", f"the network `{text}` has host bits set", hint=hint)
    return network


def _network_rule(advertised: Pattern | IpNetwork, reachable: _Target | IpNetwork) -> CidrRule:
    if isinstance(advertised, Pattern) or isinstance(reachable, _Target):
        raise fault("cidr-one-side", "only one side is a network")
    if advertised.version != reachable.version:
        raise fault("cidr-family-differs", "one network is IPv4, the other IPv6")
    if advertised.prefixlen != reachable.prefixlen:
        raise fault("cidr-size-differs", f"/{advertised.prefixlen} and /{reachable.prefixlen} differ in size")
    return CidrRule(advertised, reachable)


def _host_rule(advertised: Pattern, reachable: _Target) -> Rule:
    if reachable.template and reachable.port is not None:
        return NodeIdRule(advertised, reachable.host, reachable.port)
    if isinstance(advertised.hosts, Subdomains):
        return WildcardRule(advertised.hosts.domain, advertised.port, reachable.host, reachable.port)
    assert isinstance(advertised.hosts, OneHost), "networks have rules of their own"  # noqa: S101
    if advertised.port is None or reachable.port is None:
        return HostRule(advertised.hosts.host, reachable.host)
    return HostPortRule(Endpoint(advertised.hosts.host, advertised.port), Endpoint(reachable.host, reachable.port))


def _port_on_one_side(advertised: Pattern, reachable: _Target) -> ConfigError:
    port = advertised.port or reachable.port
    left, right = str(Pattern(advertised.hosts)), str(OneHost(reachable.host))
    right_port = f"{{{port}+id}}" if reachable.template else port
    hint = f"write `{left}:{advertised.port or 9092} = {right}:{right_port}`, or `{left} = {right}` to keep every port"
    side = "advertised" if advertised.port else "reachable"
    return fault("port-on-one-side", f"only the {side} side has a port", hint=hint)
