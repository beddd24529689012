"""What `brokernat spark-packages` prints for the PySpark that is installed; tests/integration uses the jars."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.clients.spark import connector, environment
from brokernat.clients.spark.connector import ConnectorJars
from brokernat.clients.spark.releases import KNOWN, SparkRelease, nearest_known
from brokernat.jvm import Java


@pytest.fixture(params=["3.5.7", "4.3.0"])
def release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SparkRelease:
    known = KNOWN[request.param]
    release = SparkRelease(request.param, known.combination.scala)

    def jars(release: SparkRelease) -> ConnectorJars:
        known = nearest_known(release)
        names = ("-".join(coordinate.split(":")[1:]) for coordinate in known.coordinates)
        return ConnectorJars(known.combination, tuple(Path(f"/cache/{name}.jar") for name in names), fallback=False)

    monkeypatch.setattr(environment, "installed_spark", lambda: release)
    monkeypatch.setattr(connector, "connector_jars", jars)
    monkeypatch.setattr("brokernat.jvm.agent_jar", lambda: Path("/opt/brokernat/brokernat-agent.jar"))
    monkeypatch.setattr("brokernat.jvm.spark_functions_jar", lambda: Path("/opt/brokernat/brokernat-spark.jar"))
    return release


@pytest.mark.parametrize("options", [(), ("--coordinates",), ("--format", "json")])
@pytest.mark.usefixtures("release")
def test_what_it_prints(run: Callable[..., str], snapshot: SnapshotAssertion, options: tuple[str, ...]) -> None:
    assert run("spark-packages", *options) == snapshot


def test_json_has_the_same_jars(run: Callable[..., str], release: SparkRelease) -> None:
    text = run("spark-packages").split("--- stdout\n")[1].split("\n")[0]
    found = json.loads(run("spark-packages", "--format", "json").split("--- stdout\n")[1].split("--- stderr")[0])
    assert [*found["jars"], found["agent"], found["functions"]] == text.split(",")
    assert (found["pyspark"], found["scala"]) == (release.version, release.scala)


@pytest.mark.usefixtures("release")
def test_class_data_are_written_on_request(
    run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    java, archive = Java(tmp_path, "17.0.15", "Debian", "JAVA_HOME"), tmp_path / "spark.jsa"
    monkeypatch.setattr(environment, "java_of", lambda release: java)
    monkeypatch.setattr(environment, "class_data", lambda java: archive)
    monkeypatch.setattr(environment, "write_class_data", lambda java, archive: archive.write_bytes(bytes(2 << 20)))
    assert run("spark-packages", "--class-data").replace(str(tmp_path), "CACHE") == snapshot
