"""Consumer groups that exist, made past everything under test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka import admin as untyped
from tests.integration.doctor.looking import TIMEOUT

from brokernat.testbed.polling import wait_until

if TYPE_CHECKING:
    from brokernat.testbed import RunningCluster

# What it exports it declares nowhere.
kafka: Any = untyped


def administrator(cluster: RunningCluster) -> Any:
    """A client that may do everything."""
    return kafka.AdminClient({"bootstrap.servers": ",".join(map(str, cluster.direct.bootstrap_servers))})


def listed(admin: Any) -> list[tuple[str, Any]]:
    """All groups, with their state."""
    return sorted((group.group_id, group.state) for group in admin.list_consumer_groups().result(TIMEOUT).valid)


def make_group(cluster: RunningCluster, group: str) -> None:
    """Commit an offset of `orders`, again until the group is listed: a coordinator that has just begun may refuse."""
    admin = administrator(cluster)
    offsets = [ConsumerGroupTopicPartitions(group, [TopicPartition("orders", 0, 0)])]

    def there() -> bool:
        try:
            next(iter(admin.alter_consumer_group_offsets(offsets).values())).result(TIMEOUT)
        except KafkaException:
            return False
        return group in {name for name, _ in listed(admin)}

    wait_until(there, f"group {group}", timeout=TIMEOUT)
