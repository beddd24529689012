"""Compatible versions of PySpark, Scala, Java and Spark's Kafka connector, with the SHA-256 of the jars.

| table | key | value |
|---|---|---|
| `LINES` | Spark's major.minor | Scala of its build on PyPI, supported Java versions (Spark's documentation) |
| `KNOWN` | PySpark version | the connector that was tested to read, join and write with real brokers |
| `SHA256` | file name | the sum of each such jar, and of JDBC drivers, as Maven Central has it (`sha256sum --check`) |

The Scala version is part of the connector's artifact name: a jar for another Scala ends the job with
`NoClassDefFoundError`. Spark's version is taken from the name of its jar, because `SPARK_HOME` may be another Spark
than the installed PySpark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import ConfigError, Finding

_CORE = re.compile(r"spark-core_(\d+\.\d+)-(\d+\.\d+\.\d+).*\.jar")


@dataclass(frozen=True)
class Line:
    """The releases of one major.minor."""

    scala: str
    oldest_java: int
    newest_java: int | None
    """The newest supported Java; None without a known limit."""

    @property
    def javas(self) -> str:
        """The supported Java versions as text, such as `Java 17 to 21`."""
        return f"Java {self.oldest_java} " + (f"to {self.newest_java}" if self.newest_java else "or newer")


# Spark 3.5 also supports Java 8, but the agent does not.
LINES: dict[str, Line] = {
    "3.5": Line("2.12", 11, 17),
    "4.0": Line("2.13", 17, 21),
    "4.1": Line("2.13", 17, 21),
    "4.2": Line("2.13", 17, 25),
    "4.3": Line("2.13", 17, None),
}
_FIRST_UNSUPPORTED = (5,)


@dataclass(frozen=True)
class SparkRelease:
    """An installed Spark release."""

    version: str
    scala: str

    @property
    def line(self) -> Line:
        """Its row of `LINES`; a release newer than the table counts as the newest line.

        Raises:
            ConfigError: the release is not supported; names the supported ones.
        """
        if not numbers(min(LINES, key=numbers)) <= numbers(self.version) < _FIRST_UNSUPPORTED:
            message = f"PySpark {self.version} is not supported: brokernat works with PySpark {supported_spark()}"
            hint = "pip install 'brokernat[spark]'; the table of versions is docs/reference/versions.md"
            raise ConfigError(Finding("pyspark-unsupported", message, hint))
        return LINES[_line_at_or_below(self.version)]


def supported_spark() -> str:
    """The supported Spark versions for messages, such as `3.5 to 4.x`."""
    return f"{min(LINES, key=numbers)} to {_FIRST_UNSUPPORTED[0] - 1}.x"


def release_of(version: str) -> SparkRelease:
    """The release of PySpark's package on PyPI.

    Raises:
        ConfigError: the release is not supported.
    """
    return SparkRelease(version, SparkRelease(version, "").line.scala)


def spark_at(home: Path, pyspark_version: str) -> SparkRelease:
    """The Spark whose jars are in `home`; PySpark's release if no jar has a version in its name.

    Raises:
        ConfigError: the release is not supported.
    """
    for jar in (home / "jars").glob("spark-core_*.jar"):
        if match := _CORE.fullmatch(jar.name):
            release = SparkRelease(match[2], match[1])
            _ = release.line
            return release
    return release_of(pyspark_version)


@dataclass(frozen=True, order=True)
class Combination:
    """A combination of a connector and a token provider."""

    connector: str
    token_provider: str
    scala: str = "2.13"

    @property
    def coordinates(self) -> tuple[str, str]:
        """Maven's coordinates of both."""
        return (
            f"org.apache.spark:spark-sql-kafka-0-10_{self.scala}:{self.connector}",
            f"org.apache.spark:spark-token-provider-kafka-0-10_{self.scala}:{self.token_provider}",
        )

    def __str__(self) -> str:
        return f"connector {self.connector} with token provider {self.token_provider}"


@dataclass(frozen=True)
class KnownConnector:
    """A tested combination, and the dependencies in its pom."""

    combination: Combination
    kafka_clients: str
    commons_pool2: str

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Maven's coordinates of all four jars."""
        return (
            *self.combination.coordinates,
            f"org.apache.kafka:kafka-clients:{self.kafka_clients}",
            f"org.apache.commons:commons-pool2:{self.commons_pool2}",
        )


KNOWN: dict[str, KnownConnector] = {
    "3.5.7": KnownConnector(Combination("3.5.7", "3.5.7", "2.12"), "3.4.1", "2.11.1"),
    "4.0.0": KnownConnector(Combination("4.0.0", "4.0.0"), "3.9.0", "2.12.0"),
    "4.2.0": KnownConnector(Combination("4.2.0", "4.0.0"), "3.9.2", "2.13.1"),
    "4.3.0": KnownConnector(Combination("4.2.0", "4.0.0"), "3.9.2", "2.13.1"),
}


def nearest_known(release: SparkRelease) -> KnownConnector:
    """The nearest row of `KNOWN` for a release: preferably of its line, and there the newest that is not above it."""
    of_line = [version for version in KNOWN if numbers(version)[:2] == numbers(release.version)[:2]]
    rows = of_line or [version for version in KNOWN if numbers(version) <= numbers(release.version)]
    at_or_below = [version for version in rows if numbers(version) <= numbers(release.version)]
    return KNOWN[max(at_or_below, key=numbers) if at_or_below else min(rows, key=numbers)]


def numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version: (4, 9, 0) for `4.9.0.dev1`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _line_at_or_below(version: str) -> str:
    return max((line for line in LINES if numbers(line) <= numbers(version)), key=numbers)


def _sums() -> dict[str, str]:
    lines = (Path(__file__).parent / "connector-jars.sha256").read_text("ascii").splitlines()
    return {name: digest for digest, name in map(str.split, lines)}


SHA256: dict[str, str] = _sums()
