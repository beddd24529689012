"""AddressMap: rules in order, the first match wins, one translation per connection.

A translated endpoint is not translated again, so a map may swap two addresses. A map belongs to a
cluster, not to the process, because two clusters may advertise the same private addresses.

Driver and executors compare their maps by the fingerprint of the canonical text. The text has no blanks, because Spark
and `JAVA_TOOL_OPTIONS` split on them. It does not contain `unmapped`, which is a separate property.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from brokernat.address.endpoint import Endpoint
from brokernat.address.notation import parse_rule, split_rules
from brokernat.address.rules import HostPortRule, Rule, needs_node_id
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError
from brokernat.text import counted


class Unmapped(StrEnum):
    """What a client does with an advertised endpoint that has no rule."""

    FAIL = "fail"
    """The client refuses it."""
    PASS = "pass"  # noqa: S105
    """The client dials it unchanged."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The endpoint to dial, and the rule that produced it; None if no rule matched and the endpoint did not change."""

    endpoint: Endpoint
    rule: Rule | None


@dataclass(frozen=True, slots=True)
class AddressMap:
    """The rules of one cluster in their order. `str(address_map)` joins them by `,`."""

    rules: tuple[Rule, ...]
    unmapped: Unmapped = Unmapped.FAIL

    @classmethod
    def parse(cls, text: str, unmapped: Unmapped = Unmapped.FAIL) -> AddressMap:
        """Parses rules that `,` or line ends separate; a text without rules is an empty map.

        Raises:
            ConfigError: with one problem for each wrong rule, at its line and column of the text.
        """
        rules: list[Rule] = []
        problems: list[Finding] = []
        for written in split_rules(text):
            try:
                rules.append(parse_rule(written.text))
            except ConfigError as error:
                problems.extend(problem.at(written.location) for problem in error.problems)
        if problems:
            raise ConfigError(*problems)
        return cls(tuple(rules), unmapped)

    def find(self, endpoint: Endpoint) -> Rule | None:
        """The first rule that matches an advertised endpoint, or None."""
        return next((rule for rule in self.rules if rule.pattern.matches(endpoint)), None)

    def translate(self, endpoint: Endpoint, node_id: int | None = None) -> Translation:
        """The endpoint to dial for an advertised endpoint.

        Raises:
            UnmappedEndpointError: no rule matches and `unmapped` is FAIL.
            ConfigError: code `needs-node-id`: the rule is a template and no node id was given.
        """
        rule = self.find(endpoint)
        if rule:
            return Translation(rule.translate(endpoint, node_id), rule)
        if self.unmapped is Unmapped.PASS:
            return Translation(endpoint, None)
        raise UnmappedEndpointError(str(endpoint), f"{endpoint} = HOST:PORT")

    def __str__(self) -> str:
        return ",".join(map(str, self.rules))


def pair(
    bootstrap: Sequence[Endpoint], broker_nat: Sequence[Endpoint], unmapped: Unmapped = Unmapped.FAIL
) -> AddressMap:
    """The map in which the advertised `broker_nat[i]` is dialled at `bootstrap[i]`.

    Raises:
        ConfigError: code `unpaired`: the lengths differ; names the surplus entries.
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


def canonical_text(address_map: AddressMap) -> str:
    """The rules joined by `,`.

    Raises:
        ConfigError: code `needs-node-id`: names the first rule that a client cannot apply.
    """
    for rule in address_map.rules:
        if rule.needs_node_id:
            raise needs_node_id(rule)
    return str(address_map)


def fingerprint(address_map: AddressMap) -> str:
    """SHA-256 of the UTF-8 canonical text, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_text(address_map).encode()).hexdigest()
