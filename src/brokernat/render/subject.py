"""What a text is made from: a cluster as the file has it, and what its header tells about its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Secret


@dataclass(frozen=True, slots=True)
class Subject:
    """One cluster with a map. `client` holds references that were not looked up (`load(resolve_secrets=False)`)."""

    cluster: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap
    client: Mapping[str, str | Secret] = field(default_factory=dict)
    file: str = "brokernat.yaml"
    """The configuration, as the user named it."""
    command: str = "brokernat render"
    """The command line that makes the text again."""
