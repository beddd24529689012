"""AddressMap: rules in order, the first match wins, one translation per connection.

A translated endpoint is not translated again, so a map may exchange two addresses without a loop. A map belongs to a
cluster, not to the process, because two clusters may advertise the same private addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from brokernat.address.endpoint import Endpoint
from brokernat.address.notation import parse_rule, split_rules
from brokernat.address.rules import Rule
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError


class Unmapped(StrEnum):
    """What a client does with an advertised endpoint that has no rule."""

    FAIL = "fail"
    """Refuses it."""
    PASS = "pass"  # noqa: S105
    """Dials it as it is."""


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
            ConfigError: of kind `needs-node-id`: the rule is a template and no node id was given.
        """
        rule = self.find(endpoint)
        if rule:
            return Translation(rule.translate(endpoint, node_id), rule)
        if self.unmapped is Unmapped.PASS:
            return Translation(endpoint, None)
        raise UnmappedEndpointError(str(endpoint), f"{endpoint} = HOST:PORT")

    def __str__(self) -> str:
        return ",".join(map(str, self.rules))
