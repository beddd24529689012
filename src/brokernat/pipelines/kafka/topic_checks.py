"""Checks of topics before the first record, with Kafka's own commands as fixes; pure.

A setting that could not be read is reported, but is not a finding. Sink topics are not created: their owner decides
on partitions and replicas. A command has the bootstrap servers as this machine dials them, and is complete, because
often another person, an administrator, runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from brokernat.config import Cluster
from brokernat.pipelines.check_result import CheckResult, Level
from brokernat.pipelines.kafka.admin import TopicFacts, Unseen
from brokernat.pipelines.prepared import Prepared
from brokernat.text import counted

Facts = Mapping[str, TopicFacts | Unseen]

SOURCE, SINK, REFERENCE = "source", "sink", "reference"
_ENVELOPE_BYTES = 2_048
"""The maximum number of bytes that brokernat's headers add to a record."""
_COMPACTED = (
    "take a topic with cleanup.policy=delete; else make sure that no key is null, and know that Kafka removes a record "
    "once a newer one has its key, which `reconcile` cannot tell from a loss"
)


def usable(end: str, cluster: Cluster, facts: Facts) -> Iterator[CheckResult]:
    """Checks that each topic exists and this client may use it; `end` is SOURCE, SINK or REFERENCE."""
    right = "WRITE" if end == SINK else "READ"
    for name, fact in facts.items():
        subject = f"{end} topic {name}"
        if not isinstance(fact, TopicFacts):
            yield _unseen(subject, end, cluster, fact, right)
        elif fact.operations is not None and not fact.operations & {right, "ALL"}:
            message = f"no {right} permission on `{name}` in `{cluster.name}`"
            yield CheckResult(subject, Level.ERROR, message, grant(cluster, right, topic=name))
        else:
            known = "" if fact.operations is not None else f"; the broker does not report whether {right} is allowed"
            yield CheckResult(subject, Level.OK, counted(fact.partitions, "partition") + known)
        if end == SINK and isinstance(fact, TopicFacts) and fact.compacted:
            message = f"`{name}` is compacted: it rejects a record without a key, which would stop the run"
            yield CheckResult(subject, Level.WARNING, message, _COMPACTED)
        # DESCRIBE_CONFIGS shows both settings: if the size is known, so is the cleanup policy.
        if end == REFERENCE and isinstance(fact, TopicFacts) and fact.max_message_bytes and not fact.compacted:
            message = f"`{name}` is not compacted: keys older than the topic's retention are lost"
            yield CheckResult(subject, Level.WARNING, message, compact(cluster, name))


def _unseen(subject: str, end: str, cluster: Cluster, fact: Unseen, right: str) -> CheckResult:
    if fact.exists is False:
        hint = (
            create_topic(cluster, fact.name)
            if end == SINK
            else "check the name, and that this user may DESCRIBE the topic"
        )
        return CheckResult(subject, Level.ERROR, f"there is no topic `{fact.name}` in `{cluster.name}`", hint)
    if fact.exists is None:
        message = f"no DESCRIBE permission on `{fact.name}` in `{cluster.name}`, or it does not exist"
        return CheckResult(subject, Level.ERROR, message, grant(cluster, right, topic=fact.name))
    return CheckResult(subject, Level.ERROR, f"`{fact.name}` cannot be described: {fact.cause}")


def sizes(prepared: Prepared, source: Facts, sink: Facts) -> Iterator[CheckResult]:
    """Checks that the sink accepts records as large as the source's, in bytes."""
    for cluster, facts in ((prepared.source, source), (prepared.sink, sink)):
        for name in (f.name for f in facts.values() if isinstance(f, TopicFacts) and f.max_message_bytes is None):
            message = f"max.message.bytes of `{name}` cannot be read"
            hint = grant(cluster, "DESCRIBE_CONFIGS", topic=name)
            yield CheckResult(f"message size {name}", Level.WARNING, message, hint)
    largest = max((_limit(fact) or 0 for fact in source.values()), default=0)
    for name, limit in ((name, _limit(fact)) for name, fact in sink.items()):
        if not limit or not largest:
            continue
        subject = f"message size {name}"
        if limit < largest:
            message = f"`{name}` accepts {limit} bytes, the source up to {largest}, and headers add to that"
            hint = raise_message_size(prepared.sink, name, largest + _ENVELOPE_BYTES)
            yield CheckResult(subject, Level.WARNING, message, hint)
        else:
            # No warning: with Kafka's default on both sides it would be printed at each start.
            near = "; with headers, the largest records may not fit" if limit < largest + _ENVELOPE_BYTES else ""
            yield CheckResult(subject, Level.OK, f"{limit} bytes, source {largest}{near}")


def _limit(fact: TopicFacts | Unseen) -> int | None:
    return fact.max_message_bytes if isinstance(fact, TopicFacts) else None


def create_topic(cluster: Cluster, topic: str) -> str:
    """The command that creates a topic, with three partitions as a suggestion."""
    return f"kafka-topics.sh {_at(cluster)} --create --topic {topic} --partitions 3"


def grant(cluster: Cluster, operation: str, *, topic: str | None = None) -> str:
    """The command that grants this client's user a permission, on a topic or on the cluster.

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
    """The command that raises a topic's limit, in bytes, and the client property that must match."""
    alter = f"--alter --entity-type topics --entity-name {topic} --add-config max.message.bytes={size}"
    return f"kafka-configs.sh {_at(cluster)} {alter}, and max.request.size of the sink cluster's client the same"


def compact(cluster: Cluster, topic: str) -> str:
    """The command that makes a topic compacted."""
    alter = f"--alter --entity-type topics --entity-name {topic} --add-config cleanup.policy=compact"
    return f"kafka-configs.sh {_at(cluster)} {alter}"


def _at(cluster: Cluster) -> str:
    return f"--bootstrap-server {','.join(map(str, cluster.bootstrap_servers))}"
