"""A broker whose internal topics want more replicas than there are brokers, which BN840 says of a file."""

import pytest
from confluent_kafka import Consumer

from brokernat.testbed import ClusterOptions, LoopbackWorld
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration


def test_a_consumer_group_gets_no_coordinator() -> None:
    alone = ClusterOptions(brokers=1, broker_properties={"offsets.topic.replication.factor": "3"})
    with LoopbackWorld(hq=None, local=alone) as world:
        (server,) = world.local.direct.bootstrap_servers
        consumer = Consumer({"bootstrap.servers": str(server), "group.id": "app"})
        consumer.subscribe(["orders"])

        def refused() -> bool:
            consumer.poll(0.1)
            return "INVALID_REPLICATION_FACTOR" in world.local.log(1).read_text()

        wait_until(refused, "the broker's refusal to create __consumer_offsets", timeout=30)
        assert consumer.assignment() == []
        consumer.close()
