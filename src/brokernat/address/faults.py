"""The faults of a rule: a stable kind and a hint for each.

The Python, Java and C parsers report the same kinds (`tests/vectors/address_map/`); only the messages differ. A rule
has at most one fault, the first from left to right, so that all parsers report the same one.
"""

from __future__ import annotations

from brokernat.errors import ConfigError, Finding

HINTS = {
    "arrow": "write `=` between the sides: `192.168.1.23:9092 = 172.10.1.40:9093`",
    "missing-equals": "write `advertised = reachable`, for example `192.168.1.23:9092 = 172.10.1.40:9093`",
    "extra-equals": "separate rules by `,` or by new lines, not by blanks",
    "empty-side": "a rule has an advertised side and a reachable side: `192.168.1.23:9092 = 172.10.1.40:9093`",
    "blank-inside": "separate rules by `,` or by new lines; an endpoint holds no blanks",
    "listener-url": "write host and port only, without the listener's protocol: `kafka-1:9092`",
    "empty-host": "put a name or an address before the port: `kafka-1:9092`",
    "bad-host": "names hold letters, digits, `-`, `_` and dots; international names are written as `xn--…`",
    "bad-ipv4": "write four decimals from 0 to 255 without leading zeros: `192.168.1.23`",
    "bad-ipv6": "write an IPv6 address in brackets, without a zone: `[fd00::1]:9092`",
    "bare-ipv6": "write an IPv6 address in brackets: `[fd00::1]` or `[fd00::1]:9092`",
    "bad-port": "a port is a number from 1 to 65535",
    "missing-port": "an endpoint is `host:port`, for example `172.10.1.40:9093`",
    "port-on-one-side": "give a port on both sides, or on neither to keep the port",
    "bad-cidr": "write a network as address/length: `10.1.0.0/24` or `fd00:1::/64`",
    "cidr-with-port": "a network rule keeps the port: leave the port out on both sides",
    "cidr-host-bits": "a network is written with its host bits zero",
    "cidr-one-side": "translate a network to a network of the same size: `10.1.0.0/24 = 10.9.0.0/24`",
    "cidr-family-differs": "both networks are IPv4, or both are IPv6",
    "cidr-size-differs": "both networks have the same prefix length, so that host bits can be kept",
    "bad-wildcard": "a wildcard is `*.` before a domain: `*.hq.internal`",
    "wildcard-target": "one endpoint is dialled: write the gateway's name or address on the right",
    "template-advertised": "the node id is for the reachable side: `*.hq.internal:9092 = gateway:{9092+id}`",
    "bad-template": "the port may be `{BASE+id}` with a base from 1 to 65535: `gateway:{9092+id}`",
    "needs-node-id": "only a proxy knows node ids; clients need one `host:port` rule for each broker",
}


def fault(kind: str, message: str, *, hint: str | None = None, details: tuple[str, ...] = ()) -> ConfigError:
    """The error for one fault; `hint` replaces the hint of the kind."""
    return ConfigError(Finding(kind, message, hint or HINTS[kind], details=details))
