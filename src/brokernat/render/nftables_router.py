"""nftables for a router that gives each broker another address, host to host, ports kept (situation 2).

The table is created anew by its file, so loading it twice changes nothing and no other table is touched. Only
connections that were translated pass: the brokers' own addresses stay closed from outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostNat:
    """Clients dial `outside`, the broker has `inside`; IPv4 addresses."""

    outside: str
    inside: str


def nftables_router(nats: Iterable[HostNat], *, table: str = "brokernat") -> str:
    """A file for `nft -f` that holds one table and replaces it when loaded again."""
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
