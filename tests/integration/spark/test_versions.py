"""Every PySpark of the table of versions: reads, writes, proof, `exec` and pipelines, each in its own environment."""

import hashlib
import json
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
from brokernat.jvm import find_java, spark_java_home
from brokernat.paths import cache_dir, locked
from brokernat.testbed import ClusterOptions, LoopbackWorld, Record
from brokernat.testbed.running_cluster import config_text

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
    with locked(home.with_suffix(".lock")):
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


TRANSFORMS = """
from pyspark.sql import functions as F


def by_rows(orders):
    return orders.where("n > 0").withColumn("tag", F.upper("segment"))


def by_python(orders):
    return by_rows(orders).withColumn("tag", F.udf(str.upper)("segment"))
"""


@pytest.mark.soak
@pytest.mark.parametrize("run", list(spark_runs()), ids=str)
@pytest.mark.parametrize("transform", ["by_rows", "by_python"])
def test_pipelines(
    run: SparkRun, world: LoopbackWorld, python: str, topic_name: str, tmp_path: Path, transform: str
) -> None:
    """In one pass, and with what a transform gets and returns kept."""
    tags, dead = f"{topic_name}-tags", f"{topic_name}-dead"
    for name in (topic_name, tags, dead):
        world.hq.create_topic(name)
    texts = [f'{{"n": {number}, "customer": "c{number % 3}"}}' for number in range(6)]
    world.hq.write(topic_name, [Record(value=text.encode()) for text in [*texts, '{"n": 1.5}']])
    (tmp_path / "customers.csv").write_text("customer,segment\nc0,retail\nc1,online\n")
    (tmp_path / "my_tags.py").write_text(TRANSFORMS)
    section = {
        "source": {"cluster": "hq", "topics": [topic_name], "starting_offsets": "earliest"},
        "decode": {"format": "json", "schema": "n INT, customer STRING"},
        "enrich": [{"reference": "customers", "key": "customer"}],
        "references": {"customers": {"format": "csv", "path": "customers.csv"}},
        "transform": f"my_tags:{transform}",
        "sink": {"cluster": "hq", "topic": tags, "dead_letters": dead},
        "checkpoint": "state",
    }
    clusters = config_text(world.clusters.values())
    (tmp_path / "brokernat.yaml").write_text(f"{clusters}pipelines: {json.dumps({'tags': section})}\n")
    java = find_java(run.java, {"JAVA_HOME": str(java_binary(run.java).parents[1])} if run.java != 17 else None)
    environ = {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": python,
        "PYTHONPATH": str(ROOT / "src"),
        **defaults_in(tmp_path / "conf", SMALL),
    }
    done = subprocess.run(
        [python, "-m", "brokernat", "pipeline", "run", "tags", "--once"],
        cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    assert "7 in = 3 tags + 3 dead letters + 1 filtered" in done.stdout + done.stderr
    assert [json.loads(value)["tag"] for value in values(world, tags)] == ["ONLINE", "RETAIL", "ONLINE"]
    assert len(values(world, dead)) == 3


def values(world: LoopbackWorld, topic: str) -> list[str]:
    """The values of a topic of headquarters, read past everything under test."""
    return sorted((record.value or b"").decode() for record in world.hq.read(topic))
