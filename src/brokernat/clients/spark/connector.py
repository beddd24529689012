"""Chooses and resolves the jars of Spark's Kafka source and sink for the installed Spark.

The connector has Spark's version; both call each other's internals, so another combination may fail during a query
(connector 4.0.0 on PySpark 4.2.0: `NoSuchMethodError SerializedOffset.<init>`). If a repository lacks the matching
connector or its token provider (they are published separately, mirrors lag), the nearest combination that was tested
with real brokers is used and reported. The connector's pom determines the Kafka client.

Each jar is compared with its SHA-256 in `releases.py`, after the download and at every later start, because a
repository, a mirror or the cache may have another file.

The jars are listed in `spark.jars`, not in `spark.jars.packages`, because Spark's resolver has no fallback and ends the
JVM if a package is missing. An unavailable version is remembered for a day, so that only the first start is slow.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from brokernat.clients.spark.releases import SHA256, Combination, SparkRelease, nearest_known, release_of
from brokernat.errors import AlteredFileError, MissingToolError
from brokernat.jvm import resolve
from brokernat.jvm.artifacts import SETTINGS_VARIABLE, UnreachableRepositoryError
from brokernat.paths import cache_dir, replacing

log = logging.getLogger(__name__)

_REMEMBER_SECONDS = 24 * 3600

# Dependencies that Spark has; the token provider is resolved separately because its version may differ.
_IN_SPARK = (
    "org.apache.spark:spark-token-provider-kafka-0-10_{scala}", "org.apache.spark:spark-sql_{scala}",
    "org.apache.spark:spark-tags_{scala}", "org.scala-lang:*", "org.scala-lang.modules:*", "org.slf4j:*",
    "com.google.code.findbugs:jsr305", "org.lz4:*", "at.yawk.lz4:*", "org.xerial.snappy:*", "com.github.luben:*",
)  # fmt: skip
_CLOSED_NETWORK = (
    "in a closed network: run `brokernat bundle DIR` where there is a repository, bring DIR here and run `brokernat "
    f"bundle --install DIR`; behind a mirror, set {SETTINGS_VARIABLE} to an Ivy settings file"
)


@dataclass(frozen=True)
class ConnectorJars:
    """The jars for `spark.jars`."""

    combination: Combination
    jars: tuple[Path, ...]
    fallback: bool
    """Whether this is another combination than the matching one for Spark (or for the override)."""


def connector_jars(spark: SparkRelease | str, connector_version: str | None = None) -> ConnectorJars:
    """The connector, its token provider, the Kafka client and commons-pool2.

    Args:
        spark: the installed Spark; a version such as `4.3.0` means the package of PySpark.
        connector_version: use only this connector; the token provider may still be the nearest one.

    Raises:
        ConfigError: the Spark is not supported.
        MissingToolError: no combination can be resolved; lists the attempts.
        AlteredFileError: the SHA-256 of a jar is not the expected one.
    """
    release = release_of(spark) if isinstance(spark, str) else spark
    memory = _MissingCombinations(cache_dir() / "connectors.json")
    wanted, *others = candidates(release, connector_version)
    all_candidates = (wanted, *others)
    attempts = [candidate for candidate in all_candidates if candidate not in memory.missing] or all_candidates
    failures: dict[Combination, MissingToolError] = {}
    unreachable = False
    for combination in attempts:
        try:
            jars = _resolve(combination, only_cached=unreachable)
        except MissingToolError as missing:
            failures[combination] = missing
            unreachable = unreachable or isinstance(missing, UnreachableRepositoryError)
            continue
        verify(jars)
        if combination != wanted:
            # Stored only after a success: if nothing resolves, the network is a more likely cause than the repository.
            memory.add(failures)
            tested = ", tested with this PySpark" if combination == nearest_known(release).combination else ""
            log.warning("PySpark %s: the %s is not available; using %s%s", release.version, wanted, combination, tested)
        return ConnectorJars(combination, jars, fallback=combination != wanted)
    if unreachable:
        known = nearest_known(release)
        wanted_jars = known.coordinates if known.combination in attempts else wanted.coordinates
        raise MissingToolError(
            f"no Kafka connector for PySpark {release.version}: the repository cannot be reached, and "
            f"the cache {cache_dir()} lacks\n" + "\n".join(f"  {coordinate}" for coordinate in wanted_jars),
            hint=_CLOSED_NETWORK,
        )
    tried = "\n".join(f"{combination}: {missing.message}" for combination, missing in failures.items())
    raise MissingToolError(
        f"no Kafka connector for PySpark {release.version}\n{tried}", hint=failures[attempts[0]].hint
    )


def candidates(release: SparkRelease, connector_version: str | None = None) -> tuple[Combination, ...]:
    """The combinations to try, the best first; pure."""
    known = replace(nearest_known(release).combination, scala=release.scala)
    version = connector_version or release.version
    found = [
        Combination(version, version, release.scala),
        Combination(version, known.token_provider, release.scala),
    ]
    if connector_version is None:
        found.append(known)
    return tuple(dict.fromkeys(found))


def verify(jars: Iterable[Path]) -> None:
    """Compare each jar with the known SHA-256 for its name; logs the names without one.

    Raises:
        AlteredFileError: a jar has another content; names the jar, its SHA-256 and the expected one.
    """
    unknown: list[str] = []
    for jar in jars:
        known = SHA256.get(jar.name)
        if known is None:
            unknown.append(jar.name)
            continue
        found = hashlib.sha256(jar.read_bytes()).hexdigest()
        if found != known:
            raise AlteredFileError(
                f"{jar} differs from the {jar.name} of Maven Central: its SHA-256 is {found}, expected {known}",
                hint=f"find out who changed it (the cache, a mirror in {SETTINGS_VARIABLE}); remove {jar.parent} and "
                f"{cache_dir() / 'ivy'} to download it again",
            )
    if unknown:
        log.warning("no SHA-256 is known for %s: used without a check", ", ".join(unknown))


def never_ask_for(combinations: Iterable[Combination]) -> None:
    """Stores the combinations as missing for ever, for a machine without a repository."""
    _MissingCombinations(cache_dir() / "connectors.json").add(combinations, math.inf)


def _resolve(combination: Combination, *, only_cached: bool) -> tuple[Path, ...]:
    connector, token_provider = combination.coordinates
    exclude = [pattern.format(scala=combination.scala) for pattern in _IN_SPARK]
    # The token provider first, because it is small and missing more often.
    tokens = resolve([token_provider], transitive=False, only_cached=only_cached)
    return (*resolve([connector], exclude=exclude, only_cached=only_cached), *tokens)


class _MissingCombinations:
    """The combinations that a repository did not have, stored for a day; an unreadable file counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            rows = json.loads(file.read_text())
            self._until = {Combination(*names): float(until) for *names, until in rows}
        except (OSError, ValueError, TypeError):
            self._until = {}

    @property
    def missing(self) -> frozenset[Combination]:
        now = time.time()
        return frozenset(combination for combination, until in self._until.items() if until > now)

    def add(self, combinations: Iterable[Combination], seconds: float = _REMEMBER_SECONDS) -> None:
        until = time.time() + seconds
        self._until |= dict.fromkeys(combinations, until)
        rows = [[*astuple(combination), until] for combination, until in sorted(self._until.items())]
        # With a read-only cache nothing is stored, and the next start queries the repository again.
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._file) as new:
                new.write_text(json.dumps(rows))
