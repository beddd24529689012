"""The five kinds of rule: which endpoints each matches, and how it translates them.

`str(rule)` is the canonical text without blanks; `notation.parse_rule(str(rule)) == rule`. The caller passes only
endpoints that the rule's pattern matches. Hosts are normalised, so two rules with the same meaning are equal.

A pattern is the advertised side of a rule: a set of hosts, and one port or every port. Translation tests whether an
endpoint belongs to it; lint tests whether it contains another pattern, whose rule is then never used.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from brokernat.address.endpoint import Endpoint, as_ip, bracketed, format_ip
from brokernat.address.faults import fault
from brokernat.errors import ConfigError

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
    """All names with one or more labels before the domain; not the domain itself."""

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
    """All addresses of a network; names never belong to it, because they are not resolved."""

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
    """Hosts, and a port; None means every port."""

    hosts: Hosts
    port: int | None = None

    def matches(self, endpoint: Endpoint) -> bool:
        return self.port in (None, endpoint.port) and self.hosts.has(endpoint.host)

    def contains(self, other: Pattern) -> bool:
        """Whether every endpoint of `other` belongs to this pattern."""
        return self.port in (None, other.port) and self.hosts.contains(other.hosts)

    def __str__(self) -> str:
        return str(self.hosts) if self.port is None else f"{self.hosts}:{self.port}"


def format_network(network: IpNetwork) -> str:
    """address/length, the address in canonical form."""
    return f"{format_ip(network.network_address)}/{network.prefixlen}"


@dataclass(frozen=True, slots=True)
class HostPortRule:
    """`192.168.1.23:9092=172.10.1.40:9093`: one endpoint to one endpoint."""

    advertised: Endpoint
    reachable: Endpoint
    needs_node_id = False

    @property
    def pattern(self) -> Pattern:
        """The advertised endpoints that the rule matches."""
        return Pattern(OneHost(self.advertised.host), self.advertised.port)

    def translate(self, endpoint: Endpoint, node_id: int | None = None) -> Endpoint:  # noqa: ARG002
        """The endpoint to dial for one that the pattern matches; `node_id` has no effect."""
        return self.reachable

    def __str__(self) -> str:
        return f"{self.advertised}={self.reachable}"


@dataclass(frozen=True, slots=True)
class HostRule:
    """`kafka-1=10.9.0.1`: the port does not change. Hosts are normalised (`host.parse_host`), IPv6 without brackets."""

    advertised: str
    reachable: str
    needs_node_id = False

    @property
    def pattern(self) -> Pattern:
        """The advertised endpoints that the rule matches."""
        return Pattern(OneHost(self.advertised))

    def translate(self, endpoint: Endpoint, node_id: int | None = None) -> Endpoint:  # noqa: ARG002
        """The endpoint to dial for one that the pattern matches; `node_id` has no effect."""
        return Endpoint(self.reachable, endpoint.port)

    def __str__(self) -> str:
        return f"{bracketed(self.advertised)}={bracketed(self.reachable)}"


@dataclass(frozen=True, slots=True)
class CidrRule:
    """`10.1.0.0/24=10.9.0.0/24`: host bits and port do not change. Both networks have the same family and size."""

    advertised: IpNetwork
    reachable: IpNetwork
    needs_node_id = False

    @property
    def pattern(self) -> Pattern:
        """The advertised endpoints that the rule matches."""
        return Pattern(Network(self.advertised))

    def translate(self, endpoint: Endpoint, node_id: int | None = None) -> Endpoint:  # noqa: ARG002
        """The endpoint to dial for one that the pattern matches; `node_id` has no effect."""
        address = as_ip(endpoint.host)
        assert address is not None, "a network matches addresses only"  # noqa: S101
        host_bits = int(address) & int(self.advertised.hostmask)
        return Endpoint(format_ip(self.reachable.network_address + host_bits), endpoint.port)

    def __str__(self) -> str:
        return f"{format_network(self.advertised)}={format_network(self.reachable)}"


@dataclass(frozen=True, slots=True)
class WildcardRule:
    """`*.hq.internal:9092=gateway:9093`, or `*.hq.internal=gateway`, where the port does not change."""

    domain: str
    port: int | None
    reachable_host: str
    reachable_port: int | None
    needs_node_id = False

    @property
    def pattern(self) -> Pattern:
        """The advertised endpoints that the rule matches."""
        return Pattern(Subdomains(self.domain), self.port)

    def translate(self, endpoint: Endpoint, node_id: int | None = None) -> Endpoint:  # noqa: ARG002
        """The endpoint to dial for one that the pattern matches; `node_id` has no effect."""
        return Endpoint(self.reachable_host, self.reachable_port or endpoint.port)

    def __str__(self) -> str:
        port = "" if self.reachable_port is None else f":{self.reachable_port}"
        return f"{self.pattern}={bracketed(self.reachable_host)}{port}"


@dataclass(frozen=True, slots=True)
class NodeIdRule:
    """`*.hq.internal:9092=gateway:{9092+id}`: the port is the base plus the node id. Only a proxy knows the node id."""

    pattern: Pattern
    reachable_host: str
    base: int
    needs_node_id = True

    def translate(self, endpoint: Endpoint, node_id: int | None = None) -> Endpoint:  # noqa: ARG002
        """The endpoint with the port `base + node_id`.

        Raises:
            ConfigError: code `needs-node-id` without a node id; code `bad-port` if the sum is not a port.
        """
        if node_id is None:
            raise needs_node_id(self)
        port = self.base + node_id
        try:
            return Endpoint(self.reachable_host, port)
        except ConfigError:
            raise fault("bad-port", f"the rule `{self}` gives node {node_id} the port {port}") from None

    def __str__(self) -> str:
        return f"{self.pattern}={bracketed(self.reachable_host)}:{{{self.base}+id}}"


Rule = HostPortRule | HostRule | CidrRule | WildcardRule | NodeIdRule


def needs_node_id(rule: Rule) -> ConfigError:
    """The error for a rule that needs an unknown node id."""
    return fault("needs-node-id", f"the rule `{rule}` needs the node id, which a client does not know when it dials")
