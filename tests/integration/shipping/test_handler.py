"""`KafkaHandler` against real brokers, through the map."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from tests.integration.shipping.reading_back import arrived

from brokernat.shipping import KafkaHandler

if TYPE_CHECKING:
    from pathlib import Path

    from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration


def test_every_record_arrives_once_in_order(loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path) -> None:
    hq = loopback_world.hq
    hq.create_topic(topic_name)
    log = logging.getLogger(topic_name)
    log.propagate = False
    log.setLevel(logging.INFO)
    handler = KafkaHandler(hq.cluster, topic_name, tmp_path / "spool", on_full="block", close_timeout=60)
    log.addHandler(handler)
    for number in range(10_000):
        log.info("record %d", number, extra={"number": number})
    assert handler.flush(60)
    status = handler.status()
    handler.close()
    found = arrived(hq, topic_name)
    assert (found.gaps(), found.duplicates) == ({}, 0)
    (records,) = found.records.values()
    assert [record["extra"]["number"] for _, record in sorted(records.items())] == list(range(10_000))
    assert (status.accepted, status.acknowledged, status.pending, status.refused) == (10_000, 10_000, 0, 0)
