"""The part of Kafka's protocol that the testbed needs: topics, records, leaders.

It is not a general client: it has no groups, no transactions and no retries of a record. There are two reasons for it:
each start of Kafka's own tools costs two seconds, and tests should not write and read through the code under test.
Messages are kio's, in a version that all brokers from 2.4 to 4.4 support, so no version is negotiated. Each operation
opens and closes its own connections. They go to the PEER endpoints of the plan and not to advertised endpoints.
"""

from __future__ import annotations

import io
import ssl
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from socket import socket
from typing import Protocol, TypeVar

from brokernat.address import Endpoint
from brokernat.errors import BrokernatError, MissingToolError
from brokernat.testbed.place import Place, wait_until

try:
    from kio.schema.api_versions.v0.request import ApiVersionsRequest
    from kio.schema.api_versions.v0.response import ApiVersionsResponse
    from kio.schema.create_topics.v2 import request as creation
    from kio.schema.create_topics.v2.response import CreateTopicsResponse
    from kio.schema.errors import ErrorCode
    from kio.schema.fetch.v4 import request as fetching
    from kio.schema.fetch.v4.response import FetchResponse
    from kio.schema.list_offsets.v1 import request as listing
    from kio.schema.list_offsets.v1.response import ListOffsetsResponse
    from kio.schema.metadata.v2 import request as metadata_query
    from kio.schema.metadata.v2.response import MetadataResponse
    from kio.schema.produce.v3 import request as producing
    from kio.schema.produce.v3.response import ProduceResponse
    from kio.schema.types import BrokerId, TopicName
    from kio.serial import entity_reader, entity_writer
    from kio.static.primitive import Records, i8, i16, i32, i32Timedelta, i64
    from kio.static.protocol import Entity, Payload

    from brokernat.testbed.record_batches import Record, decode_batches, encode_batch, placed
except ModuleNotFoundError as missing:
    if not (missing.name or "").startswith(("kio", "crc32c")):
        raise
    raise MissingToolError("the testbed needs kio", hint="pip install 'brokernat[testbed]'") from None

_TIMEOUT = 30
_CLIENT_ID = b"brokernat-testbed"
_FETCH_BYTES = i32(8 << 20)
_BATCH_RECORDS = 5_000
_EARLIEST, _LATEST = i64(-2), i64(-1)


class _PartitionResult(Protocol):
    """The part of a response about one partition."""

    @property
    def error_code(self) -> ErrorCode: ...


Answer = TypeVar("Answer", bound=Entity)
Result = TypeVar("Result", bound=_PartitionResult)
Outcome = TypeVar("Outcome")


class KafkaError(BrokernatError):
    """A broker returned an error; `code` is Kafka's error code."""

    def __init__(self, operation: str, code: ErrorCode, detail: str | None = None) -> None:
        super().__init__(f"{operation}: {code.name.upper()}{f' ({detail})' if detail else ''}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create."""

    name: str
    partitions: int = 1
    replicas: int = 1
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The cluster as one broker knows it. `leaders` has the leader's node id by topic and partition, -1 without one."""

    cluster_id: str
    controller: int
    nodes: frozenset[int]
    leaders: Mapping[str, Mapping[int, int]]


@dataclass
class Connection:
    """A connection to one broker, for one request at a time. It owns the socket."""

    socket: socket
    _correlation: int = 0

    def ask(self, request: Payload, answer: type[Answer], timeout: float = _TIMEOUT) -> Answer:
        """Send one request and wait for its answer.

        Raises:
            OSError: the connection failed or ended.
        """
        self._correlation += 1
        body = io.BytesIO()
        body.write(struct.pack(">hhih", request.__api_key__, request.__version__, self._correlation, len(_CLIENT_ID)))
        body.write(_CLIENT_ID)
        entity_writer(type(request))(body, request)
        self.socket.settimeout(timeout)
        self.socket.sendall(struct.pack(">i", body.tell()) + body.getvalue())
        length, correlation = struct.unpack(">ii", self._exactly(8))
        if correlation != self._correlation:
            raise ConnectionError("the broker's response has another correlation id")
        return entity_reader(answer)(self._exactly(length - 4), 0)[0]

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self.socket.recv(min(length - len(parts), 1 << 20))
            if not part:
                raise ConnectionError("the broker closed the connection")
            parts += part
        return bytes(parts)


def speaks_kafka(endpoint: Endpoint, place: Place, *, tls: bool) -> bool:
    """Whether a broker answers ApiVersions there, which needs no login. Its certificate is not verified."""
    try:
        with closing(Connection(_wrapped(place.dial(endpoint), tls=tls))) as connection:
            connection.ask(ApiVersionsRequest(), ApiVersionsResponse, timeout=15)
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Operations:
    """The operations of one cluster; `connect(node)` opens a connection to a node."""

    nodes: tuple[int, ...]
    connect: Callable[[int], Connection]

    def metadata(self, node: int, topics: Sequence[str] = ()) -> Metadata:
        """The cluster and these topics as `node` knows them.

        Raises:
            OSError: the node does not answer.
        """
        with closing(self.connect(node)) as connection:
            return metadata_of(connection, topics)

    def create_topics(self, topics: Sequence[Topic]) -> None:
        """Create topics and wait until every broker knows a leader of each partition. Existing topics do not change.

        Raises:
            KafkaError: a broker returned an error.
        """
        new_topics = tuple(
            creation.CreatableTopic(
                name=TopicName(topic.name),
                num_partitions=i32(topic.partitions),
                replication_factor=i16(topic.replicas),
                assignments=(),
                configs=tuple(
                    creation.CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()
                ),
            )
            for topic in topics
        )
        request = creation.CreateTopicsRequest(topics=new_topics, timeout=milliseconds(_TIMEOUT * 1000))

        def refusals(answer: CreateTopicsResponse) -> list[tuple[ErrorCode, str | None]]:
            return [
                (topic.error_code, f"{topic.name}: {topic.error_message}")
                for topic in answer.topics
                if topic.error_code is not ErrorCode.topic_already_exists
            ]

        self.request_controller("create topics", request, CreateTopicsResponse, refusals)
        names = [topic.name for topic in topics]

        def have_leaders(connection: Connection) -> bool:
            found = metadata_of(connection, names).leaders
            return all(_all_have_leaders(found.get(name, {})) for name in names)

        self.known_everywhere(have_leaders, f"leaders of {', '.join(names)}")

    def leaders(self, topic: str) -> Mapping[int, int]:
        """The leader of each partition; waits until all have one.

        Raises:
            BrokernatError: a partition has no leader in time.
        """
        deadline = time.monotonic() + _TIMEOUT
        while True:
            for node in self.nodes:
                try:
                    found = self.metadata(node, [topic]).leaders.get(topic, {})
                except OSError:
                    continue
                if _all_have_leaders(found):
                    return found
            if time.monotonic() > deadline:
                raise BrokernatError(f"topic {topic}: not every partition has a leader after {_TIMEOUT} s")
            time.sleep(0.05)

    def write(self, topic: str, records: Sequence[Record]) -> int:
        """Write records with acks=all, in the given order for each partition.

        Returns:
            The number of written records.

        Raises:
            KafkaError: a broker returned an error.
        """
        now = time.time_ns() // 1_000_000
        for partition, of_partition in placed(records, len(self.leaders(topic))).items():
            for start in range(0, len(of_partition), _BATCH_RECORDS):
                batch = Records(encode_batch(of_partition[start : start + _BATCH_RECORDS], now))
                data = producing.PartitionProduceData(index=i32(partition), records=batch)
                request = producing.ProduceRequest(
                    acks=i16(-1),
                    timeout=milliseconds(_TIMEOUT * 1000),
                    topic_data=(producing.TopicProduceData(name=TopicName(topic), partition_data=(data,)),),
                )
                self._request_leader(
                    topic, partition, request, ProduceResponse, lambda it: it.responses[0].partition_responses[0]
                )
        return len(records)

    def end_offsets(self, topic: str) -> dict[int, int]:
        """The offset after the last record of each partition."""
        return {partition: self._offset(topic, partition, _LATEST) for partition in self.leaders(topic)}

    def read(self, topic: str) -> list[Record]:
        """All current records, by partition and offset; transactions are read uncommitted."""
        found: list[Record] = []
        for partition, end in sorted(self.end_offsets(topic).items()):
            offset = self._offset(topic, partition, _EARLIEST)
            while offset < end:
                for next_offset, records in decode_batches(self._fetch(topic, partition, offset), partition):
                    found += [record for record in records if offset <= record.offset < end]
                    offset = max(offset, next_offset)
        return found

    def request_controller(
        self,
        operation: str,
        request: Payload,
        answer: type[Answer],
        refusals: Callable[[Answer], Sequence[tuple[ErrorCode, str | None]]],
    ) -> None:
        """Send a request to the controller; the first error of `refusals` is raised.

        Raises:
            KafkaError: the controller returned an error.
        """

        def attempt() -> tuple[ErrorCode, str | None, None]:
            with closing(self._controller()) as connection:
                results = refusals(connection.ask(request, answer))
            code, detail = next((one for one in results if one[0] is not ErrorCode.none), (ErrorCode.none, None))
            return code, detail, None

        _retried(operation, attempt)

    def known_everywhere(self, known: Callable[[Connection], bool], what: str) -> None:
        """Wait for all running brokers, because a broker answers a request before the others know of its change."""
        for node in self.nodes:

            def is_known(node: int = node) -> bool:
                try:
                    with closing(self.connect(node)) as connection:
                        return known(connection)
                except ConnectionRefusedError:
                    return True
                except OSError:
                    return False

            wait_until(is_known, f"{what} on node {node}", timeout=_TIMEOUT)

    def _offset(self, topic: str, partition: int, when: i64) -> int:
        part = listing.ListOffsetsPartition(partition_index=i32(partition), timestamp=when)
        topics = (listing.ListOffsetsTopic(name=TopicName(topic), partitions=(part,)),)
        request = listing.ListOffsetsRequest(replica_id=BrokerId(-1), topics=topics)
        found = self._request_leader(
            topic, partition, request, ListOffsetsResponse, lambda it: it.topics[0].partitions[0]
        )
        return int(found.offset)

    def _fetch(self, topic: str, partition: int, offset: int) -> bytes:
        part = fetching.FetchPartition(
            partition=i32(partition), fetch_offset=i64(offset), partition_max_bytes=_FETCH_BYTES
        )
        request = fetching.FetchRequest(
            max_wait=milliseconds(500),
            min_bytes=i32(1),
            max_bytes=_FETCH_BYTES,
            isolation_level=i8(0),
            topics=(fetching.FetchTopic(topic=TopicName(topic), partitions=(part,)),),
        )
        found = self._request_leader(topic, partition, request, FetchResponse, lambda it: it.responses[0].partitions[0])
        return bytes(found.records or b"")

    def _request_leader(
        self, topic: str, partition: int, request: Payload, answer: type[Answer], result: Callable[[Answer], Result]
    ) -> Result:
        def attempt() -> tuple[ErrorCode, str | None, Result]:
            with closing(self._connection(self.leaders(topic)[partition])) as connection:
                found = result(connection.ask(request, answer))
            return found.error_code, None, found

        return _retried(f"{type(request).__name__} of {topic}-{partition}", attempt)

    def _connection(self, node: int) -> Connection:
        try:
            return self.connect(node)
        except OSError as problem:
            raise _NotSentError(f"node {node} does not answer: {problem}") from None

    def _controller(self) -> Connection:
        # With ZooKeeper only the controller accepts the request. A KRaft broker forwards it, and names any broker.
        for node in self.nodes:
            try:
                controller = self.metadata(node).controller
            except OSError:
                continue
            return self._connection(controller if controller in self.nodes else node)
        raise _NotSentError("no broker answers")


class _NotSentError(Exception):
    """No connection, so nothing was sent and the attempt can be repeated."""


def _retried(operation: str, attempt: Callable[[], tuple[ErrorCode, str | None, Outcome]]) -> Outcome:
    """Repeat an attempt after a retriable error or without a connection. After a lost response it is not repeated,
    because the broker may have done what was requested.
    """
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            code, detail, outcome = attempt()
        except _NotSentError as reason:
            code, detail = ErrorCode.leader_not_available, str(reason)
        else:
            if code is ErrorCode.none:
                return outcome
        if not code.retriable or time.monotonic() > deadline:
            raise KafkaError(operation, code, detail)
        time.sleep(0.1)


def metadata_of(connection: Connection, topics: Sequence[str]) -> Metadata:
    """The metadata of the broker of a connection; raises OSError."""
    requested = tuple(metadata_query.MetadataRequestTopic(name=TopicName(name)) for name in topics)
    answer = connection.ask(metadata_query.MetadataRequest(topics=requested), MetadataResponse, timeout=5)
    return Metadata(
        answer.cluster_id or "",
        int(answer.controller_id),
        frozenset(int(broker.node_id) for broker in answer.brokers),
        {
            str(topic.name): {int(part.partition_index): int(part.leader_id) for part in topic.partitions}
            for topic in answer.topics
        },
    )


def _all_have_leaders(leaders: Mapping[int, int]) -> bool:
    return bool(leaders) and all(leader >= 0 for leader in leaders.values())


def milliseconds(number: int) -> i32Timedelta:
    """A duration in a request."""
    return i32Timedelta.parse(timedelta(milliseconds=number))


def _wrapped(plain: socket, *, tls: bool) -> socket:
    if not tls:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        return context.wrap_socket(plain)
    except OSError:
        plain.close()
        raise
