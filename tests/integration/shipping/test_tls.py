"""Shipping over TLS: the name that is verified is the broker's own, which nobody resolves."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tests.integration.librdkafka.conftest import client_cluster
from tests.integration.shipping.reading_back import arrived

from brokernat.shipping import KafkaHandler
from brokernat.testbed import Advertise, ClusterOptions, LoopbackWorld, Protocol
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration


def test_the_brokers_own_name_is_verified(tmp_path: Path) -> None:
    """By the gateway's address, which is in no certificate, nothing is sent and nothing is lost."""
    tls = ClusterOptions(brokers=1, protocol=Protocol.SASL_SSL, advertise=Advertise.NAME)
    with LoopbackWorld(hq=tls, local=None) as world:
        world.hq.create_topic("audit")
        stranger = KafkaHandler(client_cluster(world.hq, by_name=False), "audit", tmp_path, close_timeout=0)
        stranger.handle(logging.makeLogRecord({"msg": "audit"}))
        wait_until(lambda: "certificate verify failed" in stranger.status().trouble, "the refusal", timeout=240)
        stranger.close()

        handler = KafkaHandler(client_cluster(world.hq), "audit", tmp_path, close_timeout=60)
        assert handler.flush(240)
        handler.close()
        found = arrived(world.hq, "audit")
    assert (found.gaps(), found.messages) == ({}, {"audit": 1})
