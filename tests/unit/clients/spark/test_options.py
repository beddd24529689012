"""The options of source and sink: what is added, what the user's own values win over, what Spark would refuse."""

import logging
from dataclasses import replace

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.clients.spark import Role, kafka_options
from brokernat.clients.spark.settings import REPORTER_CLASS, Loader
from brokernat.config import Cluster
from brokernat.config.fields import Profile

MAP = AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093")
REPORTERS = f"org.apache.kafka.common.metrics.JmxReporter,{REPORTER_CLASS}"


def cluster(client: dict[str, str] | None = None, address_map: AddressMap | None = MAP) -> Cluster:
    return Cluster("hq", (Endpoint.parse("172.10.1.40:9093"),), address_map, client or {})


def test_the_map_and_the_cluster_s_own_properties_carry_spark_s_prefix() -> None:
    options = kafka_options(cluster({"security.protocol": "SASL_PLAINTEXT"}), loader=Loader.JAVAAGENT)
    assert options["kafka.bootstrap.servers"] == "172.10.1.40:9093"
    assert options["kafka.brokernat.map"] == "192.168.1.23:9092=172.10.1.40:9093"
    assert options["kafka.brokernat.unmapped"] == "fail"
    assert options["kafka.security.protocol"] == "SASL_PLAINTEXT"


@pytest.mark.parametrize(
    ("role", "present", "absent"),
    [
        (None, {"receive.buffer.bytes": "-1", "metadata.recovery.strategy": "rebootstrap"}, "max.poll.records"),
        (Role.SOURCE, {"receive.buffer.bytes": "-1", "max.poll.records": "10000"}, "linger.ms"),
        (Role.SINK, {"send.buffer.bytes": "-1", "linger.ms": "10"}, "max.poll.records"),
    ],
)
def test_each_end_has_its_own_defaults(role: Role | None, present: dict[str, str], absent: str) -> None:
    options = kafka_options(cluster(), role=role)
    assert {f"kafka.{name}": value for name, value in present.items()}.items() <= options.items()
    assert f"kafka.{absent}" not in options


@pytest.mark.parametrize(("profile", "records"), [("auto", "10000"), ("lan", "10000"), ("wan", "50000")])
def test_the_profile_of_the_cluster_chooses_the_values(profile: Profile, records: str) -> None:
    options = kafka_options(replace(cluster(), profile=profile), role=Role.SOURCE)
    assert options["kafka.max.poll.records"] == records
    own = replace(cluster({"max.poll.records": "7"}), profile=profile)
    assert kafka_options(own, role=Role.SOURCE)["kafka.max.poll.records"] == "7"


def test_the_user_s_own_value_wins() -> None:
    options = kafka_options(cluster({"receive.buffer.bytes": "4096", "max.poll.records": "7"}), role=Role.SOURCE)
    assert options["kafka.receive.buffer.bytes"] == "4096"
    assert options["kafka.max.poll.records"] == "7"


@pytest.mark.parametrize(
    ("role", "name", "kept"),
    [
        (Role.SOURCE, "auto.offset.reset", False),
        (Role.SOURCE, "interceptor.classes", False),
        (Role.SOURCE, "key.serializer", True),
        (Role.SINK, "key.serializer", False),
        (Role.SINK, "interceptor.classes", True),
        (None, "enable.auto.commit", False),
        (None, "value.serializer", False),
    ],
)
def test_what_spark_refuses_is_left_out_and_said(
    role: Role | None, name: str, kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        options = kafka_options(cluster({name: "x"}), role=role)
    assert (f"kafka.{name}" in options) is kept
    assert (f"cluster hq: {name} is ignored" in caplog.text) is not kept


@pytest.mark.parametrize(
    ("own", "expected"),
    [(None, REPORTERS), ("my.Reporter", f"my.Reporter,{REPORTER_CLASS}"), ("", REPORTER_CLASS)],
)
def test_the_reporter_stands_behind_the_list_that_is_there(own: str | None, expected: str) -> None:
    options = kafka_options(cluster(None if own is None else {"metric.reporters": own}), loader=Loader.REPORTER)
    assert options["kafka.metric.reporters"] == expected


def test_without_a_session_the_reporter_is_taken_for_sure() -> None:
    assert kafka_options(cluster())["kafka.metric.reporters"] == REPORTERS


@pytest.mark.parametrize("address_map", [None, AddressMap(())])
def test_no_loader_where_there_is_nothing_to_translate(address_map: AddressMap | None) -> None:
    assert "kafka.metric.reporters" not in kafka_options(cluster(address_map=address_map), loader=Loader.REPORTER)


def test_no_reporter_where_the_agent_is_there_from_the_start() -> None:
    assert "kafka.metric.reporters" not in kafka_options(cluster(), loader=Loader.JAVAAGENT)
