"""A world to disturb: one login, rights that must be given, three brokers that are killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol, RunningCluster


@pytest.fixture(scope="module")
def disturbed() -> Iterator[RunningCluster]:
    """Headquarters of a world of this module's own."""
    options = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT, authorize=True)
    with LoopbackWorld(hq=options, local=None) as world:
        yield world.hq
