"""What docs/guides/spark-notebooks.md claims of Spark Connect: a real server with our jars, a client without Java."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.python_clients.libraries import installed
from tests.integration.spark.drivers import VALUES
from tests.integration.spark.standalone import SPARK_HOME, defaults_in, wait_for
from tests.support.ports import free_port

from brokernat.jvm import find_java, spark_java_home
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.running_cluster import config_text

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.soak]

ROOT = Path(__file__).resolve().parents[3]
LOCK = ROOT / "requirements" / "connect.lock"
JOB = """
import json, sys

from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import StructType

from brokernat.clients.spark import configure, decode, kafka_options, prove, watch
from brokernat.config import load
from brokernat.errors import ConfigError

remote, source, batch, stream, checkpoint = sys.argv[1:]
hq = load("brokernat.yaml").clusters["hq"]
spark = SparkSession.builder.remote(remote).getOrCreate()
options = kafka_options(hq)


def refused(call):
    try:
        call()
    except ConfigError as error:
        return error.message


records = spark.read.format("kafka").options(**options).option("subscribe", source).load()
records.select("value").write.format("kafka").options(**options).option("topic", batch).save()
rows = spark.readStream.format("kafka").options(**options, startingOffsets="earliest")
rows = rows.option("subscribe", source).load()
writer = rows.select("value").writeStream.format("kafka").options(**options).option("topic", stream)
writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
number = F.encode(F.concat(F.lit('{"n": '), F.split(F.col("value").cast("string"), " ")[1], F.lit("}")), "utf-8")
decoded = records.select(decode(number, StructType().add("n", "integer"), spark).alias("order"))
print(json.dumps({
    "decoded": sorted(row[0] for row in decoded.select("order.n").collect()),
    "refused": [
        refused(lambda: configure(SparkSession.builder.remote(remote), [hq])),
        refused(lambda: prove(spark, [hq])),
        refused(lambda: watch(spark, [hq], None, print).__enter__()),
    ],
}))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Where a server listens that was started as the page has it."""
    jars = subprocess.run(
        [sys.executable, "-m", "brokernat", "spark-packages"], capture_output=True, text=True, check=True
    )
    port, log = free_port(), tmp_path / "server.log"
    words = [str(SPARK_HOME / "sbin" / "start-connect-server.sh"), "--wait", "--jars", jars.stdout.strip()]
    for setting in ("address=127.0.0.1", f"port={port}"):
        words += ["--conf", f"spark.connect.grpc.binding.{setting}"]
    environ = {
        **os.environ,
        "SPARK_HOME": str(SPARK_HOME),
        "JAVA_HOME": str(spark_java_home(find_java(17))),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOG_DIR": str(tmp_path),
        **defaults_in(tmp_path / "conf"),
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            words, env=environ, cwd=tmp_path, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_for(lambda: "Spark Connect server started" in log.read_text(), "the server", log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_client_reads_writes_and_decodes_and_is_refused_the_rest(
    server: str, loopback_world: LoopbackWorld, orders: str, written: Callable[[str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "brokernat.yaml").write_text(config_text(loopback_world.clusters.values()))
    (tmp_path / "job.py").write_text(JOB)
    path = os.pathsep.join([str(installed(LOCK)), str(ROOT / "src")])
    environ = {**os.environ, "PYTHONPATH": path, "PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)}
    batch, stream = f"{orders}-batch", f"{orders}-stream"
    words = [sys.executable, "job.py", server, orders, batch, stream, str(tmp_path / "checkpoint")]
    done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=420)
    assert done.returncode == 0, done.stderr[-6000:] + (tmp_path / "server.log").read_text()[-6000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert written(batch) == written(stream) == VALUES
    assert found["decoded"] == list(range(len(VALUES)))
    reason = "the agent must run in the server's JVMs, which a client can neither configure nor check"
    assert all(refusal and reason in refusal for refusal in found["refused"]), found["refused"]

    environ["SPARK_REMOTE"] = server
    pipeline = {
        "source": {"cluster": "hq", "topics": [orders]},
        "decode": {"format": "raw", "schema": "line STRING"},
        "sink": {"cluster": "local", "topic": "tags", "dead_letters": "dead"},
        "checkpoint": "state",
    }
    with (tmp_path / "brokernat.yaml").open("a") as file:
        file.write(f"pipelines: {json.dumps({'tags': pipeline})}\n")
    for words in (["pipeline", "run", "tags"], ["doctor", "--cluster", "hq", "--on-executors"]):
        command = [sys.executable, "-m", "brokernat", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stdout + done.stderr
        assert reason in " ".join(done.stderr.split())
