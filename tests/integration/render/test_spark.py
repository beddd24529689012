"""What `render spark` prints, in the spark-defaults.conf of a job that stays as it is, driver and executor apart."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from tests.integration.spark.standalone import SMALL, StandaloneCluster, defaults_in, standalone_cluster

from brokernat.cli.app import main
from brokernat.clients.spark.connector import connector_jars
from brokernat.jvm import find_java, spark_java_home
from brokernat.testbed import LoopbackWorld, Record
from brokernat.testbed.running_cluster import config_text

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JOB = Path(__file__).with_name("job.py")
VALUES = sorted(f"order {number}".encode() for number in range(30))
TIMEOUT = 300


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    with standalone_cluster(tmp_path_factory.mktemp("standalone"), workers=1) as running:
        yield running


def test_a_job_that_knows_nothing_of_a_map(
    loopback_world: LoopbackWorld, standalone: StandaloneCluster, topic_name: str, tmp_path: Path
) -> None:
    hq = loopback_world.hq
    source, target = f"{topic_name}-in", f"{topic_name}-out"
    for topic in (source, target):
        hq.create_topic(topic)
    hq.write(source, [Record(value) for value in VALUES])
    config, rendered = tmp_path / "brokernat.yaml", tmp_path / "rendered.conf"
    config.write_text(config_text([hq]))
    assert main(["render", "spark", "--config", str(config), "--output", str(rendered)]) == 0
    # What the place needs; none of it is about addresses.
    jars = ",".join(map(str, connector_jars(pyspark.__version__).jars))
    place = {"spark.master": standalone.url, "spark.jars": jars, "spark.driver.host": "127.0.0.1", **SMALL}
    defaults = defaults_in(tmp_path, place)
    with (Path(defaults["SPARK_CONF_DIR"]) / "spark-defaults.conf").open("a") as file:
        file.write(rendered.read_text())

    servers = ",".join(map(str, hq.cluster.bootstrap_servers))
    job = subprocess.run(
        [sys.executable, str(JOB), servers, source, target],
        env={**os.environ, **defaults, "JAVA_HOME": str(spark_java_home(find_java(17)))},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )

    assert job.returncode == 0, job.stderr[-4000:]
    assert sorted(record.value or b"" for record in hq.read(target)) == VALUES
    # The driver would say it at level INFO; without its map it had not got as far as the executor.
    logs = standalone.executor_logs()
    assert logs
    for log in logs.values():
        assert f"translated {hq.advertised[1]} -> {hq.reachable[1]} " in log, log[-4000:]
