"""`KafkaHandler` against real brokers, through the map."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.shipping.reading_back import arrived

from brokernat.shipping import KafkaHandler, Rejection
from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration


@pytest.fixture
def log(topic_name: str) -> Iterator[logging.Logger]:
    logger = logging.getLogger(topic_name)
    logger.propagate = False
    logger.setLevel(logging.INFO)
    yield logger
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


def test_every_record_arrives_once_in_order(
    loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path, log: logging.Logger
) -> None:
    hq = loopback_world.hq
    hq.create_topic(topic_name)
    handler = KafkaHandler(hq.cluster, topic_name, tmp_path / "spool", on_full="block", close_timeout=60)
    log.addHandler(handler)
    for number in range(10_000):
        log.info("record %d", number, extra={"number": number})
    assert handler.flush(240)
    status = handler.status()
    found = arrived(hq, topic_name)
    assert (found.gaps(), found.duplicates) == ({}, 0)
    (records,) = found.records.values()
    assert [record["extra"]["number"] for _, record in sorted(records.items())] == list(range(10_000))
    assert (status.accepted, status.acknowledged, status.pending, status.refused) == (10_000, 10_000, 0, 0)


def test_what_the_topic_refuses_is_kept_and_everything_else_arrives(
    loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path, log: logging.Logger
) -> None:
    hq = loopback_world.hq
    hq.create_topic(topic_name, configs={"max.message.bytes": "20000"})
    rejections: list[Rejection] = []

    def told(rejection: Rejection) -> None:
        rejections.append(rejection)
        handler.handle(logging.makeLogRecord({"msg": "what shipping's own threads log is not shipped"}))

    handler = KafkaHandler(hq.cluster, topic_name, tmp_path, on_rejected=told, close_timeout=60)
    log.addHandler(handler)
    for number in range(30):
        log.info("%d %s", number, "x" * 30_000 if number % 10 == 3 else "")
    assert handler.flush(240)
    status = handler.status()
    assert (status.accepted, status.acknowledged, status.rejected) == (30, 27, 3)
    assert [rejection.sequence for rejection in rejections] == [4, 14, 24]
    assert all("MSG_SIZE_TOO_LARGE" in rejection.reason for rejection in rejections)
    (records,) = arrived(hq, topic_name).records.values()
    assert sorted(records) == [number for number in range(1, 31) if number not in (4, 14, 24)]


def test_a_topic_that_is_not_there_yet_is_waited_for(
    loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path, log: logging.Logger
) -> None:
    hq = loopback_world.hq
    handler = KafkaHandler(hq.cluster, topic_name, tmp_path, close_timeout=60)
    log.addHandler(handler)
    log.info("early")
    handler.flush()
    assert handler.status().pending == 1
    hq.create_topic(topic_name)
    assert handler.flush(240)
    assert arrived(hq, topic_name).messages == {"early": 1}
