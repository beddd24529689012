"""Which jars make Spark's Kafka source and sink work with the PySpark that runs here.

The connector's version is PySpark's own; both call each other's internals, so another pair may fail in the middle of
a query (connector 4.0.0 on PySpark 4.2.0: `NoSuchMethodError SerializedOffset.<init>`). Where a repository lacks the
matching connector or its token provider (they are published one by one, mirrors lag), the nearest combination that
was seen to work with real brokers is taken instead, and said. Which Kafka client comes along is the connector's own
decision, read from its pom.

The jars are named one by one in `spark.jars` and not as `spark.jars.packages`: Spark's own resolver knows no
fallback and ends the JVM when one package is missing. That a version is not to be had is remembered for a day, so
that only the first start pays.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import MissingToolError
from brokernat.jvm import resolve
from brokernat.paths import cache_dir

log = logging.getLogger(__name__)

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
TOKEN_PROVIDER = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"  # noqa: S105 - an artifact
_REMEMBER_SECONDS = 24 * 3600

# What the connector needs and Spark has; the token provider is resolved beside it because its version may differ.
_IN_SPARK = (
    TOKEN_PROVIDER, "org.apache.spark:spark-sql_2.13", "org.apache.spark:spark-tags_2.13",
    "org.scala-lang:*", "org.scala-lang.modules:*", "org.slf4j:*", "com.google.code.findbugs:jsr305",
    "org.lz4:*", "at.yawk.lz4:*", "org.xerial.snappy:*", "com.github.luben:*",
)  # fmt: skip


@dataclass(frozen=True, order=True)
class Combination:
    """A connector and a token provider that are used together."""

    connector: str
    token_provider: str

    def __str__(self) -> str:
        return f"connector {self.connector} with token provider {self.token_provider}"


KNOWN_TO_WORK: dict[str, Combination] = {
    "4.0.0": Combination("4.0.0", "4.0.0"),
    "4.2.0": Combination("4.2.0", "4.0.0"),
    "4.3.0": Combination("4.2.0", "4.0.0"),
}
"""By PySpark version: read, joined and written with real brokers."""


@dataclass(frozen=True)
class ConnectorJars:
    """The jars for `spark.jars`."""

    combination: Combination
    jars: tuple[Path, ...]
    fallback: bool
    """Whether this is not the combination that belongs to the PySpark (or to the override)."""


def connector_jars(pyspark_version: str, connector_version: str | None = None) -> ConnectorJars:
    """The connector, its token provider, the Kafka client and commons-pool2.

    Args:
        pyspark_version: the PySpark that runs, `4.3.0`.
        connector_version: use this connector and no other; the token provider may still be the nearest one.

    Raises:
        MissingToolError: no combination can be resolved; says which were tried.
    """
    memory = _Memory(cache_dir() / "connectors.json")
    wanted, *others = candidates(pyspark_version, connector_version)
    untried = [one for one in (wanted, *others) if one not in memory.missing] or [wanted, *others]
    failures: dict[Combination, MissingToolError] = {}
    for combination in untried:
        try:
            jars = _resolve(combination)
        except MissingToolError as missing:
            failures[combination] = missing
            continue
        if combination != wanted:
            # Only now: when nothing resolves, the network is the likelier cause than the repository.
            memory.add(failures)
            seen = ", seen to work with this PySpark" if combination == KNOWN_TO_WORK.get(pyspark_version) else ""
            log.warning("PySpark %s: the %s is not to be had; taking %s%s", pyspark_version, wanted, combination, seen)
        return ConnectorJars(combination, jars, fallback=combination != wanted)
    tried = "\n".join(f"{combination}: {missing}" for combination, missing in failures.items())
    raise MissingToolError(f"no Kafka connector for PySpark {pyspark_version}\n{tried}", hint=failures[untried[0]].hint)


def candidates(pyspark_version: str, connector_version: str | None = None) -> tuple[Combination, ...]:
    """What to try, the best first; pure."""
    known = KNOWN_TO_WORK[_nearest(pyspark_version)]
    version = connector_version or pyspark_version
    found = [Combination(version, version), Combination(version, known.token_provider)]
    if connector_version is None:
        found.append(known)
    return tuple(dict.fromkeys(found))


def never_ask_for(combinations: Iterable[Combination]) -> None:
    """Take these for missing from now on, on a machine that has no repository to ask."""
    _Memory(cache_dir() / "connectors.json").add(combinations, math.inf)


def kafka_clients_version(jars: tuple[Path, ...]) -> str | None:
    """`3.9.2` from the name of the client's jar."""
    names = (re.fullmatch(r"kafka-clients-(.+)\.jar", jar.name) for jar in jars)
    return next((name[1] for name in names if name), None)


def _nearest(pyspark_version: str) -> str:
    """The newest known version that is not above, else the oldest."""
    at_or_below = [known for known in KNOWN_TO_WORK if _numbers(known) <= _numbers(pyspark_version)]
    return max(at_or_below, key=_numbers) if at_or_below else min(KNOWN_TO_WORK, key=_numbers)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _resolve(combination: Combination) -> tuple[Path, ...]:
    # The token provider first: it is small, and the one that is missing more often.
    token_provider = resolve([f"{TOKEN_PROVIDER}:{combination.token_provider}"], transitive=False)
    return (*resolve([f"{CONNECTOR}:{combination.connector}"], exclude=_IN_SPARK), *token_provider)


class _Memory:
    """The combinations that a repository did not have, for a day; a file that cannot be read counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            seen = json.loads(file.read_text())
            self._until = {Combination(*pair): float(until) for *pair, until in seen}
        except (OSError, ValueError, TypeError):
            self._until = {}

    @property
    def missing(self) -> frozenset[Combination]:
        now = time.time()
        return frozenset(combination for combination, until in self._until.items() if until > now)

    def add(self, combinations: Iterable[Combination], seconds: float = _REMEMBER_SECONDS) -> None:
        until = time.time() + seconds
        self._until |= dict.fromkeys(combinations, until)
        rows = [[one.connector, one.token_provider, until] for one, until in sorted(self._until.items())]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        work = self._file.with_suffix(f".{os.getpid()}")
        work.write_text(json.dumps(rows))
        work.replace(self._file)
