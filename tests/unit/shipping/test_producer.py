"""Which properties a shipping producer has, whatever the cluster's section says."""

from __future__ import annotations

from typing import Any

import confluent_kafka
import pytest

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.shipping.producer import open_producer


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The properties of every producer that is made; none is."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(confluent_kafka, "Producer", lambda properties, logger: found.append(properties))
    return found


def test_what_the_promise_rests_on_is_not_the_cluster_s_to_change(made: list[dict[str, Any]]) -> None:
    client = {"acks": "1", "delivery.timeout.ms": "1000", "enable.idempotence": "false", "linger.ms": "50"}
    open_producer(Cluster("hq", (Endpoint.parse("127.0.0.1:1"),), client=client), lambda fault: None)
    (properties,) = made
    assert (properties["acks"], properties["message.timeout.ms"]) == ("all", 0)
    # Without a right that brokers before 2.8 ask for, a shipper goes without.
    assert (properties["enable.idempotence"], properties["linger.ms"]) == ("false", "50")


def test_a_shipper_is_idempotent_where_nothing_is_said(made: list[dict[str, Any]]) -> None:
    open_producer(Cluster("hq", (Endpoint.parse("127.0.0.1:1"),)), lambda fault: None, {"acks": "1"})
    (properties,) = made
    assert properties["enable.idempotence"] is True
    # Whoever makes the handler may know better.
    assert properties["acks"] == "1"
