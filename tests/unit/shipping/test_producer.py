"""Which properties a shipping producer has, whatever the cluster's section says."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError
from brokernat.shipping import KafkaHandler
from brokernat.shipping.producer import describe, open_producer
from brokernat.testbed.place import wait_until


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


@pytest.mark.parametrize(
    "properties",
    [
        {"acks": 1},
        {"acks": "0"},
        {"request.required.acks": 1},
        {"default.topic.config": {"acks": 1}},
        {"acks": "all", "request.required.acks": 1},
    ],
)
def test_an_audit_handler_takes_no_weaker_answer(tmp_path: Path, properties: dict[str, object]) -> None:
    nowhere = Cluster("hq", (Endpoint.parse("127.0.0.1:1"),))
    with pytest.raises(ConfigError, match=r"not `.*acks=.*`"):
        KafkaHandler(nowhere, "topic", tmp_path / "spool", audit=True, producer=properties)
    assert not (tmp_path / "spool").exists()
    KafkaHandler(nowhere, "topic", tmp_path / "spool", audit=True, producer={"acks": -1}, close_timeout=0).close()


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        (
            "_TRANSPORT",
            "sasl_plaintext://10.0.0.1:9092/bootstrap: Connect to ipv4#10.0.0.1:9092 failed: Connection refused "
            "(after 0ms in state CONNECT, 4 identical error(s) suppressed)",
            "broker 10.0.0.1:9092: Connect to 10.0.0.1:9092 failed: Connection refused",
        ),
        (
            "_RESOLVE",
            "kafka-1:9092/1: Failed to resolve 'kafka-1:9092': Name or service not known (after 7ms in state CONNECT)",
            "broker kafka-1:9092: Failed to resolve 'kafka-1:9092': Name or service not known",
        ),
        (
            "UNKNOWN_TOPIC_OR_PART",
            "Broker: Unknown topic or partition",
            "the cluster has no such topic, or this user may not see it (UNKNOWN_TOPIC_OR_PART)",
        ),
        (
            "_AUTHENTICATION",
            "sasl_plaintext://10.0.0.1:9092/1: SASL authentication error: Authentication failed: Invalid username or "
            "password (after 303ms in state AUTH_REQ)",
            "the login is refused by 10.0.0.1:9092 (Authentication failed: Invalid username or password)",
        ),
        (
            "_AUTHENTICATION",
            "Failed to acquire SASL OAUTHBEARER token: no route",
            "the login failed: Failed to acquire SASL OAUTHBEARER token: no route",
        ),
        ("INVALID_RECORD", "Broker: no", "Broker: no (INVALID_RECORD)"),
    ],
)
def test_faults_in_plain_words(code: str, text: str, words: str) -> None:
    fault = confluent_kafka.KafkaError(getattr(confluent_kafka.KafkaError, code), text)
    assert describe(fault) == words


def test_lines_of_librdkafka_come_in_our_log_without_its_names(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    cluster = Cluster("hq", (Endpoint.parse("127.0.0.1:1"),))
    producer = open_producer(cluster, lambda fault: None, {"debug": "broker"})

    def refused() -> bool:
        producer.poll(0)
        return "Connection refused" in caplog.text

    wait_until(refused, "the log", timeout=60)
    producer.purge()
    mine = [record for record in caplog.records if record.name == "brokernat.shipping.librdkafka"]
    assert not any("thrd:" in record.getMessage() for record in mine)
    # With each attempt: the sender reports an outage once.
    assert all(record.levelno == logging.DEBUG for record in mine if "refused" in record.getMessage())
