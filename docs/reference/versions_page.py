"""The page of versions: what the tests run with (tests/versions.toml) and what belongs to it in the code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from brokernat.clients.spark.releases import KNOWN, LINES, supported_spark

TABLE = Path(__file__).parents[2] / "tests" / "versions.toml"
README = Path(__file__).parents[2] / "README.md"


def page() -> str:
    """The page as Markdown."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    javas = _list(table["kafka-clients"]["java"])
    rows = [
        ("brokers", _list(table["brokers"]), "real ones: the first with ZooKeeper, the others with KRaft"),
        ("kafka-clients", _list(table["kafka-clients"]["versions"]), f"each in every role, on Java {javas}"),
        *((name, _list(versions), _PYTHON[name]) for name, versions in table["python"].items()),
        ("PySpark", supported_spark(), "the runs below; `configure` refuses others"),
        ("Python for brokernat", "3.11 or newer", "3.11"),
        ("Java for the agent", "11 or newer", f"Java {javas}"),
    ]
    return _TEXT.format(
        versions=_rows(rows),
        lines=_rows((name, line.scala, line.javas.removeprefix("Java ")) for name, line in LINES.items()),
        spark=_spark(table["spark"]),
    )


_PYTHON = {
    "confluent-kafka": "oldest and newest, with the librdkafka of the same version",
    "kafka-python": "one of each major version",
    "aiokafka": "each minor version before `pip` may install it",
}
_TEXT = """# Versions

The versions that the tests run with. A version between two of them is expected to work as they do; a PySpark or a Java
outside of its range is refused with the range.

| | versions | how it is tested |
|---|---|---|
{versions}
## Spark by release

`configure` looks at the Spark that runs (`SPARK_HOME`, else the installed PySpark), takes the connector for its Scala,
and a Java that it runs on: JAVA_HOME, the PATH or the `java` extra, in this order.

| PySpark | Scala | Java |
|---|---|---|
{lines}
Spark 3.5 runs on Java 8 as well; the agent does not. `mode: realtime` of a pipeline needs PySpark 4.1 or newer.

## Spark as tested

Each cell is one run of `tests/integration/spark/test_versions.py` through the map: proof, batch read and write,
streaming read and write with the agent by the reporter, and an unchanged job by `brokernat exec`. The run in bold is
part of `make test`, the others of `make soak`.

{spark}
The SHA-256 of the connector's jars are in `src/brokernat/clients/spark/connector-jars.sha256`. A jar of a name that
stands there and with another content is refused, after a download and from the cache. A jar of another name is taken,
with a warning.
"""


def _rows(rows: Iterable[Iterable[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _list(versions: list[Any]) -> str:
    return ", ".join(map(str, versions))


def _spark(sparks: list[dict[str, Any]]) -> str:
    brokers = sorted({run["brokers"] for spark in sparks for run in spark["runs"]})
    facts = ("PySpark", "Scala", "connector", "token provider", "kafka-clients")
    rows = [(*facts, *(f"brokers {version}" for version in brokers)), ["---"] * (len(facts) + len(brokers))]
    for spark in sparks:
        version, cells = spark["pyspark"], {run["brokers"]: _cell(run) for run in spark["runs"]}
        known = KNOWN[version]
        pair = (known.combination.connector, known.combination.token_provider)
        of_brokers = [cells.get(one, "") for one in brokers]
        rows.append((version, known.combination.scala, *pair, known.kafka_clients, *of_brokers))
    return _rows(rows)


def _cell(run: dict[str, Any]) -> str:
    text = f"read, write, proof, exec on Java {run['java']}"
    return f"**{text}**" if run.get("gate") else text


def readme_row() -> str:
    """The line of the README that names the ranges."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    sparks = ", ".join(spark["pyspark"] for spark in table["spark"])
    clients, brokers = table["kafka-clients"]["versions"], table["brokers"]
    scalas = sorted({line.scala for line in LINES.values()})
    python = "; ".join(f"{name} {' and '.join(versions)}" for name, versions in table["python"].items())
    return (
        f"Tested with brokers {brokers[0]} to {brokers[-1]}; kafka-clients {clients[0]} to {clients[-1]} on Java "
        f"{_list(table['kafka-clients']['java'])}; PySpark {sparks} (Scala {' and '.join(scalas)}); {python} "
        "([all versions](docs/reference/versions.md))."
    )
