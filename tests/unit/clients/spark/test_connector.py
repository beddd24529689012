"""Which combination is tried, in which order, and what is remembered; resolving itself is stubbed."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.clients.spark import connector
from brokernat.clients.spark.connector import Combination, candidates, connector_jars, kafka_clients_version
from brokernat.errors import MissingToolError


@pytest.mark.parametrize(
    ("pyspark", "override", "expected"),
    [
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
    assert [(one.connector, one.token_provider) for one in candidates(pyspark, override)] == expected


class Repository:
    """Holds some versions; counts what it is asked for."""

    def __init__(self, *present: str) -> None:
        self.present = present
        self.asked: list[str] = []

    def resolve(self, coordinates: list[str], **_: object) -> tuple[Path, ...]:
        (coordinate,) = coordinates
        self.asked.append(coordinate)
        artifact, version = coordinate.split(":")[1:]
        if f"{artifact}-{version}" not in self.present:
            raise MissingToolError(f"cannot resolve {coordinate}", hint="offline?")
        return (Path(f"/cache/{artifact}-{version}.jar"),)


CONNECTOR = "spark-sql-kafka-0-10_2.13"
TOKENS = "spark-token-provider-kafka-0-10_2.13"


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Repository], Repository]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def use(repository: Repository) -> Repository:
        monkeypatch.setattr(connector, "resolve", repository.resolve)
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
    assert "taking connector 4.2.0 with token provider 4.0.0, seen to work with this PySpark" in caplog.text
    repository.asked.clear()
    assert connector_jars("4.3.0") == found
    assert repository.asked == [f"org.apache.spark:{TOKENS}:4.0.0", f"org.apache.spark:{CONNECTOR}:4.2.0"]


def test_what_was_missing_is_asked_for_again_after_a_day(
    use: Callable[[Repository], Repository], tmp_path: Path
) -> None:
    use(Repository(f"{CONNECTOR}-4.2.0", f"{TOKENS}-4.0.0"))
    connector_jars("4.3.0")
    memory = tmp_path / "brokernat" / "connectors.json"
    memory.write_text(json.dumps([[one, two, 0] for one, two, _ in json.loads(memory.read_text())]))
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


def test_the_kafka_clients_version_is_read_from_the_jar() -> None:
    assert kafka_clients_version((Path("a/commons-pool2-2.13.1.jar"), Path("b/kafka-clients-3.9.2.jar"))) == "3.9.2"
    assert kafka_clients_version((Path("a.jar"),)) is None
