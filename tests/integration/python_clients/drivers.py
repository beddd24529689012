"""The three libraries behind one face, so that what a test asks is written once.

Each driver makes clients as a user would: `configure` of brokernat, the library's own class, its own calls. Run in a
process of its own (`program.py`), because two releases of kafka-python cannot be imported into one.
"""

import asyncio
import atexit
import threading
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from brokernat.config import Cluster

Records = Iterable[tuple[int, str]]
"""Partition and value."""

_PATIENCE = 120
_LATE = 10
_JOIN = 60_000
"""Milliseconds. kafka-python 3.0.12 may join a group before it knows the topic (metadata without it is on its way), and
joins again when it does. A poll that ends between JoinGroup and SyncGroup of this second join loses it for ever:
`_perform_assignment` has made `need_rejoin` false, and nobody awaits the join."""


class Admin(Protocol):
    def create_topic(self, name: str, partitions: int, replicas: int) -> None: ...
    def committed(self, group: str) -> list[int]:
        """The partitions that a group has committed, from its coordinator: a broker that the client did not choose."""

    def close(self) -> None: ...


class Producer(Protocol):
    def send(self, topic: str, records: Records) -> list[str]:
        """The values that were acknowledged: all of them, or the first failure is raised."""

    def transaction(self, topic: str, records: Records, *, commit: bool) -> None: ...
    def leaders(self, topic: str) -> dict[str, int]: ...
    def close(self) -> None: ...


class Consumer(Protocol):
    def poll(self, milliseconds: int) -> list[tuple[int, str]]: ...
    def commit(self) -> None: ...
    def close(self) -> None: ...


class Driver(Protocol):
    version: str
    passing: tuple[type[Exception], ...]
    """What a consumer's poll raises and an application polls again after."""

    def admin(self, cluster: Cluster, **conf: Any) -> Admin: ...
    def producer(self, cluster: Cluster, **conf: Any) -> Producer: ...
    def consumer(self, cluster: Cluster, topic: str, **conf: Any) -> Consumer: ...


class KafkaPython:
    """kafka-python, whichever generation is on the path."""

    def __init__(self) -> None:
        import kafka

        self.version = f"kafka-python {kafka.__version__}"
        # Out of 3.x's poll, too, when the broker that is asked for the coordinator goes away.
        self.passing: tuple[type[Exception], ...] = (kafka.errors.KafkaConnectionError,)
        _make_message_classes()

    def admin(self, cluster: Cluster, **conf: Any) -> Admin:
        from kafka import KafkaAdminClient

        from brokernat.clients.kafka_python import configure

        return _KafkaPythonAdmin(KafkaAdminClient(**configure(conf, cluster, KafkaAdminClient)))

    def producer(self, cluster: Cluster, **conf: Any) -> Producer:
        from kafka import KafkaProducer

        from brokernat.clients.kafka_python import configure

        return _KafkaPythonProducer(KafkaProducer(**configure(conf, cluster, KafkaProducer)))

    def consumer(self, cluster: Cluster, topic: str, **conf: Any) -> Consumer:
        from kafka import KafkaConsumer

        from brokernat.clients.kafka_python import configure

        return _KafkaPythonConsumer(KafkaConsumer(topic, **configure(conf, cluster, KafkaConsumer)))


class _KafkaPythonAdmin:
    def __init__(self, client: Any) -> None:
        self._client = client

    def create_topic(self, name: str, partitions: int, replicas: int) -> None:
        from kafka.admin import NewTopic

        self._client.create_topics([NewTopic(name, partitions, replicas)])

    def committed(self, group: str) -> list[int]:
        if hasattr(self._client, "list_group_offsets"):
            found = self._client.list_group_offsets({group: None})[group]
        else:
            found = self._client.list_consumer_group_offsets(group)
        return sorted(partition.partition for partition in found)

    def close(self) -> None:
        self._client.close()


class _KafkaPythonProducer:
    def __init__(self, client: Any) -> None:
        self._client = client
        self._transactional = False

    def send(self, topic: str, records: Records) -> list[str]:
        sent = [(value, self._client.send(topic, value.encode(), partition=partition)) for partition, value in records]
        # Without a time-out kafka-python 3.0.12 may wait for ever for what is left of a partition whose batch expired.
        self._client.flush(self._client.config["delivery_timeout_ms"] / 1000 + _LATE)
        for _, future in sent:
            future.get(_PATIENCE)
        return [value for value, _ in sent]

    def transaction(self, topic: str, records: Records, *, commit: bool) -> None:
        if not self._transactional:
            self._client.init_transactions()
            self._transactional = True
        self._client.begin_transaction()
        self.send(topic, records)
        self._client.commit_transaction() if commit else self._client.abort_transaction()

    def leaders(self, topic: str) -> dict[str, int]:
        from kafka import TopicPartition

        partitions = self._client.partitions_for(topic)
        metadata = self._client._metadata
        return {str(one): metadata.leader_for_partition(TopicPartition(topic, one)) for one in partitions}

    def close(self) -> None:
        self._client.close()


class _KafkaPythonConsumer:
    def __init__(self, client: Any) -> None:
        self._client = client

    def poll(self, milliseconds: int) -> list[tuple[int, str]]:
        wait = milliseconds if self._client.assignment() else _JOIN
        batches = self._client.poll(timeout_ms=wait).values()
        return [(record.partition, record.value.decode()) for batch in batches for record in batch]

    def commit(self) -> None:
        self._client.commit()

    def close(self) -> None:
        self._client.close()


class AioKafka:
    """aiokafka, its loop on a thread of its own."""

    def __init__(self) -> None:
        import aiokafka

        self.version = f"aiokafka {aiokafka.__version__}"
        self.passing: tuple[type[Exception], ...] = ()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        # A thread that is frozen while it logs keeps the lock, and what is logged after it waits for ever.
        atexit.register(self._end)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def run(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(_PATIENCE)

    def admin(self, cluster: Cluster, **conf: Any) -> Admin:
        from aiokafka.admin import AIOKafkaAdminClient

        return _AioKafkaAdmin(self, self._started(AIOKafkaAdminClient, cluster, conf))

    def producer(self, cluster: Cluster, **conf: Any) -> Producer:
        from aiokafka import AIOKafkaProducer

        return _AioKafkaProducer(self, self._started(AIOKafkaProducer, cluster, conf))

    def consumer(self, cluster: Cluster, topic: str, **conf: Any) -> Consumer:
        from aiokafka import AIOKafkaConsumer

        return _AioKafkaConsumer(self, self._started(AIOKafkaConsumer, cluster, conf, topic))

    def _started(self, kind: Any, cluster: Cluster, conf: Mapping[str, Any], *topics: str) -> Any:
        from brokernat.clients.aiokafka import attach, configure

        async def start() -> Any:
            client = attach(kind(*topics, **configure(conf, cluster, kind)), cluster)
            try:
                await client.start()
            except BaseException:
                with suppress(Exception):
                    await (client.stop if hasattr(client, "stop") else client.close)()
                raise
            return client

        return self.run(start())


class _AioKafkaAdmin:
    def __init__(self, driver: AioKafka, client: Any) -> None:
        self._driver, self._client = driver, client

    def create_topic(self, name: str, partitions: int, replicas: int) -> None:
        from aiokafka.admin import NewTopic

        self._driver.run(self._client.create_topics([NewTopic(name, partitions, replicas)]))

    def committed(self, group: str) -> list[int]:
        found = self._driver.run(self._client.list_consumer_group_offsets(group))
        return sorted(partition.partition for partition in found)

    def close(self) -> None:
        self._driver.run(self._client.close())


class _AioKafkaProducer:
    def __init__(self, driver: AioKafka, client: Any) -> None:
        self._driver, self._client = driver, client

    def send(self, topic: str, records: Records) -> list[str]:
        async def send() -> list[str]:
            sent = [
                (value, await self._client.send(topic, value.encode(), partition=partition))
                for partition, value in records
            ]
            for _, future in sent:
                await future
            return [value for value, _ in sent]

        acknowledged: list[str] = self._driver.run(send())
        return acknowledged

    def transaction(self, topic: str, records: Records, *, commit: bool) -> None:
        self._driver.run(self._client.begin_transaction())
        self.send(topic, records)
        self._driver.run(self._client.commit_transaction() if commit else self._client.abort_transaction())

    def leaders(self, topic: str) -> dict[str, int]:
        from aiokafka import TopicPartition

        partitions = self._driver.run(self._client.partitions_for(topic))
        metadata = self._client.client.cluster
        return {str(one): metadata.leader_for_partition(TopicPartition(topic, one)) for one in partitions}

    def close(self) -> None:
        self._driver.run(self._client.stop())


class _AioKafkaConsumer:
    def __init__(self, driver: AioKafka, client: Any) -> None:
        self._driver, self._client = driver, client

    def poll(self, milliseconds: int) -> list[tuple[int, str]]:
        batches = self._driver.run(self._client.getmany(timeout_ms=milliseconds)).values()
        return [(record.partition, record.value.decode()) for batch in batches for record in batch]

    def commit(self) -> None:
        self._driver.run(self._client.commit())

    def close(self) -> None:
        self._driver.run(self._client.stop())


def _make_message_classes() -> None:
    """In one thread: kafka-python 3.0.12 makes a class for a version of a response when it first reads one. Two clients
    that do so at once may leave a dead reference to it, and then no client of the process gets that response."""
    try:
        from kafka.protocol.api_header import ResponseClassRegistry
    except ImportError:
        # kafka-python 2 has all its classes from the start.
        return
    for response in ResponseClassRegistry._response_class_registry.values():
        for version in range(response.min_version, response.max_version + 1):
            response[version]


DRIVERS: Mapping[str, type[Driver]] = {"kafka-python": KafkaPython, "aiokafka": AioKafka}
