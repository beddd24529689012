"""nftables on the node of a client: a file that holds one table of our own and replaces it when loaded again."""

from __future__ import annotations

from brokernat.address.host import bracketed, format_ip
from brokernat.address.pattern import format_network
from brokernat.render.header import Header
from brokernat.render.naming import identifier
from brokernat.render.redirects import CAN, LIMITS, Redirect, redirects
from brokernat.render.subject import Subject

_FAMILIES = {4: "ip", 6: "ip6"}


def nftables(subject: Subject) -> str:
    """The file for a cluster.

    Raises:
        NotExpressibleError: a rule is about names, or changes between IPv4 and IPv6.
    """
    table = f"inet {identifier(subject.cluster)}"
    rules = "\n".join(f"        {_rule(redirect)}" for redirect in redirects(subject.address_map))
    return f"""{_header(table).text(subject)}
table {table}
delete table {table}

table {table} {{
    chain output {{
        type nat hook output priority -100; policy accept;
{rules}
    }}
}}
"""


def _rule(redirect: Redirect) -> str:
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


def _header(table: str) -> Header:
    return Header(
        title="Kafka by nftables on the node of the client",
        can=CAN,
        cannot=LIMITS,
        check=("nft -c -f FILE",),
        apply=("nft -f FILE", "to remove it:", f"nft delete table {table}"),
    )
