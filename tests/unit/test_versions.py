"""The table of versions says what the environments of the tests hold."""

import re
import tomllib
from pathlib import Path

from tests.versions import BROKERS, PYTHON_CLIENTS, spark_runs

from brokernat.clients.spark.releases import KNOWN, release_of
from brokernat.testbed import ClusterOptions

ROOT = Path(__file__).resolve().parents[2]


def pins(text: str) -> set[tuple[str, str]]:
    return set(re.findall(r"^([a-z][\w-]*)==([\w.]+)", text, re.MULTILINE))


def test_the_python_clients_are_the_locked_ones() -> None:
    locked = pins("\n".join(path.read_text() for path in (ROOT / "requirements").glob("*.in")))
    locked |= pins("\n".join(tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["dev"]))
    of_table = {(name, version) for name, versions in PYTHON_CLIENTS.items() for version in versions}
    assert of_table == {pin for pin in locked if pin[0] in PYTHON_CLIENTS}


def test_the_sparks_are_the_locked_ones_on_a_java_that_is_served() -> None:
    for run in spark_runs():
        assert ("pyspark", run.pyspark) in pins((ROOT / "requirements" / f"{run.lock}.lock").read_text())
        line = release_of(run.pyspark).line
        assert line.oldest_java <= run.java <= (line.newest_java or run.java)
        assert run.pyspark in KNOWN
        assert run.brokers in BROKERS


def test_brokers_of_no_particular_version_are_in_the_table() -> None:
    assert ClusterOptions().version in BROKERS
