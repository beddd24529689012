"""`configure` before any JVM: what it puts on the builder, and that a refusal leaves the builder as it was."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from brokernat.address import AddressMap, Endpoint
from brokernat.clients.spark import Loader, configure, configuring, environment
from brokernat.clients.spark.connector import ConnectorJars
from brokernat.clients.spark.environment import builder_options
from brokernat.clients.spark.releases import Combination, SparkRelease
from brokernat.config import Cluster
from brokernat.config.model import TunnelSection
from brokernat.errors import ConfigError
from brokernat.jvm import Java, spark_functions_jar

JAVA = Java(Path("/opt/java"), "17.0.15", "Debian", "JAVA_HOME")
HQ = Cluster("hq", (Endpoint.parse("172.10.1.40:9093"),), AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093"))


@pytest.fixture(autouse=True)
def nothing_is_resolved_or_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def jars(release: SparkRelease, connector_version: str | None) -> ConnectorJars:
        version = connector_version or release.version
        return ConnectorJars(Combination(version, version), (Path(f"/cache/connector-{version}.jar"),), False)

    monkeypatch.setattr(configuring, "connector_jars", jars)
    monkeypatch.setattr(configuring, "agent_jar", lambda: Path("/opt/brokernat-agent.jar"))
    monkeypatch.setattr(environment, "running_jvm", lambda: None)
    monkeypatch.setattr(environment, "prepare_java", lambda release: JAVA)
    monkeypatch.setattr(environment, "class_data", lambda java: tmp_path / "class data" / f"{java.version}.jsa")
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE", "SPARK_API_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


def builder(master: str = "local[2]") -> SparkSession.Builder:
    return SparkSession.Builder().master(master)


def test_the_same_builder_comes_back_with_connector_and_agent() -> None:
    given = builder()
    assert configure(given, [HQ], connector_version="4.2.0") is given
    options = builder_options(given)
    assert options["spark.jars"] == f"/cache/connector-4.2.0.jar,{spark_functions_jar()}"
    assert options["spark.driver.defaultJavaOptions"] == "-javaagent:/opt/brokernat-agent.jar"
    assert options["spark.brokernat.loader"] == "javaagent"
    assert options["spark.sql.catalog.brokernat"] == "io.brokernat.spark.BrokernatFunctions"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("hq", "several clusters are needed, not str"),
        (HQ, r"several clusters are needed, not Cluster: \[cluster\]"),
        (["hq"], "a brokernat.config.Cluster is needed, not str"),
        (None, "several clusters are needed, not NoneType"),
    ],
)
def test_what_is_no_cluster(given: Any, words: str) -> None:
    before = builder_options(builder())
    changed = builder()
    with pytest.raises(TypeError, match=words):
        configure(changed, given)
    assert builder_options(changed) == before


def test_a_generator_of_clusters_is_read_once() -> None:
    tunnel = TunnelSection.model_validate({"ssh": "user@bastion"})
    with pytest.raises(ConfigError, match="tunnel"):
        configure(builder("spark://master:7077"), (each for each in [replace(HQ, tunnel=tunnel)]))


def test_a_driver_starts_from_the_class_data_that_was_written(tmp_path: Path) -> None:
    archive = tmp_path / "class data" / "17.0.15.jsa"
    archive.parent.mkdir()
    archive.write_bytes(b"archive")
    given = configure(builder().config("spark.driver.defaultJavaOptions", "-Dours=1"), [HQ])
    words = shlex.split(builder_options(given)["spark.driver.defaultJavaOptions"])
    assert words[:2] == ["-Dours=1", "-javaagent:/opt/brokernat-agent.jar"]
    assert f"-XX:SharedArchiveFile={archive}" in words
    assert "SharedArchiveFile" not in builder_options(given)["spark.executor.defaultJavaOptions"]


def test_executors_elsewhere_cannot_reach_a_tunnel() -> None:
    behind = replace(HQ, tunnel=TunnelSection(ssh="user@bastion"))
    configure(builder(), [behind])
    given = builder("spark://master:7077")
    with pytest.raises(ConfigError, match="the executors of spark://master:7077 run on other hosts") as caught:
        configure(given, [behind])
    assert "--master 'local[*]'" in (caught.value.problems[0].hint or "")
    assert "spark.jars" not in builder_options(given)


def test_the_clusters_of_a_config_are_taken_as_they_are() -> None:
    assert "spark.jars" in builder_options(configure(builder(), {"hq": HQ}))


@pytest.mark.parametrize(
    "setting",
    [
        ("spark.jars", "/mine/spark-sql-kafka-0-10_2.13-4.3.0.jar"),
        ("spark.jars.packages", "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0"),
        ("spark.yarn.dist.jars", "/mine/spark-sql-kafka-0-10_2.13-4.3.0.jar"),
    ],
)
def test_a_connector_that_the_user_brings_stays_the_only_one(setting: tuple[str, str]) -> None:
    options = builder_options(configure(builder().config(*setting), [HQ]))
    assert "/cache" not in options.get("spark.jars", "")


def test_the_master_of_the_defaults_file_decides(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.master spark://m:7077\n")
    options = builder_options(configure(SparkSession.Builder(), [HQ]))
    assert options["spark.brokernat.loader"] == "reporter"


@pytest.mark.parametrize(
    ("given", "clusters", "agent_path"),
    [
        (builder("spark://m:7077"), [HQ], "agent.jar"),
        (SparkSession.Builder().config("spark.remote", "sc://h"), [HQ], None),
        (
            builder(),
            [Cluster("hq", HQ.bootstrap_servers, AddressMap.parse("*.hq.internal:9092 = gateway:{9092+id}"))],
            None,
        ),
    ],
    ids=["relative path", "connect", "rule with the node id"],
)
def test_a_refusal_leaves_the_builder_as_it_was(
    given: SparkSession.Builder, clusters: list[Cluster], agent_path: str | None
) -> None:
    before = builder_options(given)
    with pytest.raises(ConfigError):
        configure(given, clusters, loader=Loader.AUTO, agent_path=agent_path)
    assert builder_options(given) == before
