"""The sender's decisions, with a producer that answers as it is told; real brokers are in `tests/integration`."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import confluent_kafka
import pytest

from brokernat.shipping import sender as module
from brokernat.shipping.block import Block, Destination, Rejection
from brokernat.shipping.producer import REJECTING, Delay
from brokernat.shipping.sender import RecordRange, Sender, sort_refused
from brokernat.shipping.spool import Spool
from brokernat.shipping.threads import log_later
from brokernat.testbed.place import wait_until


class Fault:
    """As `confluent_kafka.KafkaError`."""

    def __init__(self, name: str, *, fatal: bool = False) -> None:
        self._name, self._fatal = name, fatal

    def name(self) -> str:
        return self._name

    def str(self) -> str:
        return f"what {self._name} means"

    def fatal(self) -> bool:
        return self._fatal


class Message:
    def __init__(self, value: bytes) -> None:
        self._value = value

    def value(self) -> bytes:
        return self._value


class Producer:
    """`answer` says what becomes of a record; None is an acknowledgement. Deaf ones never answer."""

    def __init__(self, answer: Callable[[str], Fault | None]) -> None:
        self.answer = answer
        self.deaf = False
        self.sent: list[str] = []
        self.cluster_id = "first"
        self.topic_error: Fault | None = None
        self.whole_batches = False
        """A broker that refuses a batch refuses every record of it."""
        self._waiting: list[tuple[bytes, Callable[..., None]]] = []

    def produce(
        self, topic: str, value: bytes, key: bytes, *, headers: list[Any], on_delivery: Callable[..., None]
    ) -> None:
        content = json.loads(value)
        assert headers == [("brokernat-seq", f"{content['source']}/{content['sequence']}".encode())]
        assert key == content["source"].encode()
        self.sent.append(content["message"])
        self._waiting.append((value, on_delivery))

    def poll(self, timeout: float) -> None:
        pass

    def list_topics(self, topic: str, timeout: float) -> SimpleNamespace:
        return SimpleNamespace(cluster_id=self.cluster_id, topics={topic: SimpleNamespace(error=self.topic_error)})

    def purge(self) -> None:
        self._waiting.clear()

    def flush(self, timeout: float) -> int:
        if self.deaf:
            return len(self._waiting)
        waiting, self._waiting = self._waiting, []
        answers = [self.answer(json.loads(value)["message"]) for value, _ in waiting]
        if self.whole_batches:
            answers = [next((fault for fault in answers if fault), None)] * len(answers)
        for (value, on_delivery), fault in zip(waiting, answers, strict=True):
            if fault:
                on_delivery(fault, Message(value))
        return 0


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    opened = Spool(tmp_path / "spool")
    yield opened
    opened.close()


def append(spool: Spool, *messages: str) -> None:
    spool.append([json.dumps({"message": message})[1:].encode() for message in messages])


def run(
    spool: Spool, producer: Producer, until: Callable[[], bool], told: Callable[[Rejection], None] | None = None
) -> None:
    sender = Sender(spool, "topic", lambda on_error: producer, told)
    sender.start()
    try:
        wait_until(until, "the sender", timeout=60)
    finally:
        sender.stop()
    spool.settle()


def test_an_acknowledged_block_leaves(spool: Spool) -> None:
    append(spool, "a", "b")
    append(spool, "c")
    run(spool, producer := Producer(lambda message: None), lambda: not spool.pending)
    assert producer.sent == ["a", "b", "c"]
    assert spool.counts["acknowledged"] == 3
    assert spool.blocks_after(0, 1) == []


@pytest.mark.parametrize("name", sorted(REJECTING))
def test_a_rejected_record_is_kept_counted_and_never_acknowledged(spool: Spool, name: str) -> None:
    append(spool, "good", "bad", "good too")
    rejections: list[Rejection] = []
    producer = Producer(lambda message: Fault(name) if message == "bad" else None)
    run(spool, producer, lambda: not spool.pending, rejections.append)
    assert (spool.counts["acknowledged"], spool.counts["rejected"]) == (2, 1)
    (rejection,) = rejections
    assert rejection.sequence == 2
    assert rejection.reason.endswith(f"({name})")
    ((kept,),) = spool._file._writer.execute("SELECT record FROM rejected")
    assert json.loads(kept)["message"] == "bad"


@pytest.mark.parametrize(
    "name",
    [
        "TOPIC_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PART", "_MSG_TIMED_OUT", "NOT_ENOUGH_REPLICAS",
        "INVALID_TIMESTAMP", "INVALID_MSG",
    ],
)  # fmt: skip
def test_what_people_can_repair_is_sent_again_alone(spool: Spool, name: str) -> None:
    append(spool, "good", "unlucky", "good too")
    left = [2]

    def answer(message: str) -> Fault | None:
        if message == "unlucky" and left[0]:
            left[0] -= 1
            return Fault(name)
        return None

    run(spool, producer := Producer(answer), lambda: not spool.pending)
    assert producer.sent == ["good", "unlucky", "good too", "unlucky", "unlucky"]
    assert (spool.counts["acknowledged"], spool.counts["rejected"]) == (3, 0)


def test_a_batch_that_is_refused_for_one_record_costs_no_other(spool: Spool) -> None:
    bad = {"3", "17", "18", "49"}
    append(spool, *map(str, range(25)))
    append(spool, *map(str, range(25, 50)))
    rejections: list[Rejection] = []
    producer = Producer(lambda message: Fault("MSG_SIZE_TOO_LARGE") if message in bad else None)
    producer.whole_batches = True
    run(spool, producer, lambda: not spool.pending, rejections.append)
    assert {json.loads(rejection.record)["message"] for rejection in rejections} == bad
    assert [rejection.sequence for rejection in rejections] == [4, 18, 19, 50]
    assert (spool.counts["acknowledged"], spool.counts["rejected"]) == (46, 4)


def test_no_answer_is_no_acknowledgement(spool: Spool) -> None:
    append(spool, "a")
    producer = Producer(lambda message: None)
    producer.deaf = True
    run(spool, producer, lambda: bool(producer.sent))
    assert spool.pending == 1
    assert len(spool.blocks_after(0, 1)) == 1


def test_what_waits_in_a_producer_that_is_closed_is_not_sent_any_more(spool: Spool) -> None:
    """It is in the spool, and whoever sends that next would send it twice."""
    append(spool, "a")
    producer = Producer(lambda message: None)
    producer.deaf = True
    run(spool, producer, lambda: bool(producer._waiting))
    assert producer._waiting == []
    assert spool.pending == 1


def test_after_a_fatal_error_a_new_producer_sends_what_has_no_answer(spool: Spool) -> None:
    append(spool, "a")
    append(spool, "b")
    broken = Producer(lambda message: Fault("OUT_OF_ORDER_SEQUENCE_NUMBER", fatal=True) if message == "b" else None)
    whole = Producer(lambda message: None)
    made = [whole, broken]
    sender = Sender(spool, "topic", lambda on_error: made.pop())
    sender.start()
    wait_until(lambda: not spool.pending, "the sender", timeout=60)
    sender.stop()
    assert whole.sent == ["a", "b"]


def test_a_producer_that_breaks_each_time_is_replaced_ever_more_slowly(spool: Spool) -> None:
    """As an idempotent one does on a broker before 2.8 that grants it nothing."""
    append(spool, "a")
    pauses: list[float] = []
    sender = Sender(spool, "topic", lambda on_error: Producer(lambda message: Fault("DENIED", fatal=True)))

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            return len(pauses) > 5

    sender._stop = Stop()
    sender._run()
    assert pauses == sorted(set(pauses))
    assert spool.pending == 1


def test_an_error_of_ours_leaves_the_records_where_they_are(spool: Spool) -> None:
    append(spool, "a")
    failures = [RuntimeError("once")]

    def answer(message: str) -> Fault | None:
        if failures:
            raise failures.pop()
        return None

    run(spool, Producer(answer), lambda: not spool.pending)
    assert spool.counts["acknowledged"] == 1


def test_a_callback_that_fails_stops_nothing(spool: Spool) -> None:
    append(spool, "bad", "good")
    producer = Producer(lambda message: Fault("MSG_SIZE_TOO_LARGE") if message == "bad" else None)

    def told(rejection: Rejection) -> None:
        append(spool, "next")
        raise ValueError(rejection.reason)

    run(spool, producer, lambda: producer.sent[-1:] == ["next"] and not spool.pending, told)
    assert (spool.counts["acknowledged"], spool.counts["rejected"]) == (2, 1)


def test_an_outage_is_reported_once_and_so_is_its_end(
    spool: Spool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONGEST_PAUSE", 0.01)
    caplog.set_level(logging.INFO)
    append(spool, "a")
    attempts: list[str] = []

    def answer(message: str) -> Fault | None:
        attempts.append(message)
        return Fault("TOPIC_AUTHORIZATION_FAILED") if len(attempts) < 5 else None

    run(spool, Producer(answer), lambda: not spool.pending)
    assert spool.trouble == ""
    wait_until(lambda: len(caplog.messages) > 1, "the end of the outage in the log", timeout=60)
    refusal = "the user may not write to the topic: it needs the WRITE permission (TOPIC_AUTHORIZATION_FAILED)"
    assert caplog.messages == [
        f"records for topic wait in the spool {spool.directory}: {refusal}",
        "delivery resumed after 0 s; 0 records wait",
    ]


def test_trouble_lasts_as_long_as_its_cause(spool: Spool) -> None:
    append(spool, "a")
    run(spool, Producer(lambda message: Fault("NOT_ENOUGH_REPLICAS")), lambda: bool(spool.trouble))
    assert spool.trouble == "fewer in-sync replicas than the topic's min.insync.replicas (NOT_ENOUGH_REPLICAS)"


def test_a_topic_that_is_missing_is_known_before_librdkafka_gives_up_waiting_for_it(spool: Spool) -> None:
    append(spool, "a")
    deaf = Producer(lambda message: None)
    deaf.deaf, deaf.topic_error = True, Fault("UNKNOWN_TOPIC_OR_PART")
    run(spool, deaf, lambda: bool(spool.trouble))
    assert spool.trouble.startswith("the cluster has no such topic")


def test_brokers_that_are_away_are_named_with_the_last_error(spool: Spool) -> None:
    """librdkafka's own words for it are `0/4 brokers are down`."""
    append(spool, "a")
    nowhere = {"bootstrap.servers": "127.0.0.1:1"}
    sender = Sender(spool, "topic", lambda on_error: confluent_kafka.Producer({**nowhere, "error_cb": on_error}))
    sender.start()
    wait_until(lambda: "no broker" in spool.trouble, "the error", timeout=60)
    sender.stop()
    reason = "broker 127.0.0.1:1: Connect to 127.0.0.1:1 failed: Connection refused"
    assert spool.trouble == f"no broker can be reached, the last error is: {reason}"


@pytest.mark.parametrize("name", ["_AUTHENTICATION", "_SSL"])
def test_a_broker_that_refuses_is_reached(spool: Spool, name: str) -> None:
    """librdkafka counts a broker that refuses the login among those that are down."""
    sender = Sender(spool, "topic", lambda on_error: Producer(lambda message: None))
    for fault in (name, "_ALL_BROKERS_DOWN"):
        sender._client_error(Fault(fault))
    assert spool.trouble.endswith(f"failed: what {name} means")
    assert "reached" not in spool.trouble


@pytest.fixture
def delayed(spool: Spool) -> Iterator[tuple[Sender, Producer, list[Delay]]]:
    """A sender whose records have no answer, and the reasons that it finds, one after another."""
    append(spool, "a")
    producer, reasons = Producer(lambda message: None), [Delay()]
    producer.deaf = True
    found = iter(lambda: reasons.pop() if len(reasons) > 1 else reasons[0], None)
    sender = Sender(spool, "topic", lambda on_error: producer, find_delay=lambda _producer, _topic: found)
    sender.start()
    yield sender, producer, reasons
    sender.stop()


def test_a_reason_without_any_error_is_reported_until_records_flow(
    spool: Spool, delayed: tuple[Sender, Producer, list[Delay]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    _, producer, reasons = delayed
    reasons[0] = Delay("first")
    wait_until(lambda: spool.trouble == "first", "the reason", timeout=60)
    reasons[0] = Delay("second")
    wait_until(lambda: spool.trouble == "second", "the next reason", timeout=60)
    producer.deaf = False
    wait_until(lambda: not spool.pending, "the sender", timeout=60)
    assert spool.trouble == ""
    wait_until(lambda: len(caplog.messages) > 1, "the log", timeout=60)
    assert caplog.messages == [
        f"records for topic wait in the spool {spool.directory}: first",
        "delivery resumed after 0 s; 0 records wait",
    ]


def test_an_error_of_a_connection_gives_way_to_a_certain_reason_only(
    spool: Spool, delayed: tuple[Sender, Producer, list[Delay]]
) -> None:
    sender, producer, reasons = delayed
    wait_until(lambda: bool(producer.sent), "the sender", timeout=60)
    sender._client_error(Fault("_TRANSPORT"))
    reasons[:] = [Delay(), Delay("a leader hangs")]
    wait_until(lambda: len(reasons) == 1, "the reason", timeout=60)
    assert spool.trouble == "what _TRANSPORT means"
    reasons[0] = Delay("another broker answers", is_certain=True)
    wait_until(lambda: spool.trouble == "another broker answers", "the reason", timeout=60)
    sender._client_error(Fault("_TRANSPORT"))
    assert spool.trouble == "another broker answers"
    reasons[0] = Delay()
    sender._client_error(Fault("_ALL_BROKERS_DOWN"))
    assert spool.trouble == "no broker can be reached, the last error is: what _TRANSPORT means"


def test_an_error_while_nothing_waits_is_no_outage(spool: Spool, caplog: pytest.LogCaptureFixture) -> None:
    """A broker that restarts drops its connections; the others take the records."""
    sender = Sender(spool, "topic", lambda on_error: Producer(lambda message: None))
    sender._client_error(Fault("_TRANSPORT"))
    append(spool, "a")
    sender.start()
    wait_until(lambda: not spool.pending, "the sender", timeout=60)
    sender.stop()
    log_later(logging.WARNING, "the last line")
    wait_until(lambda: "the last line" in caplog.messages, "the log", timeout=60)
    assert caplog.messages == ["the last line"]


def test_a_stop_during_the_pause_after_a_refusal_settles_nothing(spool: Spool) -> None:
    append(spool, "a")
    refused = Producer(lambda message: Fault("TOPIC_AUTHORIZATION_FAILED"))
    sender = Sender(spool, "topic", lambda on_error: refused)

    class StopInThePause(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if refused.sent:
                self.set()
            return self.is_set()

    sender._stop = StopInThePause()
    sender._run()
    spool.settle()
    assert refused.sent == ["a"]
    assert (spool.pending, spool.counts["acknowledged"]) == (1, 0)
    assert len(spool.blocks_after(0, 1)) == 1


def test_a_stop_while_librdkafka_s_queue_is_full_settles_nothing(spool: Spool) -> None:
    """What it has no room for has not been sent, even if all the rest is acknowledged meanwhile."""
    append(spool, "a", "b")
    sender = Sender(spool, "topic", lambda on_error: full)

    class Full(Producer):
        def produce(self, *arguments: Any, **options: Any) -> None:
            if self.sent:
                sender._stop.set()
                raise BufferError
            super().produce(*arguments, **options)

    full = Full(lambda message: None)
    sender._run()
    spool.settle()
    assert full.sent == ["a"]
    assert (spool.pending, spool.counts["acknowledged"]) == (2, 0)


def test_a_record_that_librdkafka_does_not_take_is_rejected_and_not_acknowledged(spool: Spool) -> None:
    """It never comes to a broker, so no broker is needed."""
    append(spool, "x" * 2_000)

    class Known(confluent_kafka.Producer):
        def list_topics(self, *arguments: Any, **options: Any) -> Any:
            return SimpleNamespace(cluster_id="first", topics={})

    small = {"bootstrap.servers": "127.0.0.1:1", "message.max.bytes": 1_000}
    rejections: list[Rejection] = []
    sender = Sender(spool, "topic", lambda on_error: Known(small), rejections.append)
    sender.start()
    wait_until(lambda: not spool.pending, "the sender", timeout=60)
    sender.stop()
    spool.settle()
    assert (spool.counts["acknowledged"], spool.counts["rejected"]) == (0, 1)
    (rejection,) = rejections
    assert "message.max.bytes (MSG_SIZE_TOO_LARGE)" in rejection.reason


def test_a_record_that_librdkafka_does_not_take_costs_no_other(spool: Spool) -> None:
    class Refusing(Producer):
        def produce(self, topic: str, value: bytes, *arguments: Any, **options: Any) -> None:
            if b"bad" in value:
                raise confluent_kafka.KafkaException(Fault("MSG_SIZE_TOO_LARGE"))
            super().produce(topic, value, *arguments, **options)

    append(spool, "good", "bad", "good too")
    run(spool, producer := Refusing(lambda message: None), lambda: not spool.pending)
    assert producer.sent == ["good", "good too"]
    assert (spool.counts["acknowledged"], spool.counts["rejected"]) == (2, 1)


BLOCK = Block.stamped(1, "app.1", 1, [b"a}", b"b}", b"c}", b"d}", b"e}"])


REFUSED, AWAY = Fault("INVALID_RECORD"), Fault("_TRANSPORT")


def alone(sequence: int) -> RecordRange:
    return RecordRange(BLOCK, sequence, (BLOCK.records[sequence - 1],))


def test_refused_records_come_apart_in_halves_the_first_to_be_taken_next() -> None:
    found = sort_refused([RecordRange(BLOCK, 1, BLOCK.records)], dict.fromkeys(BLOCK.records, REFUSED))
    assert found.split == [[alone(3), alone(4), alone(5)], [alone(1), alone(2)]]
    assert (found.retry, found.trouble, found.rejection) == ([], None, None)


def test_a_record_that_is_refused_alone_is_rejected() -> None:
    found = sort_refused([alone(2)], {BLOCK.records[1]: REFUSED})
    assert found.rejection == Rejection("app.1", 2, "what INVALID_RECORD means (INVALID_RECORD)", BLOCK.records[1])
    assert (found.split, found.retry) == ([], [])


def test_one_refused_among_others_is_tried_alone_before_it_is_rejected() -> None:
    found = sort_refused([RecordRange(BLOCK, 1, BLOCK.records)], {BLOCK.records[3]: REFUSED})
    assert (found.split, found.rejection) == ([[alone(4)]], None)


def test_what_says_nothing_about_the_record_lets_it_be_sent_again() -> None:
    found = sort_refused([RecordRange(BLOCK, 1, BLOCK.records)], {BLOCK.records[0]: REFUSED, BLOCK.records[4]: AWAY})
    assert (found.split, found.retry, found.trouble) == ([[alone(1)]], [alone(5)], AWAY)


HQ = Destination("hq", "audit")


def left_by(folder: Path, cluster_id: str) -> None:
    """A spool whose first record went to this cluster; the second one is still in it."""
    spool = Spool(folder, destination=HQ)
    producer = Producer(lambda message: None)
    producer.cluster_id = cluster_id
    append(spool, "sent")
    run(spool, producer, lambda: not spool.pending)
    append(spool, "waits")
    spool.close()


def test_records_for_one_cluster_never_go_to_another_of_that_name(tmp_path: Path) -> None:
    left_by(tmp_path / "spool", "first")
    spool = Spool(tmp_path / "spool", destination=HQ)
    producer = Producer(lambda message: None)
    producer.cluster_id = "second"
    sender = Sender(spool, "audit", lambda on_error: producer)
    sender.start()
    wait_until(lambda: sender.refused is not None, "the refusal", timeout=60)
    sender.stop()
    assert producer.sent == []
    assert sender.refused is not None
    assert sender.refused.message == (
        f"the spool {tmp_path / 'spool'} holds 1 record for cluster `hq` with the id first; "
        "the bootstrap servers of `hq` now belong to the cluster with the id second"
    )
    assert "brokernat ship --once --redirect --cluster hq --topic audit --spool" in str(sender.refused.hint)
    assert (spool.pending, spool.cluster_id) == (1, "first")
    spool.close()


def test_brokers_that_name_no_cluster_take_nothing_away_from_what_is_known(tmp_path: Path) -> None:
    left_by(tmp_path / "spool", "first")
    spool = Spool(tmp_path / "spool", destination=HQ)
    producer = Producer(lambda message: None)
    producer.cluster_id = ""
    run(spool, producer, lambda: not spool.pending)
    spool.close()
    again = Spool(tmp_path / "spool", destination=HQ)
    assert again.cluster_id == "first"
    again.close()


def test_a_cluster_that_changes_behind_a_running_shipper_is_refused(tmp_path: Path) -> None:
    """Its producer is replaced after a fatal error, and the name leads elsewhere by then."""
    spool = Spool(tmp_path / "spool", destination=HQ)
    first, second = Producer(lambda message: Fault("_FATAL", fatal=True)), Producer(lambda message: None)
    second.cluster_id = "second"
    producers = [first, second]
    sender = Sender(spool, "audit", lambda on_error: producers.pop(0) if producers else second)
    append(spool, "a")
    sender.start()
    wait_until(lambda: sender.refused is not None, "the refusal", timeout=60)
    sender.stop()
    assert (second.sent, spool.pending) == ([], 1)
    spool.close()


@pytest.mark.parametrize("redirect", [True, False])
def test_another_cluster_of_that_name_gets_what_was_taken_for_it(tmp_path: Path, redirect: bool) -> None:
    """By order, or where nothing of the first one waits."""
    left_by(tmp_path / "spool", "first")
    if not redirect:
        spool = Spool(tmp_path / "spool", destination=HQ)
        run(spool, Producer(lambda message: None), lambda: not spool.pending)
        spool.close()
    spool = Spool(tmp_path / "spool", destination=HQ, redirect=redirect)
    producer = Producer(lambda message: None)
    producer.cluster_id = "second"
    append(spool, "new")
    run(spool, producer, lambda: not spool.pending)
    assert producer.sent == (["waits", "new"] if redirect else ["new"])
    spool.close()
    again = Spool(tmp_path / "spool", destination=HQ)
    assert again.cluster_id == "second"
    again.close()
