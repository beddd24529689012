"""What the testbed asks of a cluster: who is there, topics, rights, write records, read records.

Each operation opens its connections and closes them. The broker to talk to is found by the plan, not by the answer:
the PEER endpoints of the plan are where the testbed is at home.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from brokernat.errors import BrokernatError
from brokernat.testbed.kafka import answers
from brokernat.testbed.kafka.connection import Api, Connection
from brokernat.testbed.kafka.primitives import Reader, array, int8, int16, int32, int64, sized, string
from brokernat.testbed.kafka.records import Record, decode_batches, encode_batch, placed
from brokernat.testbed.polling import wait_until

_TIMEOUT_MS = 30_000
_FETCH_BYTES = 8 << 20
_BATCH_RECORDS = 5_000
_EARLIEST, _LATEST = -2, -1
# https://kafka.apache.org/protocol: what passes by itself once leaders are known again.
_RETRIABLE = frozenset({3, 5, 6, 7, 9, 13, 14, 15, 16, 41, 74, 75, 76, 78})
_TOPIC_EXISTS = 36
_LEADER_NOT_AVAILABLE = 5


class KafkaError(BrokernatError):
    """A broker refused; the number is Kafka's error code."""

    def __init__(self, doing: str, code: int, detail: str | None = None) -> None:
        super().__init__(f"{doing}: error code {code}{f' ({detail})' if detail else ''}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create."""

    name: str
    partitions: int = 1
    replicas: int = 1
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operations:
    """The operations of one cluster; `connect(node)` opens a connection to a node."""

    nodes: tuple[int, ...]
    connect: Callable[[int], Connection]

    def metadata(self, node: int, topics: Sequence[str] | None = ()) -> answers.Metadata:
        """What `node` knows; topics None asks for all, an empty list for none.

        Raises:
            OSError: it does not answer.
        """
        with self.connect(node) as connection:
            return answers.metadata(connection.ask(Api.METADATA, _names(topics), timeout=5))

    def create_topics(self, topics: Sequence[Topic]) -> None:
        """Create topics and wait until every broker knows a leader of each partition; what exists is left as it is.

        Raises:
            KafkaError: a broker refused.
        """
        wanted = array(
            string(topic.name) + int32(topic.partitions) + int16(topic.replicas) + array(())
            + array(string(name) + string(value) for name, value in topic.configs.items())
            for topic in topics
        )  # fmt: skip
        self._controller_request(
            Api.CREATE_TOPICS, wanted + int32(_TIMEOUT_MS) + int8(0), answers.creation_errors, "create topics"
        )
        names = [topic.name for topic in topics]

        def led(connection: Connection) -> bool:
            found = _leaders_known(connection, names)
            return all(_all_led(found.get(name, {})) for name in names)

        self._known_everywhere(led, f"leaders of {', '.join(names)}")

    def delete_topics(self, names: Sequence[str]) -> None:
        """Delete topics and wait until no broker knows a leader of theirs.

        Raises:
            KafkaError: a broker refused.
        """
        body = array(string(name) for name in names) + int32(_TIMEOUT_MS)
        self._controller_request(Api.DELETE_TOPICS, body, answers.deletion_errors, "delete topics")

        def forgotten(connection: Connection) -> bool:
            return not any(_leaders_known(connection, names).values())

        self._known_everywhere(forgotten, f"end of {', '.join(names)}")

    def create_acls(self, acls: Sequence[bytes]) -> None:
        """Give rights and wait until every broker acts on them; the bytes are encoded creations (acls.py).

        Raises:
            KafkaError: a broker refused.
        """
        self._controller_request(Api.CREATE_ACLS, array(acls), answers.acl_errors, "give rights")

        # As a filter the bytes of a creation mean just that right.
        def in_force(connection: Connection) -> bool:
            return all(answers.has_acls(connection.ask(Api.DESCRIBE_ACLS, acl, timeout=5)) for acl in acls)

        self._known_everywhere(in_force, "rights in force")

    def leaders(self, topic: str, timeout: float = 30) -> Mapping[int, int]:
        """The leader of each partition, as soon as all have one.

        Raises:
            BrokernatError: not all have one in time.
        """
        deadline = time.monotonic() + timeout
        while True:
            for node in self.nodes:
                try:
                    found = self.metadata(node, [topic]).leaders.get(topic, {})
                except OSError:
                    continue
                if _all_led(found):
                    return found
            if time.monotonic() > deadline:
                raise BrokernatError(f"topic {topic}: not every partition has a leader within {timeout:.0f} s")
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
                batch = encode_batch(mine[start : start + _BATCH_RECORDS], now)
                part = array([int32(partition) + sized(batch)])
                body = string(None) + int16(-1) + int32(_TIMEOUT_MS) + array([string(topic) + part])
                self._leader_request(topic, partition, Api.PRODUCE, body, answers.produce_error)
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

    def _offset(self, topic: str, partition: int, when: int) -> int:
        part = array([int32(partition) + int64(when)])
        body = int32(-1) + array([string(topic) + part])
        return self._leader_request(topic, partition, Api.LIST_OFFSETS, body, answers.listed_offset)

    def _fetch(self, topic: str, partition: int, offset: int) -> bytes:
        part = array([int32(partition) + int64(offset) + int32(_FETCH_BYTES)])
        limits = int32(-1) + int32(500) + int32(1) + int32(_FETCH_BYTES) + int8(0)
        body = limits + array([string(topic) + part])
        pieces: list[bytes] = []
        self._leader_request(topic, partition, Api.FETCH, body, lambda answer: answers.fetched(answer, pieces))
        return b"".join(pieces)

    def _leader_request(
        self, topic: str, partition: int, api: Api, body: bytes, read: Callable[[Reader], tuple[int, int]]
    ) -> int:
        def attempt() -> tuple[int, str | None, int]:
            with self._connection(self.leaders(topic)[partition]) as connection:
                code, value = read(connection.ask(api, body))
            return code, None, value

        return _insist(f"{api.name.lower()} {topic}-{partition}", attempt)

    def _controller_request(
        self, api: Api, body: bytes, read: Callable[[Reader], list[tuple[str, int, str | None]]], doing: str
    ) -> None:
        def attempt() -> tuple[int, str | None, int]:
            with self._controller() as connection:
                refused = [one for one in read(connection.ask(api, body)) if one[1] not in (0, _TOPIC_EXISTS)]
            return (refused[0][1], f"{refused[0][0]}: {refused[0][2]}", 0) if refused else (0, None, 0)

        _insist(doing, attempt)

    def _known_everywhere(self, known: Callable[[Connection], bool], what: str) -> None:
        """Wait for all that run: one broker answers a request before the others have heard of what it changed."""
        for node in self.nodes:

            def asked(node: int = node) -> bool:
                try:
                    with self.connect(node) as connection:
                        return known(connection)
                except ConnectionRefusedError:
                    return True
                except OSError:
                    return False

            wait_until(asked, f"{what} on node {node}", timeout=_TIMEOUT_MS / 1000)

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


def _insist(doing: str, attempt: Callable[[], tuple[int, str | None, int]]) -> int:
    """Repeat what was refused for now or not sent at all. A lost answer is not repeated: it may have been a yes."""
    deadline = time.monotonic() + _TIMEOUT_MS / 1000
    while True:
        try:
            code, detail, value = attempt()
        except _NotNowError as reason:
            code, detail, value = _LEADER_NOT_AVAILABLE, str(reason), 0
        if code == 0:
            return value
        if code not in _RETRIABLE or time.monotonic() > deadline:
            raise KafkaError(doing, code, detail)
        time.sleep(0.1)


def _all_led(leaders: Mapping[int, int]) -> bool:
    return bool(leaders) and all(leader >= 0 for leader in leaders.values())


def _leaders_known(connection: Connection, topics: Sequence[str]) -> Mapping[str, Mapping[int, int]]:
    return answers.metadata(connection.ask(Api.METADATA, _names(topics), timeout=5)).leaders


def _names(topics: Sequence[str] | None) -> bytes:
    return int32(-1) if topics is None else array(string(name) for name in topics)
