"""The copies of a reference: a folder for each version next to the checkpoint, and a file with the current version.

The name of a version is a digest of its rows, so the same rows are the same version and nothing is copied twice. A copy
is written to `staged` and renamed, so a folder with a version's name is complete.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from brokernat.config.record_schema import quoted
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.references.source import SourceVersion

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

_EVENT_SECONDS = 10.0
"""How long Spark's event of a finished write is waited for; it takes milliseconds."""


@dataclass(frozen=True, slots=True)
class ReferenceVersion:
    """The version that a batch used (`Snapshot.id`), and its age.

    `written_at` is when the newest file was written, or when another source was last known to have this version, in
    seconds since 1970. `trouble` is why the source cannot be used now, or empty.
    """

    id: str
    written_at: float
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version. `id` depends only on the content: the same rows have the same id.

    `recipe` is the configuration of the reference: a copy with another recipe is not used. `source` and
    `written_at` are those of the `SourceVersion`.
    """

    id: str
    path: str
    rows: int
    schema: str
    source: str | None
    written_at: float
    loaded_at: float
    recipe: str

    def frame(self, spark: SparkSession) -> DataFrame:
        """One row per key."""
        from pyspark.sql.types import StructType

        # With an explicit schema, Spark opens no file to plan the join.
        return spark.read.schema(StructType.fromJson(json.loads(self.schema))).parquet(self.path)


@dataclass(frozen=True, slots=True)
class Content:
    """The content of rows: `schema` as Spark's JSON, and `identity`, a digest of rows and schema."""

    rows: int
    schema: str
    identity: str

    @classmethod
    def written(cls, rows: DataFrame, folder: str) -> tuple[Content, DataFrame]:
        """Writes rows to a folder as Parquet, replacing what it has. Returns their content, and the rows of the folder.

        Spark computes the digest while it writes, which saves a read of the copy.
        """
        from pyspark.sql import Observation

        observation, sums = Observation(), _sums(rows.columns)
        rows.observe(observation, *sums).write.mode("overwrite").parquet(folder)
        # With an explicit schema, Spark opens no file to plan the read.
        copy = rows.sparkSession.read.schema(rows.schema).parquet(folder)
        found = _observed(observation) or copy.agg(*sums).collect()[0].asDict()
        schema = copy.schema.json()
        text = f"{schema}|{found['rows']}|{found['sum']}|{found['xor']}"
        return cls(found["rows"], schema, hashlib.sha256(text.encode()).hexdigest()[:12]), copy


def _sums(columns: Sequence[str]) -> tuple[Column, ...]:
    """Aggregates that do not depend on the order of rows; readers of files guarantee no order."""
    from pyspark.sql import functions as F  # noqa: N812

    hashed = F.xxhash64(*(quoted(column) for column in columns))
    return (
        F.count(F.lit(1)).alias("rows"),
        F.sum(hashed.cast("decimal(38,0)")).alias("sum"),
        F.bit_xor(hashed).alias("xor"),
    )


def _observed(observation: Observation) -> dict[str, Any] | None:
    """What Spark has observed; None if it does not tell, because its queue of events was full and dropped this one."""
    answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
    Thread(target=lambda: answers.put(observation.get), daemon=True).start()
    try:
        return answers.get(timeout=_EVENT_SECONDS)
    except Empty:
        return None


class Copies:
    """The copies of one reference by one key."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.staged = f"{folder}/staged"
        """The folder of a new version before it has a name."""

    def last(self, files: Files, recipe: str) -> Snapshot | None:
        """The version that the last run used, None if it cannot be used."""
        text = files.read_text(f"{self._folder}/current.json")
        if text is None:
            return None
        try:
            known: dict[str, Any] = json.loads(text)
            snapshot = Snapshot(**known)
        except (ValueError, TypeError):
            # The file was written by another version of brokernat or is incomplete, so the source is read again.
            return None
        return snapshot if snapshot.recipe == recipe and files.exists(snapshot.path) else None

    def keep(
        self, files: Files, content: Content, *, version: SourceVersion, recipe: str, previous: Snapshot | None
    ) -> Snapshot:
        """Make the staged rows the current version.

        Args:
            content: of the staged rows.
            version: the version of the source that they were read from.
            recipe: see `Snapshot`.
            previous: a version to keep for a batch that may still run.
        """
        path = f"{self._folder}/{content.identity}"
        if files.exists(path):
            files.remove(self.staged)
        else:
            files.rename(self.staged, path)
        source = (version.text, version.written_at, time.time())
        snapshot = Snapshot(content.identity, path, content.rows, content.schema, *source, recipe)
        self.note(files, snapshot)
        self._remove_others(files, {snapshot.path, previous.path if previous else ""})
        return snapshot

    def note(self, files: Files, snapshot: Snapshot) -> None:
        """Store the current version for the next start."""
        files.write_text(f"{self._folder}/current.json", json.dumps(asdict(snapshot)))

    def _remove_others(self, files: Files, kept: set[str]) -> None:
        names = {stamp.path.removeprefix("file:").rpartition("/")[0] for stamp in files.stamps(f"{self._folder}/*")}
        for path in names - {path.removeprefix("file:") for path in kept} - {self._folder}:
            files.remove(path)
