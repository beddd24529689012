"""The main job on YARN: HQ behind nginx with a login, executors in containers, and whatever of it is killed."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from tests.integration.spark.standalone import SPARK_HOME
from tests.netns.spark.pipeline_file import cluster_section, write_file
from tests.netns.spark.prover import JOB as PROVER
from tests.netns.spark.prover import Prover
from tests.netns.spark.spark_place import SparkPlace, yarn_place
from tests.soak.kills import Stage, Victim, new_round

from brokernat.clients.spark.connector import connector_jars
from brokernat.testbed import NetnsWorld, Record

pytestmark = [pytest.mark.netns, pytest.mark.soak]

JOB = str(Path(__file__).parent / "jobs" / "existing.py")
VALUES = sorted(f"order {number}" for number in range(30))
SETTINGS = {"spark.executor.instances": "2", "spark.pyspark.python": sys.executable}


@pytest.fixture(scope="module")
def yarn(world: NetnsWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkPlace]:
    with yarn_place(world.client, tmp_path_factory.mktemp("on-yarn")) as place:
        yield place


def test_a_pipeline_loses_nothing_when_executor_and_application_master_die(
    world: NetnsWorld, yarn: SparkPlace, tmp_path: Path
) -> None:
    played = new_round(Stage(world.hq, world.local, world.gateway, yarn, tmp_path), random.Random(1))

    delivery = played.play([Victim.EXECUTOR, Victim.APPLICATION_MASTER])

    logs = [log.read_text() for log in yarn.folder.glob("job-*/log")]
    assert any("proved: 12 endpoints from 3 JVMs" in log for log in logs), "four brokers, the driver, two containers"
    delivery.assert_complete()
    played.assert_duplicates_are_of_open_batches(delivery)
    reconciled = yarn.run([*played.file.words("reconcile", "tags"), "--format", "json"])
    assert reconciled.process.returncode == 0, reconciled.tail()
    partitions = json.loads(reconciled.output.read_text())["partitions"]
    assert sum(partition["missing"] for partition in partitions) == 0


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_an_existing_job_runs_by_exec(
    world: NetnsWorld, yarn: SparkPlace, topic_name: str, tmp_path: Path, mode: str
) -> None:
    """In cluster mode the driver is in a container, too."""
    hq, target = world.hq, f"{topic_name}-copy"
    for topic in (topic_name, target):
        hq.create_topic(topic, partitions=3)
    hq.write(topic_name, [Record(value=value.encode()) for value in VALUES])
    config = write_file(tmp_path, {"hq": cluster_section(hq.cluster)}, {})
    jaas = tmp_path / "jaas"
    jaas.write_text(hq.cluster.kafka_properties()["sasl.jaas.config"])
    servers = ",".join(map(str, hq.cluster.bootstrap_servers))
    words = ["-m", "brokernat", "exec", "--config", str(config), "--cluster", "hq", "--"]
    words += [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "yarn", "--deploy-mode", mode]
    jars = ",".join(map(str, connector_jars(pyspark.__version__).jars))
    job = yarn.run([*words, JOB, servers, topic_name, target, str(jaas)], settings={**SETTINGS, "spark.jars": jars})
    assert job.process.returncode == 0, job.tail()
    assert sorted((record.value or b"").decode() for record in hq.read(target)) == VALUES


def test_a_job_that_calls_configure_is_proved_under_spark_submit(
    world: NetnsWorld, yarn: SparkPlace, tmp_path: Path
) -> None:
    """The command is that of docs/guides/clusters.md."""
    clusters = (world.hq, world.local)
    file = write_file(tmp_path, {each.name: cluster_section(each.cluster) for each in clusters}, {})
    packages = [sys.executable, "-m", "brokernat", "spark-packages"]
    jars = subprocess.run(packages, capture_output=True, text=True, check=True).stdout.strip()

    words = ["--master", "yarn", "--jars", jars, str(PROVER), str(file), str(file)]
    job = yarn.start(words, program=str(SPARK_HOME / "bin" / "spark-submit"), settings=SETTINGS)
    assert job.wait(420) == 0, job.tail()

    answer = Prover(job).last()
    assert answer.message is None, answer
    assert len(answer.executors()) == 2
    everywhere = {"driver", *answer.executors()}
    for cluster in clusters:
        assert answer.outcomes(cluster.name) == {(who, n): "proved" for who in everywhere for n in cluster.nodes}
