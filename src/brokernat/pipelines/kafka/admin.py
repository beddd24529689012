"""Cluster, topics and offsets, requested with Kafka's own AdminClient in the driver's JVM.

Client, properties and map are those of the query, so the results apply to it. A missing permission is a result, not
an error: the check reports what it could not read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokernat.address import Endpoint, NodeEndpoint
from brokernat.config.client_properties import secrets_of
from brokernat.config.secrets import masked
from brokernat.errors import ConfigError, Finding, NothingReachableError
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Kafka's client rejects a request timeout that is larger than the API timeout.
_TIMEOUTS = {"default.api.timeout.ms": "15000", "request.timeout.ms": "10000"}
_KAFKA = "org.apache.kafka."
_ABSENT = "UnknownTopicOrPartitionException"
_FORBIDDEN = "AuthorizationException"
_ROUND_TRIPS = 5
_NO_TOPIC_ID = "A" * 22


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """The description of a topic, as far as this client may read it.

    `operations` are the allowed operations by their names in `AclOperation`, None if the broker does not report them;
    `max_message_bytes` is None where the settings may not be read. `topic_id` distinguishes a
    recreated topic (KIP-516), None with brokers before 2.8.
    """

    name: str
    partitions: int
    operations: frozenset[str] | None
    max_message_bytes: int | None
    topic_id: str | None = None
    compacted: bool = False
    """Whether the topic is compacted; it then rejects records without a key."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Why a topic could not be described.

    `exists` is False if the topic does not exist, None without permission, True if the request failed.
    """

    name: str
    exists: bool | None
    cause: str


class KafkaAdmin:
    """One AdminClient; use `open_admin`."""

    def __init__(self, jvm: Any, client: Any, name: str, servers: str = "") -> None:
        self._jvm = jvm
        self._client = client
        self._name = name
        self._servers = servers

    def cluster_id(self) -> str:
        """Kafka's cluster id.

        Raises:
            NothingReachableError: no broker answered in time.
        """
        from py4j.protocol import Py4JJavaError

        try:
            return str(self._client.describeCluster().clusterId().get())
        except Py4JJavaError as error:
            # Kafka's client names its thread if it could not even look up the bootstrap servers.
            cause, inside = root_cause(error), "AdminClient thread has exited"
            reason = "" if inside in cause else f": {cause}"
            raise NothingReachableError(
                f"cluster `{self._name}`: no bootstrap server of {self._servers} answers{reason}",
                hint=f"`brokernat doctor --cluster {self._name}` finds out why",
            ) from None

    def round_trip_ms(self) -> float:
        """The round trip of a request, the shortest of five, in milliseconds.

        It is a request to a broker and not a TCP connect, which a gateway would answer itself.

        Raises:
            NothingReachableError: no broker answered in time.
        """
        return min(self._request_seconds() for _ in range(_ROUND_TRIPS)) * 1000

    def _request_seconds(self) -> float:
        began = time.monotonic()
        self.cluster_id()
        return time.monotonic() - began

    def topics(self, names: Iterable[str]) -> dict[str, TopicFacts | Unseen]:
        """The description of each topic."""
        return {name: self._topic(name) for name in names}

    def leaders(self, topic: str) -> tuple[NodeEndpoint, ...]:
        """The leaders of a topic's partitions with their advertised endpoints; empty without permission."""
        from py4j.protocol import Py4JJavaError

        try:
            described = self._client.describeTopics(self._list([topic])).allTopicNames().get().get(topic)
        except Py4JJavaError:
            return ()
        leaders = (info.leader() for info in described.partitions())
        nodes = {leader.id(): Endpoint(leader.host(), leader.port()) for leader in leaders if leader is not None}
        return tuple(NodeEndpoint(node, endpoint) for node, endpoint in nodes.items())

    def first_offsets(self, topic: str) -> dict[int, int]:
        """The earliest offset of each partition."""
        return self._offsets(topic, self._class("clients.admin.OffsetSpec").earliest())

    def end_offsets(self, topic: str, *, committed: bool = False) -> dict[int, int]:
        """The offset after the last record of each partition; with `committed` the last stable offset, which is at
        most the start of the first open transaction.
        """
        return self._offsets(topic, self._class("clients.admin.OffsetSpec").latest(), committed=committed)

    def topic_id(self, topic: str) -> str:
        """The topic's id (KIP-516); brokers before 2.8 report the same id for all topics."""
        return str(self._described(topic).topicId().toString())

    def _described(self, topic: str) -> Any:
        return self._client.describeTopics(self._list([topic])).allTopicNames().get().get(topic)

    def _offsets(self, topic: str, spec: Any, *, committed: bool = False) -> dict[int, int]:
        described = self._described(topic)
        specs = self._jvm.java.util.HashMap()
        for info in described.partitions():
            specs.put(self._class("common.TopicPartition")(topic, info.partition()), spec)
        isolation = self._class("common.IsolationLevel")
        level = isolation.READ_COMMITTED if committed else isolation.READ_UNCOMMITTED
        offsets = self._client.listOffsets(specs, self._class("clients.admin.ListOffsetsOptions")(level)).all().get()
        return {partition.partition(): offsets.get(partition).offset() for partition in specs.keySet()}

    def alter_group_offsets(self, group: str, ends: Mapping[tuple[str, int], int]) -> Any:
        """Requests to set the offsets of a group by topic and partition; returns Kafka's future (`wait_for`)."""
        offsets = self._jvm.java.util.HashMap()
        for (topic, partition), end in ends.items():
            topic_partition = self._class("common.TopicPartition")(topic, partition)
            offsets.put(topic_partition, self._class("clients.consumer.OffsetAndMetadata")(end))
        return self._client.alterConsumerGroupOffsets(group, offsets).all()

    def wait_for(self, future: Any, seconds: int) -> None:
        """Waits for one of Kafka's futures.

        Raises:
            Py4JJavaError: the future failed or timed out.
        """
        future.get(seconds, self._jvm.java.util.concurrent.TimeUnit.SECONDS)

    def _topic(self, name: str) -> TopicFacts | Unseen:
        from py4j.protocol import Py4JJavaError

        options = self._class("clients.admin.DescribeTopicsOptions")().includeAuthorizedOperations(True)
        try:
            described = self._client.describeTopics(self._list([name]), options).allTopicNames().get().get(name)
        except Py4JJavaError as error:
            cause = root_cause(error)
            exists = False if cause.startswith(_ABSENT) else None if _FORBIDDEN in cause else True
            return Unseen(name, exists, cause)
        allowed = described.authorizedOperations()
        topic_id = described.topicId().toString()
        settings = self._settings(name)
        largest = settings.get("max.message.bytes")
        return TopicFacts(
            name,
            described.partitions().size(),
            None if allowed is None else frozenset(operation.name() for operation in allowed),
            None if largest is None else int(largest),
            None if topic_id == _NO_TOPIC_ID else topic_id,
            "compact" in settings.get("cleanup.policy", ""),
        )

    def _settings(self, name: str) -> dict[str, str]:
        """The settings of a topic that checks need; empty without permission."""
        from py4j.protocol import Py4JJavaError

        config_resource = self._class("common.config.ConfigResource")
        resource = config_resource(config_resource.Type.TOPIC, name)
        try:
            config = self._client.describeConfigs(self._list([resource])).all().get().get(resource)
        except Py4JJavaError as error:
            if _FORBIDDEN in root_cause(error):
                return {}
            raise
        entries = {name: config.get(name) for name in ("max.message.bytes", "cleanup.policy")}
        return {name: entry.value() for name, entry in entries.items() if entry and entry.value()}

    def _class(self, name: str) -> Any:
        member = self._jvm
        for part in (_KAFKA + name).split("."):
            member = getattr(member, part)
        return member

    def _list(self, values: Iterable[Any]) -> Any:
        result = self._jvm.java.util.ArrayList()
        for value in values:
            result.add(value)
        return result


@contextmanager
def open_admin(spark: SparkSession, properties: Mapping[str, str], name: str) -> Iterator[KafkaAdmin]:
    """An AdminClient for the block.

    Args:
        properties: Kafka's own names, with the credentials.
        name: of the cluster, for messages.

    Raises:
        ConfigError: Kafka's client rejects its properties.
    """
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to py4j
    java_properties = jvm.java.util.HashMap()
    for key, value in (properties if _TIMEOUTS.keys() & properties.keys() else {**_TIMEOUTS, **properties}).items():
        java_properties.put(key, value)
    try:
        client = jvm.org.apache.kafka.clients.admin.Admin.create(java_properties)
    except Py4JJavaError as error:
        cause = masked(root_cause(error), *secrets_of(properties))
        message = f"cluster `{name}`: Kafka's client rejects its properties: {cause}"
        hint = f"correct the property in `client:` of cluster `{name}`"
        raise ConfigError(Finding("refused-properties", message, hint)) from None
    try:
        yield KafkaAdmin(jvm, client, name, properties.get("bootstrap.servers", ""))
    finally:
        client.close(jvm.java.time.Duration.ofSeconds(5))
