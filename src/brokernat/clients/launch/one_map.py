"""One map for a whole process, out of the maps of the clusters that its command line names.

A map belongs to a cluster, but from outside a program's clients cannot be told apart. So the rules of all named
clusters are put behind each other, and that is refused where the result would mean something else than each map
alone: two clusters that advertise one address need clients with a map of their own.

What no rule names is refused, as the clusters' maps say, unless one of the named clusters has no map, or an empty one,
or lets it pass: then its brokers must be dialled as they advertise themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from brokernat.address import AddressMap, Unmapped, canonical_text, lint
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Problem

# What makes a rule of one cluster decide about another cluster's addresses.
_HIDING = frozenset({"contradicting-rule", "shadowed-rule"})


def one_map(clusters: Sequence[Cluster], unmapped: Unmapped | None = None) -> AddressMap | None:
    """The map of a process that talks to `clusters`; None where none of them has a rule.

    Args:
        clusters: those that the program talks to.
        unmapped: instead of what the maps say.

    Raises:
        ConfigError: kind `shared-addresses`, two maps exclude each other; kind `needs-node-id`, a client cannot
            decide one of the rules.
    """
    given = ((cluster.name, cluster.address_map) for cluster in clusters)
    maps = {name: address_map for name, address_map in given if address_map is not None and address_map.rules}
    if not maps:
        return None
    owners = [name for name, address_map in maps.items() for _ in address_map.rules]
    rules = tuple(rule for address_map in maps.values() for rule in address_map.rules)
    strict = len(maps) == len(clusters) and all(one.unmapped is Unmapped.FAIL for one in maps.values())
    merged = AddressMap(rules, unmapped or (Unmapped.FAIL if strict else Unmapped.PASS))
    canonical_text(merged)
    for finding in lint(merged):
        first, second = finding.rules[0], finding.rules[-1]
        if finding.code in _HIDING and owners[first] != owners[second]:
            raise _shared(owners[first], str(rules[first]), owners[second], str(rules[second]))
    return merged


def _shared(first: str, rule: str, second: str, other: str) -> ConfigError:
    message = (
        f"the clusters {first} and {second} advertise the same addresses (`{rule}` and `{other}`), and a program's "
        "clients cannot be told apart from outside"
    )
    hint = "give each client its own map in the program, by the property `brokernat.map`, and leave `exec` out"
    return ConfigError(Problem("shared-addresses", message, hint))
