"""A cluster as this side must use it: one immutable value that every client is configured from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from brokernat.address import AddressMap, Endpoint
from brokernat.config.kafka_properties import kafka_properties
from brokernat.config.secrets import Secret


@dataclass(frozen=True, slots=True)
class Cluster:
    """`address_map` is None where the file has none: then nothing is translated and nothing is said to the agent. An
    empty map is something else: it opts this cluster out of a map that the whole JVM may have."""

    name: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap | None = None
    client: Mapping[str, str | Secret] = field(default_factory=lambda: MappingProxyType({}))

    def kafka_properties(self) -> dict[str, str]:
        """What a Java client takes, in Kafka's names, secrets revealed: never log the result.

        Raises:
            ConfigError: of kind `needs-node-id`, the map holds a rule that a client cannot decide.
        """
        return kafka_properties(self.bootstrap_servers, self.address_map, self.client)
