"""Why records wait although no error is reported; a real broker behind another one's endpoint is in
`tests/integration/shipping/test_leaders.py`."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.shipping import producer as module
from brokernat.shipping.producer import Delay, find_delay

RULES = AddressMap.parse("10.0.0.1:9092=172.10.1.40:9093,10.0.0.2:9092=172.10.1.40:9094")
HQ = Cluster("hq", (Endpoint.parse("172.10.1.40:9093"),), RULES)
SILENT = "the brokers have acknowledged nothing for some seconds, and report no error"
MISROUTED = (
    "the leader of audit/1 is node 2, and node 2's endpoint 172.10.1.40:9094 does not accept records for it: another "
    "broker may be behind it; `brokernat doctor --cluster hq` finds which"
)


class World:
    """A producer and an AdminClient in one: `led` has the leader of each partition, `answers` what a node answers."""

    def __init__(self, *led: int, **answers: Any) -> None:
        self.led, self.answers = led, answers
        self.topic_error: KafkaError | None = None
        self.is_down = False
        self.admins = self.polls = 0

    def list_topics(self, topic: str, timeout: float) -> Any:
        if self.is_down:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        brokers = {node: SimpleNamespace(host=f"10.0.0.{node}", port=9092) for node in (1, 2)}
        partitions = {number: SimpleNamespace(leader=leader) for number, leader in enumerate(self.led)}
        topics = {topic: SimpleNamespace(error=self.topic_error, partitions=partitions)}
        return SimpleNamespace(brokers=brokers, topics=topics)

    def list_offsets(self, latest: dict[Any, Any], request_timeout: float) -> dict[Any, Future[Any]]:
        return {partition: self._answer(f"node_{self.led[partition.partition]}") for partition in latest}

    def poll(self, timeout: float) -> None:
        self.polls += 1

    def _answer(self, node: str) -> Future[Any]:
        future: Future[Any] = Future()
        answer = self.answers.get(node, 0)
        if isinstance(answer, int):
            future.set_result(SimpleNamespace(offset=answer))
        elif answer is not None:
            future.set_exception(KafkaException(KafkaError(getattr(KafkaError, answer))))
        return future

    def open_admin(self) -> World:
        self.admins += 1
        return self

    def find(self) -> Any:
        return find_delay(HQ, self.open_admin, self, "audit")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.0)


@pytest.mark.parametrize("answer", ["NOT_LEADER_FOR_PARTITION", "UNKNOWN_TOPIC_OR_PART"])
def test_an_endpoint_that_refuses_its_own_partition_is_named(answer: str) -> None:
    world = World(1, 2, 1, node_2=answer)
    assert list(islice(world.find(), 3)) == [Delay(), *[Delay(MISROUTED, is_certain=True)] * 2]
    assert world.admins == 1


def test_a_leader_that_moves_is_not_accused() -> None:
    world = World(1, 2, node_2="NOT_LEADER_FOR_PARTITION")
    delays = world.find()
    assert next(delays) == Delay()
    world.led = (1, 1)
    assert list(islice(delays, 2)) == [Delay(), Delay(SILENT)]


@pytest.mark.parametrize("answer", [-1001, "_TIMED_OUT"])
def test_a_leader_that_hangs_is_named_unless_a_connection_s_error_is_known(answer: int | str) -> None:
    delays = World(1, 2, node_1=answer).find()
    hangs = "node 1 (172.10.1.40:9093), the leader of audit/0, does not answer"
    assert list(islice(delays, 2)) == [Delay(), Delay(hangs)]


def test_the_sender_goes_on_while_a_leader_has_not_answered() -> None:
    world = World(1, node_1=None)
    assert list(islice(world.find(), 100)) == [Delay()] * 100
    assert world.polls == 100


def test_a_partition_without_a_leader_is_named() -> None:
    assert list(islice(World(1, -1).find(), 2))[1] == Delay("audit/1 has no leader", is_certain=True)


def test_a_topic_that_was_deleted_meanwhile_is_named() -> None:
    world = World()
    world.topic_error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
    assert list(islice(world.find(), 2))[1].reason.startswith("the cluster has no such topic")


def test_no_leader_is_asked_while_no_broker_answers() -> None:
    world = World(1)
    world.is_down = True
    assert list(islice(world.find(), 5)) == [Delay()] * 5
    assert world.admins == 0


@pytest.mark.parametrize("missing", ["confluent-kafka before 2.3 requests no offsets", "no admin"])
def test_silence_is_reported_even_if_nobody_can_be_asked(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1)
    monkeypatch.delattr(World, "open_admin" if missing == "no admin" else "list_offsets")
    delays = find_delay(HQ, lambda: world.open_admin(), world, "audit")
    assert list(islice(delays, 2)) == [Delay(), Delay(SILENT)]
