"""Two brokers' endpoints lead to one broker, which refuses what the other one leads; librdkafka reports no error."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.shipping.reading_back import arrived

from brokernat.address import AddressMap
from brokernat.shipping import KafkaHandler
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration


def test_a_leader_s_endpoint_that_leads_to_another_broker_is_named(
    loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path
) -> None:
    hq = loopback_world.hq
    hq.create_topic(topic_name, partitions=1)
    leader = hq.leaders(topic_name)[0]
    other = next(node for node in hq.nodes if node != leader)
    targets = hq.reachable | {leader: hq.reachable[other]}
    rules = ",".join(f"{hq.advertised[node]}={target}" for node, target in targets.items())
    misrouted = replace(hq.cluster, address_map=AddressMap.parse(rules))

    handler = KafkaHandler(misrouted, topic_name, tmp_path, audit=True, close_timeout=0)
    handler.handle(logging.makeLogRecord({"msg": "waits"}))
    wait_until(lambda: handler.status().trouble != "", "the reason", timeout=60)
    assert handler.status().trouble == (
        f"the leader of {topic_name}/0 is node {leader}, and node {leader}'s endpoint {hq.reachable[other]} does not "
        f"accept records for it: another broker may be behind it; `brokernat doctor --cluster hq` finds which"
    )
    handler.close()

    handler = KafkaHandler(hq.cluster, topic_name, tmp_path, audit=True, close_timeout=60)
    assert handler.flush(60)
    handler.close()
    assert arrived(hq, topic_name).messages == {"waits": 1}
