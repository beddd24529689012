"""As much of Kafka's protocol as the testbed needs to serve itself: topics, records, who leads.

Not a client for anybody's work: no groups, no transactions, no retries of a record. It is here because each start of
Kafka's own tools costs two seconds, and because a test that writes and reads through other code than the code under
test proves more. Messages are kio's, in the newest of the old encodings that brokers from 2.4 to 4.4 share, so nothing
has to be negotiated. Each operation opens its connections and closes them. The broker to talk to is found by the plan,
not by the answer: the PEER endpoints of the plan are where the testbed is at home.
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
    from kio.schema.metadata.v2 import request as asking
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


class _OfPartition(Protocol):
    """What is answered about one partition."""

    @property
    def error_code(self) -> ErrorCode: ...


Answer = TypeVar("Answer", bound=Entity)
Result = TypeVar("Result", bound=_OfPartition)
Done = TypeVar("Done")


class KafkaError(BrokernatError):
    """A broker refused; `code` is Kafka's error code."""

    def __init__(self, doing: str, code: ErrorCode, detail: str | None = None) -> None:
        super().__init__(f"{doing}: {code.name.upper()}{f' ({detail})' if detail else ''}")
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
    """What one broker knows of its cluster. `leaders` is partition -> node id, -1 without one, for each topic."""

    cluster_id: str
    controller: int
    nodes: frozenset[int]
    leaders: Mapping[str, Mapping[int, int]]


@dataclass
class Connection:
    """One plain connection to one broker: a request out, its answer back. Owns the socket it is given."""

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
    """Whether a broker answers ApiVersions there, which it does before any login; its certificate is not looked at."""
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
        """What `node` knows of the cluster and of these topics.

        Raises:
            OSError: it does not answer.
        """
        with closing(self.connect(node)) as connection:
            return metadata_of(connection, topics)

    def create_topics(self, topics: Sequence[Topic]) -> None:
        """Create topics and wait until every broker knows a leader of each partition; what exists is left as it is.

        Raises:
            KafkaError: a broker refused.
        """
        wanted = tuple(
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
        request = creation.CreateTopicsRequest(topics=wanted, timeout=milliseconds(_TIMEOUT * 1000))

        def refusals(answer: CreateTopicsResponse) -> list[tuple[ErrorCode, str | None]]:
            each = [(one.error_code, f"{one.name}: {one.error_message}") for one in answer.topics]
            return [one for one in each if one[0] is not ErrorCode.topic_already_exists]

        self.request_controller("create topics", request, CreateTopicsResponse, refusals)
        names = [topic.name for topic in topics]

        def led(connection: Connection) -> bool:
            found = metadata_of(connection, names).leaders
            return all(_all_led(found.get(name, {})) for name in names)

        self.known_everywhere(led, f"leaders of {', '.join(names)}")

    def leaders(self, topic: str) -> Mapping[int, int]:
        """The leader of each partition, as soon as all have one.

        Raises:
            BrokernatError: not all have one in time.
        """
        deadline = time.monotonic() + _TIMEOUT
        while True:
            for node in self.nodes:
                try:
                    found = self.metadata(node, [topic]).leaders.get(topic, {})
                except OSError:
                    continue
                if _all_led(found):
                    return found
            if time.monotonic() > deadline:
                raise BrokernatError(f"topic {topic}: not every partition has a leader after {_TIMEOUT} s")
            time.sleep(0.05)

    def write(self, topic: str, records: Sequence[Record]) -> int:
        """Write records, acknowledged by all replicas in sync, in the given order for each partition.

        Returns:
            How many were written.

        Raises:
            KafkaError: a broker refused.
        """
        now = time.time_ns() // 1_000_000
        for partition, mine in placed(records, len(self.leaders(topic))).items():
            for start in range(0, len(mine), _BATCH_RECORDS):
                batch = Records(encode_batch(mine[start : start + _BATCH_RECORDS], now))
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
        """The offset behind the last record of each partition."""
        return {partition: self._offset(topic, partition, _LATEST) for partition in self.leaders(topic)}

    def read(self, topic: str) -> list[Record]:
        """All records that are there now, by partition and offset; transactions are read uncommitted."""
        found: list[Record] = []
        for partition, end in sorted(self.end_offsets(topic).items()):
            offset = self._offset(topic, partition, _EARLIEST)
            while offset < end:
                for behind, records in decode_batches(self._fetch(topic, partition, offset), partition):
                    found += [record for record in records if offset <= record.offset < end]
                    offset = max(offset, behind)
        return found

    def request_controller(
        self,
        doing: str,
        request: Payload,
        answer: type[Answer],
        refusals: Callable[[Answer], Sequence[tuple[ErrorCode, str | None]]],
    ) -> None:
        """Have the controller do something; the first of the `refusals` that is an error counts.

        Raises:
            KafkaError: it was refused.
        """

        def attempt() -> tuple[ErrorCode, str | None, None]:
            with closing(self._controller()) as connection:
                each = refusals(connection.ask(request, answer))
            code, detail = next((one for one in each if one[0] is not ErrorCode.none), (ErrorCode.none, None))
            return code, detail, None

        _insist(doing, attempt)

    def known_everywhere(self, known: Callable[[Connection], bool], what: str) -> None:
        """Wait for all that run: one broker answers a request before the others have heard of what it changed."""
        for node in self.nodes:

            def asked(node: int = node) -> bool:
                try:
                    with closing(self.connect(node)) as connection:
                        return known(connection)
                except ConnectionRefusedError:
                    return True
                except OSError:
                    return False

            wait_until(asked, f"{what} on node {node}", timeout=_TIMEOUT)

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

        return _insist(f"{type(request).__name__} of {topic}-{partition}", attempt)

    def _connection(self, node: int) -> Connection:
        try:
            return self.connect(node)
        except OSError as problem:
            raise _NotNowError(f"node {node} does not answer: {problem}") from None

    def _controller(self) -> Connection:
        # In KRaft every broker passes the request on and names any broker as the controller; ZooKeeper's is the one.
        for node in self.nodes:
            try:
                controller = self.metadata(node).controller
            except OSError:
                continue
            return self._connection(controller if controller in self.nodes else node)
        raise _NotNowError("no broker answers")


class _NotNowError(Exception):
    """Nothing was sent yet, so the attempt can be repeated."""


def _insist(doing: str, attempt: Callable[[], tuple[ErrorCode, str | None, Done]]) -> Done:
    """Repeat what was refused for now or not sent at all. A lost answer is not repeated: it may have been a yes."""
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            code, detail, done = attempt()
        except _NotNowError as reason:
            code, detail = ErrorCode.leader_not_available, str(reason)
        else:
            if code is ErrorCode.none:
                return done
        if not code.retriable or time.monotonic() > deadline:
            raise KafkaError(doing, code, detail)
        time.sleep(0.1)


def metadata_of(connection: Connection, topics: Sequence[str]) -> Metadata:
    """What the broker at the other end knows; raises OSError."""
    wanted = tuple(asking.MetadataRequestTopic(name=TopicName(name)) for name in topics)
    answer = connection.ask(asking.MetadataRequest(topics=wanted), MetadataResponse, timeout=5)
    return Metadata(
        answer.cluster_id or "",
        int(answer.controller_id),
        frozenset(int(each.node_id) for each in answer.brokers),
        {
            str(topic.name): {int(each.partition_index): int(each.leader_id) for each in topic.partitions}
            for topic in answer.topics
        },
    )


def _all_led(leaders: Mapping[int, int]) -> bool:
    return bool(leaders) and all(leader >= 0 for leader in leaders.values())


def milliseconds(number: int) -> i32Timedelta:
    """A time in a request."""
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
