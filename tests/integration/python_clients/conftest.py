"""Two worlds for the pure-Python clients, started when first asked for.

`plain` holds two headquarters that advertise the SAME dead addresses: one PLAINTEXT, one with SASL_PLAINTEXT. `strict`
holds one that advertises dead IPv6 endpoints and one with SASL_SSL that advertises names nobody resolves and that its
certificates are for.
"""

import itertools
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.python_clients.libraries import LIBRARIES, Library

from brokernat.testbed import Advertise, ClusterOptions, LoopbackWorld, Mechanism, Protocol, RunningCluster
from brokernat.testbed.running_cluster import config_text


class Orders:
    """Writes the `brokernat.yaml` of a cluster and the order of a client that uses it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()

    def __call__(self, cluster: RunningCluster, *, replicas: int | None = None, **changes: Any) -> dict[str, Any]:
        file = self._folder / f"{next(self._numbers)}.yaml"
        file.write_text(config_text([cluster]))
        return {
            "file": str(file),
            "cluster": cluster.name,
            "topic": f"topic-{uuid.uuid4().hex[:8]}",
            "partitions": len(cluster.nodes),
            "replicas": replicas or len(cluster.nodes),
            **changes,
        }


@pytest.fixture
def order(tmp_path: Path) -> Orders:
    return Orders(tmp_path)


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name.replace(" ", "-"))
def library(request: pytest.FixtureRequest) -> Library:
    found: Library = request.param
    return found


@pytest.fixture(scope="package")
def plain() -> Iterator[LoopbackWorld]:
    sasl = ClusterOptions(brokers=2, protocol=Protocol.SASL_PLAINTEXT)
    with LoopbackWorld(hq=ClusterOptions(), second_hq=sasl, local=None) as world:
        yield world


@pytest.fixture(scope="package")
def strict() -> Iterator[LoopbackWorld]:
    ipv6 = ClusterOptions(brokers=1, advertise=Advertise.IPV6)
    names = ClusterOptions(
        brokers=2, advertise=Advertise.NAME, protocol=Protocol.SASL_SSL, mechanism=Mechanism.SCRAM_SHA_256
    )
    with LoopbackWorld(hq=ipv6, second_hq=names, local=None) as world:
        yield world
