"""The versions that tests run with, from versions.toml."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

BROKERS: tuple[str, ...] = tuple(_TABLE["brokers"])
KAFKA_CLIENTS: tuple[str, ...] = tuple(_TABLE["kafka-clients"]["versions"])
JAVAS: tuple[int, ...] = tuple(_TABLE["kafka-clients"]["java"])
GATE_CLIENTS = (KAFKA_CLIENTS[0], "3.4.1", KAFKA_CLIENTS[-1])
"""Oldest, middle and newest run in `make test`; all of them in `make soak`."""
PYTHON_CLIENTS: dict[str, list[str]] = _TABLE["python"]


@dataclass(frozen=True)
class SparkRun:
    """One PySpark on one Java, against brokers of one version."""

    pyspark: str
    lock: str
    """The file in requirements/ that has this PySpark."""
    brokers: str
    java: int
    gate: bool = False

    def __str__(self) -> str:
        return f"{self.pyspark}-java{self.java}-brokers{self.brokers}"


def spark_runs() -> Iterator[SparkRun]:
    """All runs of the table."""
    for spark in _TABLE["spark"]:
        for run in spark["runs"]:
            yield SparkRun(spark["pyspark"], spark["lock"], **run)
