"""Clusters and topics for Spark's tests, and a place to run drivers from."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.spark.drivers import COUNT, Driver

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol, Record


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    """A place to run scenarios from."""
    return Driver(tmp_path)


@pytest.fixture
def orders(loopback_world: LoopbackWorld, topic_name: str) -> str:
    """A topic of headquarters with COUNT records in it, and two to write to."""
    hq = loopback_world.hq
    for name in (topic_name, f"{topic_name}-batch", f"{topic_name}-stream"):
        hq.create_topic(name)
    hq.write(topic_name, [Record(value=f"order {number}".encode()) for number in range(COUNT)])
    return topic_name


@pytest.fixture
def written(loopback_world: LoopbackWorld) -> Callable[[str], list[str]]:
    """The values of a topic of headquarters, read past everything under test."""
    return lambda topic: sorted((record.value or b"").decode() for record in loopback_world.hq.read(topic))


@pytest.fixture(scope="module")
def twins() -> Iterator[LoopbackWorld]:
    """Two headquarters that advertise the same addresses; the first wants a login and lets nobody ask who it is."""
    hq = ClusterOptions(brokers=2, protocol=Protocol.SASL_PLAINTEXT, password="canary-4711", authorize=True)
    with LoopbackWorld(hq=hq, second_hq=ClusterOptions(brokers=2), local=None) as world:
        yield world
