"""What to type: Kafka's own commands for what a check has found missing; pure.

They name the cluster as this side dials it. Whoever may run them is often somebody else, so each is whole and can be
sent on as it is.
"""

from __future__ import annotations

from brokernat.config import Cluster


def create_topic(cluster: Cluster, topic: str) -> str:
    """Three partitions, to be changed by who knows better."""
    return f"kafka-topics.sh {_at(cluster)} --create --topic {topic} --partitions 3"


def grant(cluster: Cluster, operation: str, *, topic: str | None = None) -> str:
    """A right for this client's user, on a topic or on the cluster.

    Args:
        operation: as `AclOperation` names it: READ, DESCRIBE_CONFIGS.
    """
    user = cluster.client.get("sasl.username")
    # A name that came from the environment or a file may be meant to be secret.
    who = user if isinstance(user, str) else "..."
    resource = f"--topic {topic}" if topic else "--cluster"
    named = operation.title().replace("_", "")
    return f"kafka-acls.sh {_at(cluster)} --add --allow-principal User:{who} --operation {named} {resource}"


def raise_message_size(cluster: Cluster, topic: str, size: int) -> str:
    """A topic's limit, in bytes, and the client's, which has to follow."""
    alter = f"--alter --entity-type topics --entity-name {topic} --add-config max.message.bytes={size}"
    return f"kafka-configs.sh {_at(cluster)} {alter}, and max.request.size of the sink cluster's client the same"


def compact(cluster: Cluster, topic: str) -> str:
    """A topic that keeps the newest record of each key."""
    alter = f"--alter --entity-type topics --entity-name {topic} --add-config cleanup.policy=compact"
    return f"kafka-configs.sh {_at(cluster)} {alter}"


def _at(cluster: Cluster) -> str:
    return f"--bootstrap-server {','.join(map(str, cluster.bootstrap_servers))}"
