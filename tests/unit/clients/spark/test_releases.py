"""Which PySpark is served, and what belongs to it."""

from pathlib import Path

import pytest

from brokernat.clients.spark.releases import KNOWN, LINES, SHA256, release_of, spark_at
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("version", "scala", "javas"),
    [
        ("3.5.0", "2.12", "Java 11 to 17"),
        ("4.0.1", "2.13", "Java 17 to 21"),
        ("4.3.0", "2.13", "Java 17 or newer"),
        ("4.9.0.dev1", "2.13", "Java 17 or newer"),
    ],
)
def test_scala_and_java_of_a_pyspark(version: str, scala: str, javas: str) -> None:
    release = release_of(version)
    assert (release.scala, release.line.javas) == (scala, javas)


@pytest.mark.parametrize("version", ["3.4.4", "2.4.8", "5.0.0"])
def test_what_is_not_supported_is_refused_with_what_is(version: str) -> None:
    with pytest.raises(ConfigError, match=rf"PySpark {version} is not supported: brokernat works with .* 3\.5 to 4\.x"):
        release_of(version)


@pytest.mark.parametrize(
    ("jar", "expected"),
    [
        ("spark-core_2.12-3.5.1.jar", ("3.5.1", "2.12")),
        ("spark-core_2.13-3.5.7.jar", ("3.5.7", "2.13")),
        ("spark-core_2.12-3.5.1-amzn-0.jar", ("3.5.1", "2.12")),
        ("spark-core_2.13-4.1.0-SNAPSHOT.jar", ("4.1.0", "2.13")),
        ("spark-core.jar", ("4.3.0", "2.13")),
    ],
)
def test_spark_home_decides_and_not_the_installed_package(tmp_path: Path, jar: str, expected: tuple[str, str]) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    found = spark_at(tmp_path, "4.3.0")
    assert (found.version, found.scala) == expected


def test_a_spark_home_that_is_too_old_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.2.0.jar").touch()
    with pytest.raises(ConfigError, match=r"PySpark 3\.2\.0 is not supported"):
        spark_at(tmp_path, "4.3.0")


def test_every_jar_of_a_known_connector_has_a_known_sum() -> None:
    for version, known in KNOWN.items():
        assert ".".join(version.split(".")[:2]) in LINES
        for coordinate in known.coordinates:
            _, artifact, of_artifact = coordinate.split(":")
            assert len(SHA256[f"{artifact}-{of_artifact}.jar"]) == 64
