"""Which combination is tried, in which order, and what is remembered; resolving itself is stubbed."""

import hashlib
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.clients.spark import connector
from brokernat.clients.spark.connector import candidates, connector_jars
from brokernat.clients.spark.releases import SHA256, Combination, SparkRelease, release_of
from brokernat.errors import AlteredFileError, MissingToolError
from brokernat.jvm.artifacts import UnreachableRepositoryError


@pytest.mark.parametrize(
    ("pyspark", "override", "expected"),
    [
        ("3.5.7", None, [("3.5.7", "3.5.7")]),
        # Of the same line, although it is newer: the line below has another Scala, or there is none.
        ("3.5.1", None, [("3.5.1", "3.5.1"), ("3.5.1", "3.5.7"), ("3.5.7", "3.5.7")]),
        ("4.0.0", None, [("4.0.0", "4.0.0")]),
        ("4.0.1", None, [("4.0.1", "4.0.1"), ("4.0.1", "4.0.0"), ("4.0.0", "4.0.0")]),
        ("4.2.0", None, [("4.2.0", "4.2.0"), ("4.2.0", "4.0.0")]),
        ("4.3.0", None, [("4.3.0", "4.3.0"), ("4.3.0", "4.0.0"), ("4.2.0", "4.0.0")]),
        ("4.9.0.dev1", None, [("4.9.0.dev1", "4.9.0.dev1"), ("4.9.0.dev1", "4.0.0"), ("4.2.0", "4.0.0")]),
        ("4.3.0", "4.2.0", [("4.2.0", "4.2.0"), ("4.2.0", "4.0.0")]),
    ],
)
def test_the_matching_version_comes_first_and_what_is_known_to_work_last(
    pyspark: str, override: str | None, expected: list[tuple[str, str]]
) -> None:
    found = candidates(release_of(pyspark), override)
    assert [(one.connector, one.token_provider) for one in found] == expected
    assert {one.scala for one in found} == {"2.12" if pyspark.startswith("3.") else "2.13"}


def test_the_scala_of_the_spark_that_runs_names_the_jars() -> None:
    (found,) = candidates(SparkRelease("3.5.7", "2.13"))
    assert found.coordinates == (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:3.5.7",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:3.5.7",
    )


class Repository:
    """Holds some versions; counts what it is asked for."""

    def __init__(self, *present: str) -> None:
        self.present = present
        self.asked: list[str] = []
        self.folder = Path()
        self.reachable = True

    def resolve(self, coordinates: list[str], *, only_cached: bool, **_: object) -> tuple[Path, ...]:
        (coordinate,) = coordinates
        if not only_cached:
            self.asked.append(coordinate)
        artifact, version = coordinate.split(":")[1:]
        jar = self.folder / f"{artifact}-{version}.jar"
        if jar.stem not in self.present:
            error = MissingToolError if self.reachable else UnreachableRepositoryError
            raise error(f"cannot resolve {coordinate}", hint="offline?")
        jar.write_bytes(jar.stem.encode())
        return (jar,)


CONNECTOR = "spark-sql-kafka-0-10_2.13"
TOKENS = "spark-token-provider-kafka-0-10_2.13"


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Repository], Repository]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def use(repository: Repository) -> Repository:
        repository.folder = tmp_path
        monkeypatch.setattr(connector, "resolve", repository.resolve)
        for name in repository.present:
            monkeypatch.setitem(SHA256, f"{name}.jar", hashlib.sha256(name.encode()).hexdigest())
        return repository

    return use


def test_the_matching_version_is_taken_where_it_is_to_be_had(use: Callable[[Repository], Repository]) -> None:
    use(Repository(f"{CONNECTOR}-4.3.0", f"{TOKENS}-4.3.0"))
    found = connector_jars("4.3.0")
    assert found.combination == Combination("4.3.0", "4.3.0")
    assert not found.fallback
    assert [jar.name for jar in found.jars] == [f"{CONNECTOR}-4.3.0.jar", f"{TOKENS}-4.3.0.jar"]


def test_a_fallback_is_said_and_what_is_missing_is_not_asked_for_again(
    use: Callable[[Repository], Repository], caplog: pytest.LogCaptureFixture
) -> None:
    repository = use(Repository(f"{CONNECTOR}-4.2.0", f"{TOKENS}-4.0.0"))
    with caplog.at_level(logging.WARNING):
        found = connector_jars("4.3.0")
    assert found.combination == Combination("4.2.0", "4.0.0")
    assert found.fallback
    assert "connector 4.3.0" in caplog.text
    assert "using connector 4.2.0 with token provider 4.0.0, tested with this PySpark" in caplog.text
    repository.asked.clear()
    assert connector_jars("4.3.0") == found
    assert repository.asked == [f"org.apache.spark:{TOKENS}:4.0.0", f"org.apache.spark:{CONNECTOR}:4.2.0"]


def test_what_was_missing_is_asked_for_again_after_a_day(
    use: Callable[[Repository], Repository], tmp_path: Path
) -> None:
    use(Repository(f"{CONNECTOR}-4.2.0", f"{TOKENS}-4.0.0"))
    connector_jars("4.3.0")
    memory = tmp_path / "brokernat" / "connectors.json"
    memory.write_text(json.dumps([[*names, 0] for *names, _ in json.loads(memory.read_text())]))
    use(Repository(f"{CONNECTOR}-4.3.0", f"{TOKENS}-4.3.0"))
    assert connector_jars("4.3.0").combination == Combination("4.3.0", "4.3.0")


def test_nothing_is_remembered_when_nothing_resolves(use: Callable[[Repository], Repository], tmp_path: Path) -> None:
    use(Repository())
    with pytest.raises(MissingToolError, match=r"no Kafka connector for PySpark 4\.3\.0") as caught:
        connector_jars("4.3.0")
    assert caught.value.hint == "offline?"
    assert not (tmp_path / "brokernat" / "connectors.json").exists()


def test_an_override_is_not_replaced(use: Callable[[Repository], Repository]) -> None:
    use(Repository(f"{CONNECTOR}-4.2.0", f"{TOKENS}-4.0.0"))
    with pytest.raises(MissingToolError, match=r"4\.1\.0"):
        connector_jars("4.3.0", connector_version="4.1.0")


def test_a_broken_memory_counts_as_empty(use: Callable[[Repository], Repository], tmp_path: Path) -> None:
    use(Repository(f"{CONNECTOR}-4.2.0", f"{TOKENS}-4.0.0"))
    (tmp_path / "brokernat").mkdir()
    (tmp_path / "brokernat" / "connectors.json").write_text("{")
    assert connector_jars("4.3.0").combination == Combination("4.2.0", "4.0.0")


def test_in_a_closed_network_the_jars_and_the_bundle_are_named_after_one_question(
    use: Callable[[Repository], Repository], tmp_path: Path
) -> None:
    repository = use(Repository())
    repository.reachable = False
    with pytest.raises(MissingToolError) as caught:
        connector_jars("4.3.0")
    assert caught.value.message.splitlines() == [
        "no Kafka connector for PySpark 4.3.0: the repository cannot be reached, and the cache "
        f"{tmp_path / 'brokernat'} lacks",
        "  org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "  org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "  org.apache.kafka:kafka-clients:3.9.2",
        "  org.apache.commons:commons-pool2:2.13.1",
    ]
    assert "brokernat bundle DIR" in (caught.value.hint or "")
    assert len(repository.asked) == 1, "each further question waits for the same network"


def test_a_jar_that_is_not_the_known_one_is_refused_by_name(
    use: Callable[[Repository], Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(Repository(f"{CONNECTOR}-4.3.0", f"{TOKENS}-4.3.0"))
    connector_jars("4.3.0")
    name = f"{TOKENS}-4.3.0.jar"
    monkeypatch.setitem(SHA256, name, "0" * 64)
    with pytest.raises(AlteredFileError, match=rf"{re.escape(name)} differs from the .*expected 000"):
        connector_jars("4.3.0")


def test_a_jar_without_a_known_sum_is_said_and_taken(
    use: Callable[[Repository], Repository], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    use(Repository(f"{CONNECTOR}-4.3.0", f"{TOKENS}-4.3.0"))
    monkeypatch.delitem(SHA256, f"{CONNECTOR}-4.3.0.jar")
    assert len(connector_jars("4.3.0").jars) == 2
    assert f"no SHA-256 is known for {CONNECTOR}-4.3.0.jar: used without a check" in caplog.text
