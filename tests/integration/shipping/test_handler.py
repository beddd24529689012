"""`KafkaHandler` against real brokers, through the map."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.shipping.reading_back import arrived

from brokernat.config import Cluster
from brokernat.shipping import KafkaHandler, Rejection
from brokernat.shipping.block import Destination
from brokernat.shipping.spool import Spool
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.place import wait_until
from brokernat.testbed.running_cluster import config_text

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


def test_records_stay_when_the_name_of_their_cluster_leads_to_another_one(
    loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path, log: logging.Logger
) -> None:
    hq, local = loopback_world.hq, loopback_world.local
    for cluster in (hq, local):
        cluster.create_topic(topic_name)

    def log_one(cluster: Cluster, *, arrives: bool) -> str:
        handler = KafkaHandler(cluster, topic_name, tmp_path / "spool", audit=True, close_timeout=0)
        log.addHandler(handler)
        log.info("for headquarters")
        if arrives:
            assert handler.flush(60)
        else:
            wait_until(lambda: "with the id" in handler.status().trouble, "the refusal", timeout=60)
        log.removeHandler(handler)
        handler.close()
        return handler.status().trouble

    log_one(hq.cluster, arrives=True)
    elsewhere = replace(local.cluster, name="hq")
    spool = Spool(tmp_path / "spool", destination=Destination("hq", topic_name))
    spool.append([b'"message":"waits"}'])
    spool.close()
    trouble = log_one(elsewhere, arrives=False)
    assert f"for cluster `hq` with the id {hq.cluster_id}" in trouble
    assert f"now belong to the cluster with the id {local.cluster_id}" in trouble
    (tmp_path / "brokernat.yaml").write_text(config_text([local]).replace("\n  local:", "\n  hq:"))
    ship = [sys.executable, "-m", "brokernat", "ship", "--config", str(tmp_path / "brokernat.yaml"), "--cluster", "hq"]
    ship += ["--topic", topic_name, "--spool", str(tmp_path / "spool"), "--once"]
    done = subprocess.run(ship, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stderr
    assert "error: the spool" in done.stderr
    assert "--redirect" in done.stderr
    assert local.read(topic_name) == []
    log_one(hq.cluster, arrives=True)
    assert len(hq.read(topic_name)) == 4
