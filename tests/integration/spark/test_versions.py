"""Every PySpark of the table of versions: reads, writes, proof and `exec`, each in an environment of its own."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.spark.drivers import VALUES, Driver, described
from tests.integration.spark.standalone import SMALL, defaults_in
from tests.matrix.javas import java_binary
from tests.versions import SparkRun, spark_runs

from brokernat.clients.spark.connector import connector_jars
from brokernat.clients.spark.releases import KNOWN, release_of
from brokernat.jvm import cache, find_java, spark_java_home
from brokernat.paths import cache_dir
from brokernat.testbed import ClusterOptions, LoopbackWorld, Record
from brokernat.testbed.config_file import config_text

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROOT = Path(__file__).resolve().parents[3]
JOB = ROOT / "tests" / "integration" / "exec" / "programs" / "job.py"
RUNS = [pytest.param(run, marks=() if run.gate else pytest.mark.soak, id=str(run)) for run in spark_runs()]


@pytest.fixture
def world(run: SparkRun, request: pytest.FixtureRequest) -> Iterator[LoopbackWorld]:
    """The world that other tests share where its brokers are of the run's version."""
    shared = ClusterOptions().version == run.brokers
    if shared:
        yield request.getfixturevalue("loopback_world")
    else:
        with LoopbackWorld(hq=ClusterOptions(version=run.brokers), local=None) as own:
            yield own


@pytest.fixture
def python(run: SparkRun) -> str:
    """The interpreter of an environment made from the run's lock, kept beside the other downloads."""
    if run.lock == "dev":
        return sys.executable
    lock = ROOT / "requirements" / f"{run.lock}.lock"
    home = cache_dir() / "environments" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    python, done = home / "bin" / "python", home / ".done"
    with cache.locked(home.with_suffix(".lock")):
        if not done.exists():
            uv = str(Path(sys.executable).with_name("uv"))
            subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True)
            subprocess.run(
                [uv, "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(lock)], check=True
            )
            done.touch()
    return str(python)


@pytest.mark.parametrize("run", RUNS)
def test_reads_writes_proof_and_exec(
    run: SparkRun, world: LoopbackWorld, python: str, driver: Driver, topic_name: str, tmp_path: Path
) -> None:
    hq = world.hq
    batch, stream, copy = (f"{topic_name}-{name}" for name in ("batch", "stream", "copy"))
    for name in (topic_name, batch, stream, copy):
        hq.create_topic(name)
    hq.write(topic_name, [Record(value=value.encode()) for value in VALUES])
    java = find_java(run.java, {"JAVA_HOME": str(java_binary(run.java).parents[1])} if run.java != 17 else None)
    environ = {"JAVA_HOME": str(java.home), "PYSPARK_PYTHON": python}

    # As a job that has our lines in it; the agent comes by the reporter.
    found = driver.run(
        "whole_job",
        [described(hq.cluster)],
        loader="reporter",
        topic=topic_name,
        python=python,
        environ={**environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        timeout=900,
    )
    assert found["proof"]["ok"], found["proof"]["error"]
    assert found["versions"] == [run.pyspark, KNOWN[run.pyspark].kafka_clients]
    assert found["java"] == run.java
    assert found["batch"] == VALUES
    assert values(world, batch) == VALUES
    assert values(world, stream) == VALUES

    # As a job that knows nothing of us; the agent comes by `exec`.
    (tmp_path / "brokernat.yaml").write_text(config_text(world.clusters.values()))
    jars = ",".join(map(str, connector_jars(release_of(run.pyspark)).jars))
    servers = ",".join(map(str, hq.cluster.bootstrap_servers))
    done = subprocess.run(
        [sys.executable, "-m", "brokernat", "exec", "--cluster", "hq", "--",
         python, str(JOB), servers, topic_name, copy, "60000"],
        cwd=tmp_path,
        env={
            **os.environ,
            **environ,
            "JAVA_HOME": str(spark_java_home(java)),
            "SPARK_LOCAL_IP": "127.0.0.1",
            **defaults_in(tmp_path / "conf", {**SMALL, "spark.jars": jars, "spark.driver.host": "127.0.0.1"}),
        },
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    assert values(world, copy) == VALUES


def values(world: LoopbackWorld, topic: str) -> list[str]:
    """The values of a topic of headquarters, read past everything under test."""
    return sorted((record.value or b"").decode() for record in world.hq.read(topic))
