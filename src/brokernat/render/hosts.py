"""Renders lines for a hosts file, which are enough if brokers advertise names and the ports do not change.

A hosts file has one address for a name and no ports. So a rule for one port applies to all ports, and a second rule for
the same name with another address is refused: its port would lead to the wrong broker.
"""

from __future__ import annotations

from brokernat.address import AddressMap, HostPortRule, HostRule, Rule
from brokernat.render.expressible import Means, refuse, require_expressible
from brokernat.render.header import Header, Subject

_HEADER = Header(
    title="Kafka by /etc/hosts: advertised names resolve to addresses that can be dialled from here",
    can=("Work for every program of this host without a change, a map, an agent or a plug-in.",),
    cannot=(
        "Change ports, or translate IP addresses: clients resolve only names.",
        "Serve two clusters whose brokers have the same names.",
        "Update itself: you maintain it on every host and in every container image that runs a client.",
        "Refuse names without a rule: they resolve as before.",
    ),
    check=("getent hosts NAME      for each name below",),
    apply=("append it to /etc/hosts; running clients cache what they have resolved (Java: 30 s)",),
)


def hosts(subject: Subject) -> str:
    """The lines for a cluster.

    Raises:
        NotExpressibleError: a rule changes a port, or its advertised side is a network, a wildcard or an address.
    """
    addresses = _addresses(subject.address_map)
    width = max(map(len, addresses.values()), default=0)
    lines = [f"{address:<{width}} {name}" for name, address in addresses.items()]
    return "\n".join((_HEADER.text(subject), *lines)) + "\n"


def _addresses(address_map: AddressMap) -> dict[str, str]:
    require_expressible(address_map, Means.HOSTS)
    found: dict[str, str] = {}
    conflicts: list[tuple[Rule, str]] = []
    for rule, name, address in map(_parts, address_map.rules):
        if found.setdefault(name, address) != address:
            conflicts.append((rule, f"a hosts file has one address for a name, and {name} has {found[name]}"))
    refuse(Means.HOSTS, conflicts)
    return found


def _parts(rule: Rule) -> tuple[Rule, str, str]:
    match rule:
        case HostPortRule():
            return rule, rule.advertised.host, rule.reachable.host
        case HostRule():
            return rule, rule.advertised, rule.reachable
        case _:
            raise AssertionError(f"{rule} is refused before")
