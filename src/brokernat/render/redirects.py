"""What the kernel's NAT has to change on the node of a client: the rules of a map as networks and ports.

A host is a network of one address, so every rule has one shape; the order of the rules is kept, because both tools
take the first that matches, as the map does.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_network

from brokernat.address import AddressMap, CidrRule, HostPortRule, HostRule, Rule
from brokernat.address.pattern import IpNetwork
from brokernat.render.expressible import Means, require_expressible

CAN = ("Serve every program of this node as it is, without a map, an agent or a plug-in.",)
LIMITS = (
    "Do without root: it has to be loaded on every node that runs a client, and again after each boot.",
    "Reach into containers with a network of their own: load it there as well.",
    "Help where no route at all leads to the advertised addresses: connect() fails before NAT sees a packet. A default "
    "route is enough.",
    "Choose the source address: it is that of the route to the advertised address.",
    "Serve two clusters that advertise the same addresses.",
    "Tell Kafka from the rest: a rule without a port moves every TCP port of that address, ssh too.",
    "Refuse endpoints that no rule names: they are dialled as they are.",
)


@dataclass(frozen=True, slots=True)
class Redirect:
    """TCP to `advertised` goes to `reachable`, host bits kept; ports are None where every port is meant and kept."""

    advertised: IpNetwork
    reachable: IpNetwork
    advertised_port: int | None = None
    reachable_port: int | None = None

    @property
    def version(self) -> int:
        """4 or 6, on both sides."""
        return self.advertised.version

    @property
    def one_host(self) -> bool:
        """Whether it is about one address, not a network."""
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
