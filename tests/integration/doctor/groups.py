"""Consumer groups that exist, and who coordinates them, as clients make and ask it."""

from __future__ import annotations

import asyncio
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka import admin as untyped
from tests.integration.doctor.looking import TIMEOUT

from brokernat.doctor.evidence import Coordinator
from brokernat.doctor.probes.channel import Channel
from brokernat.doctor.probes.network import connected
from brokernat.doctor.probes.survey import coordinator
from brokernat.testbed import RunningCluster
from brokernat.testbed.place import wait_until

# What it exports it declares nowhere.
kafka: Any = untyped
_PATIENCE = 10.0
"""With one request, in seconds."""


def administrator(cluster: RunningCluster) -> Any:
    """A client that may do everything."""
    return kafka.AdminClient({"bootstrap.servers": ",".join(map(str, cluster.direct.bootstrap_servers))})


def listed(admin: Any) -> list[tuple[str, Any]]:
    """All groups, with their state."""
    return sorted((group.group_id, group.state) for group in admin.list_consumer_groups().result(TIMEOUT).valid)


def ask_as_clients_do(cluster: RunningCluster, wanted: Coordinator) -> int:
    """The coordinator of a group or id; like a client's question, this one makes Kafka create the topic behind it."""

    async def ask() -> Coordinator:
        peer = cluster.plan.broker(1).peer
        async with connected(peer.host, peer.port, TIMEOUT) as streams:
            assert streams is not None
            return await coordinator(Channel(*streams, TIMEOUT), wanted, {wanted.topic})

    found: list[int] = []

    def known() -> bool:
        broker = asyncio.run(ask()).broker
        found.extend([] if broker is None else [broker.node_id])
        return bool(found)

    wait_until(known, "a coordinator", timeout=TIMEOUT)
    return found[0]


def make_group(cluster: RunningCluster, group: str) -> None:
    """Commit an offset of `orders`, again until the group is listed: a coordinator that has just begun may refuse, and
    a client that has met one that is none waits for as long as it is given."""
    ask_as_clients_do(cluster, Coordinator("group", group))
    # It is there by now, and on return every broker knows it.
    cluster.create_topic("__consumer_offsets")
    admin = administrator(cluster)
    offsets = [ConsumerGroupTopicPartitions(group, [TopicPartition("orders", 0, 0)])]

    def there() -> bool:
        try:
            (answer,) = admin.alter_consumer_group_offsets(offsets, request_timeout=_PATIENCE).values()
            answer.result(TIMEOUT)
        except (KafkaException, TimeoutError):
            return False
        return group in {name for name, _ in listed(admin)}

    wait_until(there, f"group {group}", timeout=2 * TIMEOUT)
