"""What kind of place a host is, by how it is written; nothing is looked up."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from brokernat.address import Endpoint
from brokernat.errors import ConfigError

_INSIDE = (".svc", ".internal", ".local", ".lan", ".intern", ".docker", ".cluster")


def address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is, IPv4 where it is written as IPv6 (RFC 4291, 2.5.5.2); None for a name."""
    try:
        place = ip_address(host)
    except ValueError:
        return None
    return getattr(place, "ipv4_mapped", None) or place


def is_loopback(host: str) -> bool:
    """Whether a host is the machine that dials it (names: RFC 6761, 6.3)."""
    place = address(host)
    name = host.lower().rstrip(".")
    return name == "localhost" or name.endswith(".localhost") if place is None else place.is_loopback


def inside_name(host: str) -> bool:
    """Whether a host is a name that usually only its own network knows: of one label, or as Docker and clouds say."""
    name = host.lower().rstrip(".")
    if not name or name == "localhost" or address(name) is not None:
        return False
    return "." not in name or name.endswith(_INSIDE)


def network(host: str) -> IPv4Network | IPv6Network:
    """The surroundings of an address, as far as one usually routes: 16 bits of IPv4, 48 of IPv6.

    An address of a link has its zone behind it (`fe80::1%eth0`), which says nothing about the network.
    """
    return ip_network(f"{host.partition('%')[0]}/{48 if ':' in host else 16}", strict=False)


def dialable(host: str, port: int) -> bool:
    """Whether host and port make an endpoint."""
    try:
        Endpoint(host, port)
    except ConfigError:
        return False
    return True
