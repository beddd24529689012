"""HQ's brokers are 192.168.1.23-25, the NAT makes 10.99.1.23-25 of them, ports kept: a host rule for each, or one
network rule."""

import re
from pathlib import Path

import pytest
from tests.matrix.expectations import ROLES, assert_dialled, assert_healthy
from tests.matrix.programs import Loader, Programs, kafka_clients, run
from tests.netns.spark.orders import send_orders
from tests.netns.spark.pipeline_file import pipeline_file
from tests.netns.spark.spark_place import SparkPlace

from brokernat.address import AddressMap, canonical_text
from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns

CLIENT = "2.4.1"
RULES = {
    "hosts": [f"192.168.1.{host} = 10.99.1.{host}" for host in (23, 24, 25)],
    "network": ["192.168.1.0/24 = 10.99.1.0/24"],
}
IMPATIENT = {"default.api.timeout.ms": "60000", "request.timeout.ms": "5000"}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_consumer_group_of_2_4_1_finds_its_coordinator(
    world: NetnsWorld, programs: Programs, rules: list[str]
) -> None:
    topic = f"group-{len(rules)}"
    properties = world.hq.cluster.kafka_properties() | IMPATIENT
    properties["brokernat.map"] = canonical_text(AddressMap.parse("\n".join(rules)))
    command = programs.command("Exerciser", [programs.classes, *kafka_clients(CLIENT)], properties, Loader.CLIENT_MAP)
    file = programs.write(properties, Loader.CLIENT_MAP, topic)

    outcome = run(world.client.command([*command, str(file), topic, *ROLES]))

    assert_healthy(outcome, world.hq, topic)
    assert_dialled(outcome, world.hq)


def test_without_the_agent_the_same_program_dials_what_hq_advertises(world: NetnsWorld, programs: Programs) -> None:
    properties = world.hq.cluster.kafka_properties() | IMPATIENT | {"default.api.timeout.ms": "5000"}
    command = programs.command("Exerciser", [programs.classes, *kafka_clients(CLIENT)], properties, Loader.NONE)
    file = programs.write(properties, Loader.NONE, "no-agent")

    outcome = run(world.client.command([*command, str(file), "no-agent", "admin"]))

    assert not outcome.of("admin", "no-agent")["ok"]
    # There is no route, so the connection fails in `connect` and not by time.
    assert re.search(r"Error connecting to node 192\.168\.1\.2[345]:9092", outcome.log), outcome.log[-4000:]


@pytest.mark.soak
def test_the_spark_job_reads_brokers_of_2_4_1_by_a_rule_for_each_host(
    world: NetnsWorld, spark: SparkPlace, tmp_path: Path
) -> None:
    """The network rule is what the example has (test_example.py)."""
    sent = send_orders(world.hq, world.local, 1_000)
    file = pipeline_file(tmp_path, {"tags": sent}, rules={"hq": RULES["hosts"]})

    job = spark.run(file.words("run", "tags", "--once"))

    assert job.process.returncode == 0, job.tail()
    sent.delivered().assert_exact()
