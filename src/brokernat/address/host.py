"""Hosts as text: names, IPv4 and IPv6 addresses in their canonical form.

If the last label is a number, the text must be a valid IPv4 address: resolvers interpret `10.1` and `010.0.0.1`
differently, so they are refused. IPv6 is stored without brackets, in the form of RFC 5952. IPv4-mapped addresses end in
dotted form (`::ffff:192.0.2.1`); this module formats them, because Python's form changed in 3.13.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from brokernat.address.faults import fault

_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
_MAX_NAME = 253  # RFC 1035 2.3.4: 255 octets on the wire


def parse_host(text: str) -> str:
    """A name, an IPv4 address or an IPv6 address without brackets, normalised.

    Raises:
        ConfigError: code `empty-host`, `bad-host`, `bad-ipv4` or `bad-ipv6`.
    """
    if ":" in text:
        return parse_ipv6(text)
    if not text:
        raise fault("empty-host", "the host is missing")
    labels = text.removesuffix(".").split(".")
    if labels[-1].isascii() and labels[-1].isdigit():
        return parse_ipv4(text)
    return _parse_name(text)


def parse_ipv4(text: str) -> str:
    """Four decimals without leading zeros."""
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise fault("bad-ipv4", f"`{text}` is not an IPv4 address") from None


def parse_ipv6(text: str) -> str:
    """An address without brackets and zone, in the form of RFC 5952."""
    try:
        if "%" in text:
            raise AddressValueError
        return format_ip(IPv6Address(text))
    except AddressValueError:
        raise fault("bad-ipv6", f"`{text}` is not an IPv6 address") from None


def format_ip(address: IPv4Address | IPv6Address) -> str:
    """The canonical text, without brackets."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return f"::ffff:{mapped}" if mapped else address.compressed


def as_ip(host: str) -> IPv4Address | IPv6Address | None:
    """A normalised host as an address, or None for a name."""
    if ":" in host:
        return IPv6Address(host)
    return IPv4Address(host) if host.rpartition(".")[2].isdigit() else None


def bracketed(host: str) -> str:
    """The host as written in an endpoint or a rule, IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def is_wildcard(host: str) -> bool:
    """Whether servers bind the host for every address; nobody can dial it."""
    return host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


def _parse_name(text: str) -> str:
    # Checked before lowercasing: the lower case of the Kelvin sign is an ASCII k.
    name = text.removesuffix(".")
    if len(name) > _MAX_NAME or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise fault("bad-host", f"`{text}` is not a host name")
    return name.lower()
