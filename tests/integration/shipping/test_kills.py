"""A slice of what `tests/soak/test_shipping.py` does at length: kills, an outage, rights that are missing."""

from __future__ import annotations

import logging
import random
import threading
from typing import TYPE_CHECKING

import pytest
from tests.integration.shipping.reading_back import arrived
from tests.integration.shipping.rounds import Stage, restarting_brokers

from brokernat.shipping import KafkaHandler, NotShippedError
from brokernat.testbed import Allow, Operation
from brokernat.testbed.polling import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from brokernat.testbed import RunningCluster

pytestmark = pytest.mark.integration

KILLS = 8


def may_write(cluster: RunningCluster, topic: str) -> None:
    cluster.create_topic(topic)
    cluster.allow(*(Allow(operation, name=topic) for operation in (Operation.WRITE, Operation.DESCRIBE)))


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


@pytest.mark.parametrize(("audit", "on_full"), [(False, "drop"), (True, "block"), (True, "raise")])
def test_a_full_spool_while_the_brokers_are_away(
    disturbed: RunningCluster, topic_name: str, tmp_path: Path, audit: bool, on_full: str
) -> None:
    may_write(disturbed, topic_name)
    log = logging.getLogger(topic_name)
    log.propagate = False
    log.setLevel(logging.INFO)
    handler = KafkaHandler(
        disturbed.cluster, topic_name, tmp_path, audit=audit, on_full=on_full, max_spool=1 << 20, close_timeout=120
    )
    log.addHandler(handler)
    returned: list[str] = []
    raised: list[str] = []
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            message = f"{len(returned) + len(raised)} " + "x" * 20_000
            try:
                log.info(message)
                returned.append(message)
            except NotShippedError:
                raised.append(message)
                over.wait(0.01)

    for node in disturbed.nodes:
        disturbed.kill(node)
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        if on_full == "block":
            wait_until(lambda: handler.status().room < 100_000, "a full spool", timeout=60)
        else:
            wait_until(lambda: handler.status().refused > 20, "refusals", timeout=60)
        assert handler.status().held <= 1 << 20
    finally:
        restart = [threading.Thread(target=disturbed.start, args=(node,)) for node in disturbed.nodes]
        for thread in restart:
            thread.start()
        for thread in restart:
            thread.join()
    before = handler.status().acknowledged
    wait_until(lambda: handler.status().acknowledged > before + 100, "deliveries", timeout=120)
    over.set()
    worker.join(60)
    assert handler.flush(120)
    status = handler.status()
    handler.close()
    log.removeHandler(handler)
    found = arrived(disturbed, topic_name)
    assert found.gaps() == {}
    assert sum(found.messages.values()) == status.accepted == status.acknowledged
    assert status.accepted + status.refused == len(returned) + len(raised)
    if audit:
        assert set(found.messages) == set(returned)
    assert bool(status.refused) is (on_full != "block")


def test_records_wait_for_rights_and_are_not_rejected(
    disturbed: RunningCluster, topic_name: str, tmp_path: Path
) -> None:
    disturbed.create_topic(topic_name)
    handler = KafkaHandler(disturbed.cluster, topic_name, tmp_path, close_timeout=60)
    handler.handle(logging.makeLogRecord({"msg": "audit"}))
    wait_until(lambda: "AUTHORIZATION" in handler.status().trouble, "the refusal", timeout=60)
    assert (handler.status().pending, handler.status().rejected) == (1, 0)
    may_write(disturbed, topic_name)
    assert handler.flush(120)
    handler.close()
    assert arrived(disturbed, topic_name).messages == {"audit": 1}
