"""PySpark in one JVM against brokers whose advertised addresses are dead: each loader, and each way to be wrong."""

from collections.abc import Callable
from typing import Any

import pyspark
import pytest
from tests.integration.spark.drivers import VALUES, Driver, described
from tests.integration.spark.standalone import C1
from tests.matrix.javas import java_binary
from tests.support.cluster_admin import Allow, Operation, Resource, allow

from brokernat.clients.spark.connector import connector_jars
from brokernat.jvm import agent_jar, resolve
from brokernat.testbed import LoopbackWorld, Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JVMS = ("driver", "executor")


# The reporter does the same where its platform has started the session, on a standalone cluster and in an old PySpark.
@pytest.mark.parametrize("loader", ["javaagent", pytest.param("reporter", marks=pytest.mark.soak)])
def test_source_and_sink_batch_and_streaming(
    loader: str, driver: Driver, loopback_world: LoopbackWorld, orders: str, written: Callable[[str], list[str]]
) -> None:
    hq, local = loopback_world.hq.cluster, loopback_world.local.cluster
    # One of them with a JAVA_HOME that this PySpark does not run on, beside a PATH with one that it does.
    old = java_binary(11).parents[1]
    environ = {"JAVA_HOME": str(old)} if loader == "javaagent" else {}
    found = driver.run("whole_job", [described(hq), described(local)], loader=loader, topic=orders, environ=environ)
    gives_way = f"needs Java 17 or newer: JAVA_HOME ({old}/bin/java): is Java 11.0.13; using Java 17."
    assert (gives_way in driver.output) == (loader == "javaagent"), driver.output[-3000:]
    assert found["java"] == 17
    assert found["proof"]["ok"], found["proof"]
    assert found["again"]
    assert found["loader"] == loader
    assert found["batch"] == VALUES
    assert written(f"{orders}-batch") == VALUES
    assert written(f"{orders}-stream") == VALUES
    assert f"loader {loader}" in driver.output
    assert [row["cluster"] for row in found["proof"]["rows"]] == ["hq", "hq", "hq", "local"]
    dialled = {(row["advertised"], row["dialled"]) for row in found["proof"]["rows"] if row["cluster"] == "hq"}
    assert dialled == {
        (str(loopback_world.hq.advertised[node]), str(loopback_world.hq.reachable[node])) for node in (1, 2, 3)
    }


@pytest.mark.parametrize("agent", ["reporter", pytest.param("javaagent", marks=pytest.mark.soak)])
def test_a_session_that_its_platform_has_started_needs_settings_and_no_configure(
    agent: str, driver: Driver, loopback_world: LoopbackWorld, orders: str, written: Callable[[str], list[str]]
) -> None:
    """As docs/guides/spark-notebooks.md has it: jars in `spark.jars`, or `-javaagent` where the hosts have the jar."""
    jars = [str(jar) for jar in connector_jars(pyspark.__version__).jars]
    options = f"{C1} -javaagent:{agent_jar()}"
    settings = (
        {"spark.jars": ",".join((*jars, str(agent_jar())))}
        if agent == "reporter"
        else {"spark.jars": ",".join(jars), **dict.fromkeys(map("spark.{}.extraJavaOptions".format, JVMS), options)}
    )
    hq = described(loopback_world.hq.cluster)
    found = driver.run("whole_job", [hq], settings=settings, topic=orders, plain=True)
    assert found["proof"]["ok"], found["proof"]
    assert found["loader"] is None
    assert found["batch"] == VALUES
    assert written(f"{orders}-batch") == VALUES
    assert written(f"{orders}-stream") == VALUES


def test_what_is_wrong_is_named_and_what_is_healed_passes(driver: Driver, loopback_world: LoopbackWorld) -> None:
    hq = loopback_world.hq
    first, second, third = (f"{hq.advertised[node]}={hq.reachable[node]}" for node in (1, 2, 3))
    swapped = f"{hq.advertised[1]}={hq.reachable[2]},{hq.advertised[2]}={hq.reachable[1]},{third}"
    variants = {
        "swapped": described(hq.cluster, rules=swapped),
        "healed": described(hq.cluster),
        "unmapped": described(hq.cluster, rules=f"{first},{second}"),
        "passed": described(hq.cluster, rules=f"{first},{second}", unmapped="pass"),
        "no_bootstrap": described(hq.cluster) | {"bootstrap_servers": [str(hq.advertised[1])], "map": None},
    }
    (second_client,) = resolve(["org.apache.kafka:kafka-clients:3.9.0"], transitive=False)
    found = driver.run(
        "proof_only",
        [],
        variants={name: [cluster] for name, cluster in variants.items()},
        settings={"spark.jars": str(second_client)},
    )

    assert found["healed"]["ok"], found["healed"]
    outcomes = {name: [row["outcome"] for row in proof["rows"]] for name, proof in found.items()}
    assert outcomes["swapped"] == ["other node", "other node", "proved"]
    assert "the rule for node 2 leads to node 1" in found["swapped"]["error"]
    for node, other in ((1, 1), (2, 2)):
        assert f"{hq.advertised[node]} = {hq.reachable[other]}" in found["swapped"]["hint"]

    assert outcomes["unmapped"] == ["proved", "proved", "unmapped"]
    assert str(hq.advertised[3]) in found["unmapped"]["error"]
    assert "add a rule" in found["unmapped"]["hint"]

    assert outcomes["passed"] == ["proved", "proved", "unreachable"]
    assert "refused" in found["passed"]["rows"][2]["cause"]

    assert outcomes["no_bootstrap"] == ["unreachable"]
    assert f"{hq.advertised[1]}: refused" in found["no_bootstrap"]["error"]

    (note,) = found["healed"]["notes"]
    assert "2 copies of kafka-clients" in note
    assert "3.9.0" in note
    assert note in driver.output


def test_a_map_that_no_agent_applies(driver: Driver, loopback_world: LoopbackWorld) -> None:
    found = driver.run("map_without_agent", [described(loopback_world.hq.cluster)])
    assert [row["outcome"] for row in found["proof"]["rows"]] == ["no agent"]
    assert "nothing applies the map" in found["proof"]["error"]
    assert "configure(builder, clusters)" in found["proof"]["hint"]
    assert found["too_late"] == "Spark's JVM has started already, without the agent"


def test_a_session_that_nobody_configured_and_a_configure_that_comes_too_late(
    driver: Driver, loopback_world: LoopbackWorld
) -> None:
    found = driver.run("bare_session", [described(loopback_world.hq.cluster)])
    assert [row["outcome"] for row in found["proof"]["rows"]] == ["no agent"]
    assert "agent's jar is not in this session" in found["proof"]["error"]
    assert "a Spark session is running in this process already" in found["session_running"]
    assert "Spark's JVM has started already, without org.apache.spark.sql.kafka010" in found["jvm_running"]


KEY_CANARY = "canary-0815"


def values(cluster: str) -> list[Record]:
    return [Record(value=f"{cluster} {number}".encode(), partition=number % 3) for number in range(30)]


def test_two_clusters_with_the_same_addresses_and_one_without_rights(
    driver: Driver, twins: LoopbackWorld, topic_name: str
) -> None:
    for cluster in (twins.hq, twins.hq2):
        cluster.create_topic(topic_name)
        cluster.write(topic_name, values(cluster.name))
    twins.hq.create_topic(f"{topic_name}-copy")
    allow(twins.hq, *(Allow(right, Resource.TOPIC) for right in (Operation.READ, Operation.WRITE, Operation.DESCRIBE)))
    assert twins.hq.advertised == twins.hq2.advertised
    # Not used without TLS, and shown by the plan unless its name is known: Spark's own pattern knows passwords only.
    hq = described(twins.hq.cluster)
    hq["client"]["ssl.keystore.key"] = KEY_CANARY
    events = driver.directory / "events"
    events.mkdir()
    found = driver.run(
        "two_clusters",
        [hq, described(twins.hq2.cluster)],
        topic=topic_name,
        topics={"hq": [topic_name]},
        settings={
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.eventLog.compress": "false",
        },
    )
    assert found["values"] == sorted(
        f"{cluster}:{cluster} {number}" for cluster in ("hq", "hq2") for number in range(30)
    )
    rows: list[dict[str, Any]] = found["proof"]["rows"]
    assert found["proof"]["ok"], found["proof"]
    by_cluster = {name: [row["cause"] for row in rows if row["cluster"] == name] for name in ("hq", "hq2")}
    assert {name: len(causes) for name, causes in by_cluster.items()} == {"hq": 2, "hq2": 2}
    assert all(f"ListOffsets of {topic_name}-" in cause for cause in by_cluster["hq"]), by_cluster
    assert all(cause.startswith("DescribeConfigs") for cause in by_cluster["hq2"]), by_cluster

    assert len(twins.hq.read(f"{topic_name}-copy")) == 60
    log = "".join(path.read_text() for path in events.rglob("*") if path.is_file())
    assert "kafka.sasl.jaas.config" in log, "the plan shows the names of the options"
    for secret in (twins.hq.plan.options.password, KEY_CANARY):
        assert secret not in driver.output + log
