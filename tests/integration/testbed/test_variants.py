"""What `testbed up` can be asked for: old brokers, a login, TLS, two headquarters with the same addresses."""

from __future__ import annotations

import pytest
from tests.versions import BROKERS

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol, Record
from brokernat.testbed.place import connects

pytestmark = pytest.mark.integration

_RECORDS = [
    Record("größer".encode(), None, partition=0, timestamp=1_700_000_000_001, offset=0),
    Record(b"value", b"key", (("trace", b"\x00\xff"), ("empty", None)), 1, 1_700_000_000_000, offset=0),
    Record(None, b"tombstone", partition=1, timestamp=1_600_000_000_123, offset=1),
]


def test_clusters_of_their_kind_serve_behind_the_same_dead_endpoints() -> None:
    old = ClusterOptions(brokers=2, version=BROKERS[0], protocol=Protocol.SASL_PLAINTEXT)
    newer = ClusterOptions(brokers=2, version=BROKERS[1], protocol=Protocol.SASL_SSL)
    with LoopbackWorld(hq=old, second_hq=newer, local=None) as world:
        assert world.hq.advertised == world.hq2.advertised
        assert not any(connects(endpoint, world.client) for endpoint in world.hq.advertised.values())
        assert world.hq.cluster_id != world.hq2.cluster_id
        for cluster in (world.hq, world.hq2):
            cluster.create_topic("orders", partitions=2, configs={"retention.ms": "-1"})
        assert world.hq.write("orders", _RECORDS) == len(_RECORDS)
        assert world.hq.read("orders") == _RECORDS
        assert world.hq.end_offsets("orders") == {0: 1, 1: 2}
        assert world.hq2.read("orders") == []
        assert old.password not in repr(world.hq.cluster)
