"""What the advertised side of a rule stands for: a set of hosts, and one port or every port.

Two questions are asked: does an endpoint belong to it (translation), and does it contain another pattern (lint: a rule
behind one that contains it can never be used).
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from brokernat.address.endpoint import Endpoint
from brokernat.address.host import as_ip, bracketed, format_ip

IpNetwork = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class OneHost:
    """One name or address."""

    host: str

    def has(self, host: str) -> bool:
        return host == self.host

    def contains(self, other: Hosts) -> bool:
        return other == self or (isinstance(other, Network) and other.only_host() == self.host)

    def __str__(self) -> str:
        return bracketed(self.host)


@dataclass(frozen=True, slots=True)
class Subdomains:
    """Every name of one or more labels before the domain; never the domain itself."""

    domain: str

    def has(self, host: str) -> bool:
        return host.endswith(f".{self.domain}")

    def contains(self, other: Hosts) -> bool:
        match other:
            case OneHost(host):
                return self.has(host)
            case Subdomains(domain):
                return domain == self.domain or self.has(domain)
            case _:
                return False

    def __str__(self) -> str:
        return f"*.{self.domain}"


@dataclass(frozen=True, slots=True)
class Network:
    """Every address of a network; a name never belongs to it, whatever it resolves to."""

    network: IpNetwork

    def has(self, host: str) -> bool:
        address = as_ip(host)
        return address is not None and address in self.network

    def contains(self, other: Hosts) -> bool:
        match other:
            case OneHost(host):
                return self.has(host)
            case Network(network):
                return network.version == self.network.version and network.subnet_of(self.network)  # type: ignore[arg-type]
            case _:
                return False

    def only_host(self) -> str | None:
        """The one address of a /32 or a /128."""
        return format_ip(self.network.network_address) if self.network.num_addresses == 1 else None

    def __str__(self) -> str:
        return format_network(self.network)


Hosts = OneHost | Subdomains | Network


@dataclass(frozen=True, slots=True)
class Pattern:
    """Hosts, and a port; None stands for every port."""

    hosts: Hosts
    port: int | None = None

    def matches(self, endpoint: Endpoint) -> bool:
        return self.port in (None, endpoint.port) and self.hosts.has(endpoint.host)

    def contains(self, other: Pattern) -> bool:
        """Whether every endpoint of `other` belongs to this pattern as well."""
        return self.port in (None, other.port) and self.hosts.contains(other.hosts)

    def __str__(self) -> str:
        return str(self.hosts) if self.port is None else f"{self.hosts}:{self.port}"


def format_network(network: IpNetwork) -> str:
    """address/length, the address in canonical form."""
    return f"{format_ip(network.network_address)}/{network.prefixlen}"
