"""The status of a run for the HTTP server: the run replaces it, and the server's threads read it and the last dead
letters.

Dead letters are read from the end of their topic, also those of earlier runs, so batches need not keep them. The
consumer belongs to no group and runs in the driver's JVM, so it reaches the brokers as the query does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import Proof, client_properties
from brokernat.config import Cluster
from brokernat.config.client_properties import secrets_of
from brokernat.config.model import Pipeline
from brokernat.config.secrets import masked
from brokernat.errors import BrokernatError
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.status import Phase, RunStatus
from brokernat.pipelines.steps.envelope import CONNECT_PREFIX, SOURCE_HEADER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SHOWN = 20
_PREVIEW = 400
"""Characters of a key or value that are shown."""
_READ_SECONDS = 10
_PROPERTIES = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "none",
    "default.api.timeout.ms": "10000",
    "request.timeout.ms": "8000",
}


@dataclass(frozen=True, slots=True)
class ShownDeadLetter:
    """A dead letter as text. `at` is seconds since 1970, `size` the bytes of the value."""

    at: float
    source: str
    """The coordinates of the record."""
    cause: str
    message: str
    key: str | None
    value: str | None
    size: int


@dataclass(frozen=True, slots=True)
class DeadLetterView:
    """The newest dead letters first, or the `problem` of reading them."""

    letters: tuple[ShownDeadLetter, ...] = ()
    problem: str | None = None


@dataclass
class DeadLetterTail:
    """The end of the dead-letter topic. `view` may be called from any thread; one thread reads at a time."""

    spark: SparkSession = field(repr=False)
    cluster: Cluster
    topic: str
    pipeline: str
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def view(self) -> DeadLetterView:
        """Reads the last dead letters of this pipeline."""
        from py4j.protocol import Py4JError

        with self._lock:
            try:
                letters = tuple(self._letters())
            except (Py4JError, OSError) as error:
                return DeadLetterView(problem=self._masked(root_cause(error)))
        return DeadLetterView(tuple(sorted(letters, key=lambda letter: -letter.at))[:SHOWN])

    def _letters(self) -> Iterator[ShownDeadLetter]:
        jvm: Any = self.spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to py4j
        consumer = _consumer(jvm, {**client_properties(self.cluster), **_PROPERTIES})
        try:
            for record in _last_records(jvm, consumer, self.topic):
                if _text(record, f"{CONNECT_PREFIX}connector.name") == self.pipeline:
                    yield self._shown(record)
        finally:
            consumer.close(jvm.java.time.Duration.ofSeconds(2))

    def _shown(self, record: Any) -> ShownDeadLetter:
        value = record.value()
        return ShownDeadLetter(
            at=record.timestamp() / 1000,
            source=_text(record, SOURCE_HEADER),
            cause=_text(record, f"{CONNECT_PREFIX}exception.class.name").removeprefix("brokernat."),
            message=self._masked(_text(record, f"{CONNECT_PREFIX}exception.message")),
            key=self._preview(record.key()),
            value=self._preview(value),
            size=len(value or b""),
        )

    def _preview(self, given: bytes | None) -> str | None:
        if given is None:
            return None
        # A secret that the cut divides is not recognised. It is in the last `hidden` characters, which are not shown:
        # no usual spelling has more than 16 characters for each one of the secret.
        hidden = 16 * max(map(len, secrets_of(self.cluster.client)), default=0)
        bytes_read = 4 * (_PREVIEW + hidden)
        text, is_cut = self._masked(readable(given[:bytes_read])), len(given) > bytes_read
        shown = text[: max(0, len(text) - hidden)] if is_cut else text
        return f"{shown[:_PREVIEW]}…" if is_cut or len(shown) > _PREVIEW else shown

    def _masked(self, text: str) -> str:
        return masked(text, *secrets_of(self.cluster.client))


def readable(given: bytes) -> str:
    """Bytes as text, with an escape for each byte that is not printable."""
    text = given.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _consumer(jvm: Any, properties: dict[str, str]) -> Any:
    java_properties = jvm.java.util.HashMap()
    for name, value in properties.items():
        java_properties.put(name, value)
    deserializer = jvm.org.apache.kafka.common.serialization.ByteArrayDeserializer
    return jvm.org.apache.kafka.clients.consumer.KafkaConsumer(java_properties, deserializer(), deserializer())


def _last_records(jvm: Any, consumer: Any, topic: str) -> Sequence[Any]:
    """Up to `SHOWN` records of each partition."""
    partitions = jvm.java.util.ArrayList()
    for info in consumer.partitionsFor(topic):
        partitions.add(jvm.org.apache.kafka.common.TopicPartition(topic, info.partition()))
    consumer.assign(partitions)
    starts, ends = consumer.beginningOffsets(partitions), consumer.endOffsets(partitions)
    for partition in partitions:
        consumer.seek(partition, max(starts[partition], ends[partition] - SHOWN))
    records: list[Any] = []
    deadline = time.monotonic() + _READ_SECONDS
    while any(consumer.position(each) < ends[each] for each in partitions) and time.monotonic() < deadline:
        records += consumer.poll(jvm.java.time.Duration.ofSeconds(1)).iterator()
    return records


def _text(record: Any, name: str) -> str:
    header = record.headers().lastHeader(name)
    return "" if header is None else bytes(header.value()).decode("utf-8", "replace")


class StatusBoard:
    """The status of one run; executors that join are proved in another thread."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.status = RunStatus.of(pipeline, time.time())
        self.dead_letters: Callable[[], DeadLetterView] = DeadLetterView
        self._lock = threading.Lock()

    def prove(self, proof: Proof) -> None:
        """Adds the proof of executors."""
        with self._lock:
            self.status = self.status.proved(proof)

    def begin(self, spark: SparkSession, prepared: Prepared) -> None:
        """Sets the state to running and stores the start in the checkpoint."""
        starts = prepared.state.count_start(Files(spark))
        with self._lock:
            self.status = self.status.started(starts, time.time())
        sink = prepared.pipeline.sink
        self.dead_letters = DeadLetterTail(spark, prepared.sink, sink.dead_letters, prepared.pipeline.name).view

    def follow(self, progress: Progress, activity: str | None, query_failures: int) -> None:
        """Updates the progress; see `RunStatus.followed`."""
        with self._lock:
            self.status = self.status.followed(progress, activity, time.time(), query_failures)

    def finish(self) -> None:
        """Sets the state to finishing: a stop was requested."""
        with self._lock:
            self.status = replace(self.status, phase=Phase.FINISHING)

    def trouble(self) -> str | None:
        """See `RunStatus.trouble`."""
        return self.status.trouble(time.time())

    @contextmanager
    def until_the_end(self) -> Iterator[None]:
        """Publishes the result of the block while Spark stops."""
        try:
            yield
        except BrokernatError as error:
            self._end(error.message)
            raise
        self._end()

    def _end(self, failure: str = "") -> None:
        with self._lock:
            self.status = self.status.ended(failure)
