"""The clusters that the targets are tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Secret
from brokernat.render import Subject

if TYPE_CHECKING:
    About = Callable[..., Subject]

SITUATION_1 = """
    192.168.1.23:9092 = 172.10.1.40:9093
    192.168.1.24:9092 = 172.10.1.40:9094
    192.168.1.25:9092 = 172.10.1.40:9095
"""


@pytest.fixture
def about() -> About:
    """Makes a subject from rules and bootstrap servers."""

    def make(rules: str = SITUATION_1, *bootstrap: str, cluster: str = "hq", **client: str | Secret) -> Subject:
        servers = bootstrap or ("172.10.1.40:9093", "172.10.1.40:9094")
        named = {name.replace("_", "."): value for name, value in client.items()}
        return Subject(cluster, tuple(map(Endpoint.parse, servers)), AddressMap.parse(rules), named)

    return make
