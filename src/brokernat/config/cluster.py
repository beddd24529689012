"""A cluster of the file: one immutable value from which every client is configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from brokernat.address import AddressMap, Endpoint
from brokernat.config.client_properties import security_protocol
from brokernat.config.kafka_properties import kafka_properties
from brokernat.config.secrets import Secret

if TYPE_CHECKING:
    from brokernat.config.model import TunnelSection

Profile = Literal["auto", "lan", "wan"]
"""The length of the line to a cluster; `auto` is measured."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of the file.

    `bootstrap_servers` can be dialled from here. `client` holds client properties in Kafka's own names. `address_map`
    is None if the file has no map: clients then use the map of their JVM, if there is one. An empty map is different:
    these clients use no map, even if the JVM has one. `profile` chooses the settings of Spark's clients. With a
    `tunnel` the brokers are reached through it, and the map has what its far end dials (`brokernat.tunnel`).
    """

    name: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap | None = None
    client: Mapping[str, str | Secret] = field(default_factory=lambda: MappingProxyType({}))
    profile: Profile = "auto"
    tunnel: TunnelSection | None = None

    def __post_init__(self) -> None:
        """Every client gets `security.protocol` in upper case, because the Python libraries accept nothing else.

        Raises:
            ConfigError: Kafka has no such protocol.
        """
        written = self.client.get("security.protocol")
        if written is not None and (protocol := security_protocol(written)) != written:
            client = MappingProxyType({**self.client, "security.protocol": protocol})
            object.__setattr__(self, "client", client)

    def kafka_properties(self) -> dict[str, str]:
        """The properties of a Java client, in Kafka's own names. They hold revealed secrets: never log them.

        Raises:
            ConfigError: of kind `needs-node-id`: the map holds a rule that a client cannot apply.
        """
        return kafka_properties(self.bootstrap_servers, self.address_map, self.client)
