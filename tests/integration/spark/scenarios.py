"""What runs inside a Spark driver of its own: `python scenarios.py NAME`, wishes as JSON on stdin, findings on
stdout.

PySpark starts one JVM per process, so every other configuration of a JVM needs another process; the tests start one
for each and look at what it found. Credentials come by stdin, never by the command line.
"""

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.clients.spark import Loader, Proof, Role, configure, kafka_options, prove, watch
from brokernat.config import Cluster
from brokernat.errors import BrokernatError
from brokernat.pipelines.query import execution
from brokernat.pipelines.realtime import end_with_epoch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Findings = dict[str, Any]
# What the testbed reads back without a library.
PLAIN = {"kafka.compression.type": "none"}


@dataclass
class Wishes:
    """The parsed stdin."""

    master: str
    loader: Loader
    agent_path: str | None
    clusters: dict[str, Cluster]
    settings: dict[str, str]
    topic: str
    extra: dict[str, Any]

    def builder(self) -> "SparkSession.Builder":
        from pyspark.sql import SparkSession

        builder = SparkSession.Builder().master(self.master).config("spark.ui.enabled", "false")
        builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
        for name, value in self.settings.items():
            builder.config(name, value)
        return builder

    def session(self) -> "SparkSession":
        clusters = self.clusters
        return configure(self.builder(), clusters, loader=self.loader, agent_path=self.agent_path).getOrCreate()


def read_wishes(text: str) -> Wishes:
    wishes = json.loads(text)
    clusters = {one["name"]: _cluster(one) for one in wishes.pop("clusters")}
    return Wishes(loader=Loader(wishes.pop("loader")), clusters=clusters, **wishes)


def _cluster(one: dict[str, Any]) -> Cluster:
    servers = tuple(Endpoint.parse(server) for server in one["bootstrap_servers"])
    rules = one["map"]
    address_map = None if rules is None else AddressMap.parse(rules, Unmapped(one["unmapped"]))
    return Cluster(one["name"], servers, address_map, one["client"])


def facts(proof: Proof) -> Findings:
    """A proof as JSON, with the error that it would raise."""
    headings, lines = proof.table()
    found: Findings = {"ok": proof.ok, "missing": list(proof.missing), "notes": list(proof.notes)}
    found["rows"] = [dict(zip(headings, line, strict=True)) for line in lines]
    try:
        proof.raise_for_failures()
    except BrokernatError as error:
        found["error"], found["hint"] = error.message, error.hint
    return found


def _read(spark: "SparkSession", cluster: Cluster, topic: str) -> "DataFrame":
    options = kafka_options(cluster, role=Role.SOURCE)
    return spark.read.format("kafka").options(**options).option("subscribe", topic).load()


def _values(frame: "DataFrame") -> list[str]:
    return sorted(bytes(row.value).decode() for row in frame.select("value").collect())


def whole_job(wishes: Wishes) -> Findings:
    """Proof; batch read and write, streaming read and write, both on the cluster that hides its addresses."""
    # Started by somebody else: whatever the settings do not bring is not there.
    spark = wishes.builder().getOrCreate() if wishes.extra.get("plain") else wishes.session()
    hq = wishes.clusters["hq"]
    found: Findings = {"proof": facts(prove(spark, wishes.clusters, timeout=180))}
    frame = _read(spark, hq, wishes.topic)
    found["batch"] = _values(frame)
    sink = kafka_options(hq, role=Role.SINK) | PLAIN
    frame.select("key", "value").write.format("kafka").options(**sink).option("topic", f"{wishes.topic}-batch").save()
    stream = spark.readStream.format("kafka").options(**kafka_options(hq, role=Role.SOURCE))
    query = (
        stream.option("subscribe", wishes.topic)
        .option("startingOffsets", "earliest")
        .load()
        .select("key", "value")
        .writeStream.format("kafka")
        .options(**sink)
        .option("topic", f"{wishes.topic}-stream")
        .option("checkpointLocation", wishes.extra["checkpoint"])
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found["loader"] = spark.conf.get("spark.brokernat.loader", None)
    jvm: Any = spark.sparkContext._jvm
    found["versions"] = [spark.version, jvm.org.apache.kafka.common.utils.AppInfoParser.getVersion()]
    found["java"] = jvm.Runtime.version().feature()
    found["again"] = facts(prove(spark, wishes.clusters))["ok"]
    return found


def ended_with_their_epochs(wishes: Wishes) -> Findings:
    """Two queries in Real-Time Mode, one after the other, each asked to end as soon as it has begun."""
    spark, hq = wishes.session(), wishes.clusters["hq"]
    for _ in range(2):
        stream = spark.readStream.format("kafka").options(**kafka_options(hq, role=Role.SOURCE))
        rows = stream.option("subscribe", wishes.topic).option("startingOffsets", "earliest").load()
        writer = rows.select("key", "value").writeStream.format("kafka")
        writer = writer.options(**kafka_options(hq, role=Role.SINK) | PLAIN).option("topic", f"{wishes.topic}-stream")
        writer = writer.option("checkpointLocation", wishes.extra["checkpoint"]).outputMode("update")
        query = writer.trigger(realTime="5 seconds").start()  # type: ignore[call-overload]
        while not end_with_epoch(query, 5):
            assert query.isActive
        execution(query).queryExecutionThread().join()
        assert query.exception() is None
    # Whoever still runs then writes something that is never committed.
    tracker = spark.sparkContext.statusTracker()
    return {"running": list(tracker.getActiveJobsIds())}


def proof_only(wishes: Wishes) -> Findings:
    """Proofs of several variants of the clusters in one session."""
    spark = wishes.session()
    found: Findings = {}
    for name, clusters in wishes.extra["variants"].items():
        variant = {one["name"]: _cluster(one) for one in clusters}
        found[name] = facts(prove(spark, variant, topics=wishes.extra.get("topics"), timeout=180))
    return found


def two_clusters(wishes: Wishes) -> Findings:
    """Both clusters advertise the same addresses; one job reads both, and writes to the one that wants a login."""
    spark = wishes.session()
    found: Findings = {"proof": facts(prove(spark, wishes.clusters, topics=wishes.extra["topics"]))}
    both = None
    for name, cluster in wishes.clusters.items():
        frame = _read(spark, cluster, wishes.topic).selectExpr(f"'{name}:' || cast(value as string) as value")
        both = frame if both is None else both.union(frame)
    assert both is not None
    both.explain("extended")
    found["values"] = sorted(row.value for row in both.collect())
    # The plan of this command shows the sink's options.
    sink = kafka_options(wishes.clusters["hq"], role=Role.SINK) | PLAIN
    both.write.format("kafka").options(**sink).option("topic", f"{wishes.topic}-copy").save()
    return found


def map_without_agent(wishes: Wishes) -> Findings:
    """Jar and map are there, and nothing loads the agent."""
    from brokernat.clients.spark.connector import connector_jars
    from brokernat.jvm import agent_jar, spark_functions_jar

    jars = [*connector_jars(_pyspark_version()).jars, agent_jar(), spark_functions_jar()]
    builder = wishes.builder().config("spark.jars", ",".join(map(str, jars)))
    spark = builder.config("spark.brokernat.loader", "javaagent").getOrCreate()
    return {"proof": facts(prove(spark, wishes.clusters)), "too_late": _refusal(wishes)}


def bare_session(wishes: Wishes) -> Findings:
    """A session that nobody configured, and a configure that comes too late: while it runs, and after it."""
    spark = wishes.builder().getOrCreate()
    found: Findings = {"proof": facts(prove(spark, wishes.clusters)), "session_running": _refusal(wishes)}
    spark.stop()
    return found | {"jvm_running": _refusal(wishes)}


def _refusal(wishes: Wishes) -> str:
    try:
        configure(wishes.builder(), wishes.clusters)
    except BrokernatError as error:
        return error.message
    return ""


def busy_executor(wishes: Wishes) -> Findings:
    """One executor works on something long: unheard in a short time, heard when it is free."""
    spark = wishes.session()
    prove(spark, wishes.clusters, executors=2, timeout=180)
    gate = Path(wishes.extra["gate"])

    def work(_: object) -> None:
        (gate / f"busy-{os.getpid()}").touch()
        while not (gate / "open").exists():
            time.sleep(0.1)

    job = threading.Thread(target=lambda: spark.sparkContext.parallelize([1], 1).foreach(work))
    job.start()
    while not list(gate.glob("busy-*")):
        time.sleep(0.1)
    # Longer than spark.locality.wait: the task meant for the busy executor runs on the idle one, and must not count
    # for both. The idle one may need longer than that on a busy machine.
    for timeout in (6, 30, 180):
        found: Findings = {"while_busy": facts(prove(spark, wishes.clusters, timeout=timeout))}
        if len(found["while_busy"]["missing"]) == 1:
            break
    (gate / "open").touch()
    job.join()
    found["after"] = facts(prove(spark, wishes.clusters, timeout=180))
    found["one_more"] = facts(prove(spark, wishes.clusters, timeout=1, executors=3))
    return found


def late_executors(wishes: Wishes) -> Findings:
    """Executors join while the watch runs: one that is well, then one that is not."""
    spark = wishes.session()
    proof = prove(spark, wishes.clusters, timeout=180)
    failed: list[Proof] = []
    gate = Path(wishes.extra["gate"])
    log = logging.getLogger("brokernat.clients.spark.proving")
    log.addHandler(heard := _Heard())

    def wait_for(found: list[Any]) -> None:
        deadline = time.monotonic() + 200
        while not found and time.monotonic() < deadline:
            time.sleep(0.1)

    with watch(spark, wishes.clusters, proof, failed.append, interval=0.2, timeout=120):
        (gate / "watching").touch()
        wait_for(heard.messages)
        (gate / "heard").touch()
        wait_for(failed)
    return {"before": sorted(proof.executors), "heard": heard.messages, "failed": [facts(one) for one in failed]}


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _pyspark_version() -> str:
    import pyspark

    return str(pyspark.__version__)


SCENARIOS: dict[str, Callable[[Wishes], Findings]] = {
    scenario.__name__: scenario
    for scenario in (
        whole_job, ended_with_their_epochs, proof_only, two_clusters, map_without_agent, bare_session, busy_executor,
        late_executors,
    )
}  # fmt: skip

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    answer = SCENARIOS[sys.argv[1]](read_wishes(sys.stdin.read()))
    Path(sys.argv[2]).write_text(json.dumps(answer))
