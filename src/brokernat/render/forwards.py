"""What a gateway has to forward: one port for each broker, from the address map and the bootstrap servers.

The map read backwards: a gateway listens at what clients dial and leads to what the broker advertises. A rule that
keeps the port names none, so the ports are those that the bootstrap servers have behind it; a rule that no bootstrap
server belongs to is refused, for nobody could say which port to listen on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brokernat.address import AddressMap, CidrRule, Endpoint, HostPortRule, HostRule, Rule
from brokernat.render.expressible import Means, refuse, require_expressible


@dataclass(frozen=True, slots=True)
class Forward:
    """What is accepted at `listen` goes to `upstream`."""

    listen: Endpoint
    upstream: Endpoint


def forwards(address_map: AddressMap, bootstrap_servers: Iterable[Endpoint]) -> tuple[Forward, ...]:
    """A forward for each broker, in the order of the rules; two names of one broker are one forward, to the first.

    Raises:
        NotExpressibleError: a rule names no broker, or a port that nobody knows.
    """
    require_expressible(address_map, Means.GATEWAY)
    bootstrap = tuple(bootstrap_servers)
    brokers = {rule: tuple(_advertised(rule, bootstrap)) for rule in address_map.rules}
    because = "it keeps the port, and no bootstrap server says which port: add one behind it, or `:PORT` on both sides"
    refuse(Means.GATEWAY, ((rule, because) for rule, advertised in brokers.items() if not advertised))
    found: dict[Endpoint, Forward] = {}
    for rule, advertised in brokers.items():
        for upstream in advertised:
            listen = rule.translate(upstream)
            # Another rule may come first, and a broker that is dialled as it is would have the gateway dial itself.
            if address_map.find(upstream) == rule and listen != upstream:
                found.setdefault(listen, Forward(listen, upstream))
    return tuple(found.values())


def _advertised(rule: Rule, bootstrap: tuple[Endpoint, ...]) -> Iterable[Endpoint]:
    """The advertised endpoints that a rule is about."""
    match rule:
        case HostPortRule():
            return [rule.advertised]
        case HostRule():
            return [Endpoint(rule.advertised, dialled.port) for dialled in bootstrap if dialled.host == rule.reachable]
        case CidrRule():
            backwards = CidrRule(rule.reachable, rule.advertised)
            return [backwards.translate(dialled) for dialled in bootstrap if backwards.pattern.matches(dialled)]
        case _:
            raise AssertionError(f"{rule} is refused before")
