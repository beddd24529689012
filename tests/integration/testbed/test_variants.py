"""Each kind of headquarters comes up behind dead endpoints: old and new brokers, TLS, login, names, IPv6, rights.

Two kinds share a world, so that half as many have to be started.
"""

from __future__ import annotations

import pytest
from tests.versions import BROKERS

from brokernat.testbed import (
    Advertise,
    Allow,
    ClusterOptions,
    LoopbackWorld,
    Mechanism,
    Operation,
    Protocol,
    Record,
    Resource,
)

pytestmark = pytest.mark.integration

_SASL = Protocol.SASL_PLAINTEXT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            ClusterOptions(brokers=2, version=BROKERS[0], protocol=_SASL, authorize=True),
            ClusterOptions(brokers=1, version=BROKERS[1]),
            id="2.4.1-zookeeper-3.9.2",
        ),
        pytest.param(
            ClusterOptions(brokers=1, version=BROKERS[-1], protocol=_SASL, authorize=True),
            ClusterOptions(brokers=1, protocol=_SASL, mechanism=Mechanism.SCRAM_SHA_256),
            id="4.4.0-scram",
        ),
        pytest.param(
            ClusterOptions(brokers=2, protocol=Protocol.SASL_SSL, advertise=Advertise.NAME),
            ClusterOptions(brokers=2, advertise=Advertise.IPV6),
            id="tls-name-ipv6",
        ),
    ],
)
def test_clusters_of_their_kind_serve(one: ClusterOptions, other: ClusterOptions) -> None:
    with LoopbackWorld(hq=one, second_hq=other, local=None) as world:
        for cluster, options in ((world.hq, one), (world.hq2, other)):
            assert len(cluster.cluster_id) == 22
            cluster.create_topic("orders", partitions=2)
            if options.authorize:
                cluster.allow(Allow(Operation.READ), Allow(Operation.READ, Resource.GROUP))
            cluster.write("orders", [Record(b"one"), Record(b"two")])
            assert [record.value for record in cluster.read("orders")] == [b"one", b"two"]
            assert options.password not in repr(cluster.cluster)
            cluster.delete_topics("orders")


def test_two_headquarters_advertise_the_same_and_are_two() -> None:
    one = ClusterOptions(brokers=1)
    with LoopbackWorld(hq=one, second_hq=one, local=None) as world:
        assert world.hq.advertised == world.hq2.advertised
        assert world.hq.cluster_id != world.hq2.cluster_id
        for cluster in (world.hq, world.hq2):
            cluster.create_topic("orders", partitions=1)
        world.hq.write("orders", [Record(b"of hq")])
        assert world.hq2.read("orders") == []
