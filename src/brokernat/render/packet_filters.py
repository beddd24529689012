"""Renders NAT rules: iptables and nftables on the client's host, and nftables on a router with host-to-host NAT.

The rules of a map become networks and ports; a host is a network of one address. The order is kept, because both tools
use the first matching rule, as the map does.

iptables: without `--noflush`, `iptables-restore` flushes the whole table, including Docker's rules; so the commands in
the header have it, and only brokernat's chain is replaced. With `-4` and `-6` before rules, iptables-restore and
ip6tables-restore read the same file (iptables(8)).

nftables: a file contains one table and replaces it when loaded again. The router (host to host, ports kept) forwards
only translated connections: the brokers' own addresses stay closed from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_network

from brokernat.address import AddressMap, CidrRule, HostPortRule, HostRule, Rule
from brokernat.address.endpoint import bracketed, format_ip
from brokernat.address.rules import IpNetwork, format_network
from brokernat.render.expressible import Means, require_expressible
from brokernat.render.header import Header, Subject, identifier

CAN = ("Work for every program of this node without a change, a map, an agent or a plug-in.",)
LIMITS = (
    "Work without root: load it on every node that runs a client, and again after each boot.",
    "Apply in containers with their own network: load it there as well.",
    "Work without a route to the advertised addresses: connect() fails before NAT sees a packet. A default route is "
    "enough.",
    "Choose the source address: it is that of the route to the advertised address.",
    "Serve two clusters that advertise the same addresses.",
    "Distinguish Kafka from other traffic: a rule without a port redirects every TCP port of that address, ssh too.",
    "Refuse endpoints without a rule: clients dial them unchanged.",
)


@dataclass(frozen=True, slots=True)
class Redirect:
    """TCP to `advertised` goes to `reachable` with the same host bits; a port of None means every port, unchanged."""

    advertised: IpNetwork
    reachable: IpNetwork
    advertised_port: int | None = None
    reachable_port: int | None = None

    @property
    def version(self) -> int:
        """The IP version, 4 or 6, of both sides."""
        return self.advertised.version

    @property
    def one_host(self) -> bool:
        """Whether it matches one address, not a network."""
        return self.advertised.num_addresses == 1


def redirects(address_map: AddressMap) -> tuple[Redirect, ...]:
    """The rules in order.

    Raises:
        NotExpressibleError: a rule is about names, or changes between IPv4 and IPv6.
    """
    require_expressible(address_map, Means.DNAT)
    return tuple(map(_redirect, address_map.rules))


def _redirect(rule: Rule) -> Redirect:
    match rule:
        case HostPortRule(advertised, reachable):
            return Redirect(ip_network(advertised.host), ip_network(reachable.host), advertised.port, reachable.port)
        case HostRule(advertised, reachable):
            return Redirect(ip_network(advertised), ip_network(reachable))
        case CidrRule(advertised, reachable):
            return Redirect(advertised, reachable)
        case _:
            raise AssertionError(f"{rule} is refused before")


_TOOLS = {4: "iptables", 6: "ip6tables"}


def iptables(subject: Subject) -> str:
    """The text for a cluster.

    Raises:
        NotExpressibleError: a rule is about names, or changes between IPv4 and IPv6.
    """
    found = redirects(subject.address_map)
    chain = identifier(subject.cluster)
    lines = [
        "*nat",
        f":{chain} - [0:0]",
        f"-A OUTPUT -p tcp -j {chain}",
        *(_iptables_rule(chain, redirect) for redirect in found),
        "COMMIT",
    ]
    return "\n".join((_iptables_header(chain, found).text(subject), *lines)) + "\n"


def _iptables_rule(chain: str, redirect: Redirect) -> str:
    match = f"-{redirect.version} -A {chain} -d {format_network(redirect.advertised)} -p tcp"
    if not redirect.one_host:
        return f"{match} -j NETMAP --to {format_network(redirect.reachable)}"
    host = format_ip(redirect.reachable.network_address)
    if redirect.advertised_port is None:
        return f"{match} -j DNAT --to-destination {host}"
    to = f"{bracketed(host)}:{redirect.reachable_port}"
    return f"{match} --dport {redirect.advertised_port} -j DNAT --to-destination {to}"


def _iptables_header(chain: str, found: Sequence[Redirect]) -> Header:
    tools = [_TOOLS[version] for version in sorted({redirect.version for redirect in found})]
    jump = f"-D OUTPUT -p tcp -j {chain}"
    return Header(
        title="Kafka by iptables on the node of the client",
        can=CAN,
        cannot=LIMITS,
        check=[f"{tool}-restore --test FILE" for tool in tools],
        apply=[
            *(f"{tool} -t nat {jump} 2>/dev/null; {tool}-restore --noflush FILE" for tool in tools),
            "to remove it:",
            *(f"for step in '{jump}' '-F {chain}' '-X {chain}'; do {tool} -t nat $step; done" for tool in tools),
        ],
    )


_FAMILIES = {4: "ip", 6: "ip6"}


def nftables(subject: Subject) -> str:
    """The file for a cluster.

    Raises:
        NotExpressibleError: a rule is about names, or changes between IPv4 and IPv6.
    """
    table = f"inet {identifier(subject.cluster)}"
    rules = "\n".join(f"        {_nftables_rule(redirect)}" for redirect in redirects(subject.address_map))
    return f"""{_nftables_header(table).text(subject)}
table {table}
delete table {table}

table {table} {{
    chain output {{
        type nat hook output priority -100; policy accept;
{rules}
    }}
}}
"""


def _nftables_rule(redirect: Redirect) -> str:
    family = _FAMILIES[redirect.version]
    if not redirect.one_host:
        networks = f"{format_network(redirect.advertised)} : {format_network(redirect.reachable)}"
        return f"meta l4proto tcp dnat {family} prefix to {family} daddr map {{ {networks} }}"
    advertised = format_ip(redirect.advertised.network_address)
    host = format_ip(redirect.reachable.network_address)
    if redirect.advertised_port is None:
        return f"{family} daddr {advertised} meta l4proto tcp dnat {family} to {host}"
    to = f"{bracketed(host)}:{redirect.reachable_port}"
    return f"{family} daddr {advertised} tcp dport {redirect.advertised_port} dnat {family} to {to}"


def _nftables_header(table: str) -> Header:
    return Header(
        title="Kafka by nftables on the node of the client",
        can=CAN,
        cannot=LIMITS,
        check=("nft -c -f FILE",),
        apply=("nft -f FILE", "to remove it:", f"nft delete table {table}"),
    )


@dataclass(frozen=True, slots=True)
class HostNat:
    """IPv4 addresses: clients dial `outside`, the broker has `inside`."""

    outside: str
    inside: str


def nftables_router(nats: Iterable[HostNat], *, table: str = "brokernat") -> str:
    """A file for `nft -f` with one table, which it replaces when loaded again."""
    elements = ",\n            ".join(f"{nat.outside} : {nat.inside}" for nat in nats)
    return f"""\
table ip {table}
delete table ip {table}

table ip {table} {{
    map hosts {{
        type ipv4_addr : ipv4_addr
        elements = {{
            {elements}
        }}
    }}

    chain prerouting {{
        type nat hook prerouting priority dstnat; policy accept;
        dnat to ip daddr map @hosts
    }}

    chain forward {{
        type filter hook forward priority filter; policy drop;
        ct status dnat accept
    }}

    chain postrouting {{
        type nat hook postrouting priority srcnat; policy accept;
        # Brokers answer to this host, so they need no route back to the clients.
        ct status dnat masquerade
    }}
}}
"""
