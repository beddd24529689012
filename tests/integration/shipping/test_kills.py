"""A slice of what `tests/soak/test_shipping.py` does at length: kills, an outage, rights that are missing."""

from __future__ import annotations

import logging
import random
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.integration.shipping.reading_back import arrived
from tests.integration.shipping.rounds import Stage, restarting_brokers
from tests.support.cluster_admin import Allow, Operation, allow

from brokernat.shipping import KafkaHandler, NotShippedError
from brokernat.testbed import RunningCluster
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration

KILLS = 8
SPOOL = 1 << 20


def may_write(cluster: RunningCluster, topic: str) -> None:
    cluster.create_topic(topic)
    allow(cluster, *(Allow(operation, name=topic) for operation in (Operation.WRITE, Operation.DESCRIBE)))


def test_nothing_is_lost_whatever_is_killed(disturbed: RunningCluster, topic_name: str, tmp_path: Path) -> None:
    may_write(disturbed, topic_name)
    stage = Stage(disturbed, topic_name, tmp_path)
    dice = random.Random(5)
    with restarting_brokers(disturbed, dice) as restarted:
        while stage.kills < KILLS:
            stage.kill_the_shipper(dice)
            stage.kill_the_auditor(dice)
    found = stage.drain()
    assert restarted
    assert found.gaps() == {}
    assert stage.promised - set(found.messages) == set()
    assert [message for message, count in found.messages.items() if count > 1] == []


@dataclass
class Worker:
    """A program that logs all the time, its spool small; what each call came to, by its number."""

    cluster: RunningCluster
    topic: str
    audit: bool
    on_full: str
    handler: KafkaHandler
    over: threading.Event = field(default_factory=threading.Event)
    returned: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)

    def start(self) -> threading.Thread:
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        return thread

    def _work(self) -> None:
        log = logging.getLogger(self.topic)
        log.propagate = False
        log.setLevel(logging.INFO)
        log.addHandler(self.handler)
        while not self.over.wait(0.001):
            number = str(len(self.returned) + len(self.raised))
            try:
                log.info("%s %s", number, "x" * 20_000)
                self.returned.append(number)
            except NotShippedError:
                self.raised.append(number)
        log.removeHandler(self.handler)

    def wait_until_full(self) -> None:
        if self.on_full == "block":
            wait_until(lambda: self.handler.status().room < 100_000, "a full spool", timeout=240)
        else:
            wait_until(lambda: self.handler.status().refused > 20, "refusals", timeout=240)
        assert self.handler.status().held <= SPOOL

    def wait_for_deliveries(self, acknowledged: int) -> None:
        wait_until(lambda: self.handler.status().acknowledged > acknowledged + 100, "deliveries", timeout=240)

    def end(self, thread: threading.Thread) -> None:
        """Everything that was accepted has arrived once, and everything else was refused."""
        self.over.set()
        thread.join(60)
        assert self.handler.flush(240)
        status = self.handler.status()
        self.handler.close()
        found = arrived(self.cluster, self.topic)
        assert found.gaps() == {}
        assert sum(found.messages.values()) == status.accepted == status.acknowledged
        assert status.accepted + status.refused == len(self.returned) + len(self.raised)
        if self.audit:
            assert {message.partition(" ")[0] for message in found.messages} == set(self.returned)
        assert bool(status.refused) is (self.on_full != "block")


def test_a_full_spool_while_the_brokers_are_away(disturbed: RunningCluster, topic_name: str, tmp_path: Path) -> None:
    """Three programs and one outage: each way to have it when the spool is full."""
    workers = []
    for audit, on_full in ((False, "drop"), (True, "block"), (True, "raise")):
        may_write(disturbed, topic := f"{topic_name}-{on_full}")
        handler = KafkaHandler(
            disturbed.cluster, topic, tmp_path / on_full, audit=audit, on_full=on_full, max_spool=SPOOL,
            close_timeout=120,
        )  # fmt: skip
        workers.append(Worker(disturbed, topic, audit, on_full, handler))

    for node in disturbed.nodes:
        disturbed.kill(node)
    threads = [worker.start() for worker in workers]
    try:
        for worker in workers:
            worker.wait_until_full()
    finally:
        restart = [threading.Thread(target=disturbed.start, args=(node,)) for node in disturbed.nodes]
        for thread in restart:
            thread.start()
        for thread in restart:
            thread.join()
    before = [worker.handler.status().acknowledged for worker in workers]
    for worker, acknowledged in zip(workers, before, strict=True):
        worker.wait_for_deliveries(acknowledged)
    for worker, thread in zip(workers, threads, strict=True):
        worker.end(thread)


def test_records_wait_for_rights_and_are_not_rejected(
    disturbed: RunningCluster, topic_name: str, tmp_path: Path
) -> None:
    disturbed.create_topic(topic_name)
    handler = KafkaHandler(disturbed.cluster, topic_name, tmp_path, close_timeout=60)
    handler.handle(logging.makeLogRecord({"msg": "audit"}))
    wait_until(lambda: "AUTHORIZATION" in handler.status().trouble, "the refusal", timeout=240)
    assert (handler.status().pending, handler.status().rejected) == (1, 0)
    may_write(disturbed, topic_name)
    assert handler.flush(240)
    handler.close()
    assert arrived(disturbed, topic_name).messages == {"audit": 1}
