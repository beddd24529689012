"""iptables on the node of a client: a text for `iptables-restore` and `ip6tables-restore`, one chain of our own.

`iptables-restore` empties a whole table unless it is told `--noflush`: without that word it would take Docker's rules
with it, so the commands in the header have it. With it our chain is emptied and filled again, and nothing else is
touched. `-4` and `-6` in front of a rule let both tools read one file (iptables(8)).
"""

from __future__ import annotations

from collections.abc import Sequence

from brokernat.address.host import bracketed, format_ip
from brokernat.address.pattern import format_network
from brokernat.render.header import Header
from brokernat.render.naming import identifier
from brokernat.render.redirects import CAN, LIMITS, Redirect, redirects
from brokernat.render.subject import Subject

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
        *(_rule(chain, redirect) for redirect in found),
        "COMMIT",
    ]
    return "\n".join((_header(chain, found).text(subject), *lines)) + "\n"


def _rule(chain: str, redirect: Redirect) -> str:
    match = f"-{redirect.version} -A {chain} -d {format_network(redirect.advertised)} -p tcp"
    if not redirect.one_host:
        return f"{match} -j NETMAP --to {format_network(redirect.reachable)}"
    host = format_ip(redirect.reachable.network_address)
    if redirect.advertised_port is None:
        return f"{match} -j DNAT --to-destination {host}"
    to = f"{bracketed(host)}:{redirect.reachable_port}"
    return f"{match} --dport {redirect.advertised_port} -j DNAT --to-destination {to}"


def _header(chain: str, found: Sequence[Redirect]) -> Header:
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
