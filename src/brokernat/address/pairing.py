"""The short form of a map: each bootstrap server with the endpoint that its broker advertises, in the same order.

Clients can dial the bootstrap servers already, so these are the reachable side. Two lists of different lengths are
refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from brokernat.address.address_map import AddressMap, Unmapped
from brokernat.address.endpoint import Endpoint
from brokernat.address.rules import HostPortRule
from brokernat.errors import ConfigError, Finding
from brokernat.plurals import counted


def pair(
    bootstrap: Sequence[Endpoint], broker_nat: Sequence[Endpoint], unmapped: Unmapped = Unmapped.FAIL
) -> AddressMap:
    """The map in which the advertised `broker_nat[i]` is dialled at `bootstrap[i]`.

    Raises:
        ConfigError: of kind `unpaired`: the lengths differ; names the entries that are left over.
    """
    if len(bootstrap) != len(broker_nat):
        raise ConfigError(_unpaired(bootstrap, broker_nat))
    rules = (HostPortRule(advertised, reachable) for advertised, reachable in zip(broker_nat, bootstrap, strict=True))
    return AddressMap(tuple(rules), unmapped)


def _unpaired(bootstrap: Sequence[Endpoint], broker_nat: Sequence[Endpoint]) -> Finding:
    entries = counted(len(broker_nat), "entry", "entries")
    servers = counted(len(bootstrap), "bootstrap server")
    left_over = [*bootstrap[len(broker_nat) :], *broker_nat[len(bootstrap) :]]
    missing = abs(len(bootstrap) - len(broker_nat))
    where = "broker_nat" if len(broker_nat) < len(bootstrap) else "bootstrap_servers"
    count = "one entry" if missing == 1 else f"{missing} entries"
    return Finding(
        "unpaired",
        f"`broker_nat` has {entries} for {servers}",
        hint=f"add {count} to `{where}`, or write `address_map` with rules such as `kafka-3 = 10.0.0.5`",
        details=(f"unpaired: {', '.join(map(str, left_over))}",),
    )
