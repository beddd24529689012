"""`brokernat exec` in front of a Spark job that nobody changes: two workers, nginx, a login."""

import sys
from pathlib import Path

import pyspark
import pytest
from tests.netns.spark.pipeline_file import cluster_section, write_file
from tests.netns.spark.spark_place import SparkPlace

from brokernat.clients.spark.connector import connector_jars
from brokernat.jvm import agent_jar
from brokernat.testbed import NetnsWorld, Record

pytestmark = pytest.mark.netns

JOB = str(Path(__file__).parent / "jobs" / "existing.py")
VALUES = sorted(f"order {number}" for number in range(30))


def test_an_existing_job_runs_through_nginx(
    world: NetnsWorld, spark: SparkPlace, topic_name: str, tmp_path: Path
) -> None:
    hq, target = world.hq, f"{topic_name}-copy"
    hq.create_topic(topic_name, partitions=3)
    hq.create_topic(target, partitions=3)
    hq.write(topic_name, [Record(value=value.encode()) for value in VALUES])
    config = write_file(tmp_path, {"hq": cluster_section(hq.cluster)}, {})
    jaas = tmp_path / "jaas"
    jaas.write_text(hq.cluster.kafka_properties()["sasl.jaas.config"])
    servers = ",".join(map(str, hq.cluster.bootstrap_servers))
    agent = ("--agent-path", str(agent_jar()))
    words = ["-m", "brokernat", "exec", "--config", str(config), "--cluster", "hq", *agent, "--", sys.executable, JOB]
    jars = ",".join(map(str, connector_jars(pyspark.__version__).jars))
    settings = {"spark.jars": jars, "spark.executor.instances": "2"}
    job = spark.run([*words, servers, topic_name, target, str(jaas)], settings=settings)
    assert job.process.returncode == 0, job.tail()
    assert sorted((record.value or b"").decode() for record in hq.read(target)) == VALUES
