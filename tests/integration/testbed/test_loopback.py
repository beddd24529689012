"""The loopback world keeps what it promises: dead advertised endpoints, brokers that die and come back, no traces."""

from __future__ import annotations

import pytest

from brokernat.testbed import LoopbackWorld, Record
from brokernat.testbed.proof import connects, speaks_kafka

pytestmark = pytest.mark.integration


def test_what_is_advertised_is_dead_and_what_the_map_leads_to_is_a_broker(loopback_world: LoopbackWorld) -> None:
    for cluster, hidden in ((loopback_world.hq, True), (loopback_world.local, False)):
        for node in cluster.nodes:
            assert connects(cluster.advertised[node], loopback_world.client) is not hidden
            assert speaks_kafka(cluster.reachable[node], loopback_world.client, tls=False)


def test_the_map_is_one_rule_for_each_broker(loopback_world: LoopbackWorld) -> None:
    hq = loopback_world.hq
    assert hq.cluster.address_map is not None
    for node in hq.nodes:
        assert hq.cluster.address_map.translate(hq.advertised[node]).endpoint == hq.reachable[node]
    assert loopback_world.local.cluster.address_map is None


def test_records_are_read_as_they_were_written(loopback_world: LoopbackWorld, topic_name: str) -> None:
    cluster = loopback_world.hq
    cluster.create_topic(topic_name, partitions=2, configs={"retention.ms": "-1"})
    written = [
        Record(b"value", b"key", (("trace", b"\x00\xff"), ("empty", None)), partition=1, timestamp=1_700_000_000_000),
        Record(None, b"tombstone", partition=1, timestamp=1_600_000_000_123),
        Record("größer".encode(), None, partition=0, timestamp=1_700_000_000_001),
    ]

    assert cluster.write(topic_name, written) == 3

    zero, first, second = cluster.read(topic_name)
    assert (first.partition, first.offset, first.key, first.value) == (1, 0, b"key", b"value")
    assert first.headers == (("trace", b"\x00\xff"), ("empty", None))
    assert first.timestamp == 1_700_000_000_000
    assert (second.offset, second.value, second.timestamp) == (1, None, 1_600_000_000_123)
    assert zero.value == "größer".encode()
    assert cluster.end_offsets(topic_name) == {0: 1, 1: 2}
