"""Processes dead letters with the steps of their pipeline again, after the cause is fixed.

A dead letter has the key and the value of its record byte for byte, and the record's coordinates and timestamp in
headers. It is converted to a source record and processed by the same steps. A valid record becomes a tag with the
coordinates of the record and the header `brokernat-src-replayed`, and is entered into the ledger. A record that still
fails stays a dead letter: nothing is written for it, and the next replay may select it again.

The topic is read in chunks, and the ledger is a file for each chunk beside the checkpoint. `begun.json` is written
before the chunk, with its coordinates and the end offsets of the tags' topic; the chunk is entered into the ledger when
all its records are acknowledged. If the process is killed in between, the next replay reads the sink from those end
offsets: records that are there were written, the rest of the chunk was not. So the ledger never has a record that was
not written, and every written record is found, entered or not. Two copies of a record are possible if Spark retries a
task; they have the same `brokernat-src`.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from brokernat.clients.spark import Role, client_properties, kafka_options
from brokernat.errors import IncompleteError
from brokernat.pipelines.batch import current_joins
from brokernat.pipelines.checkpoint.committed import Range
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.checkpoint.state import State
from brokernat.pipelines.kafka.admin import KafkaAdmin, open_admin
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.reading_back.shipped import as_number, last_header
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.counting import count_faults, count_transformed
from brokernat.pipelines.steps.envelope import (
    CONNECT_PREFIX,
    REPLAY_HEADER,
    SOURCE_HEADER,
    TIMESTAMP_HEADER,
    FaultKind,
    coordinates_text,
    envelop,
    header,
)
from brokernat.pipelines.steps.plan import without_fault
from brokernat.pipelines.steps.sink import write
from brokernat.pipelines.steps.source import read_between

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

log = logging.getLogger(__name__)
CHUNK = 50_000
"""The number of offsets of the dead-letter topic that are read at once; their coordinates are held in memory."""


@dataclass(frozen=True, slots=True)
class BegunChunk:
    """A chunk that may be partly written.

    The records' coordinates, and the end offsets of the tags' topic before it.
    """

    coordinates: tuple[str, ...]
    ends: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The files of one pipeline in `folder`."""

    files: Files
    folder: str

    def replayed(self, spark: SparkSession) -> DataFrame:
        """`coordinates` of the records that were replayed."""
        schema = "coordinates string"
        if not self._entered():
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).json(f"{self.folder}/*.replayed")

    def begun(self) -> BegunChunk | None:
        """The unfinished chunk of a killed process, or None."""
        text = self.files.read_text(self._begun_file)
        if text is None:
            return None
        found = json.loads(text)
        return BegunChunk(tuple(found["coordinates"]), {int(n): end for n, end in found["ends"].items()})

    def begin(self, chunk: BegunChunk) -> None:
        """Stores a chunk before it is written."""
        self.files.write_text(
            self._begun_file, json.dumps({"coordinates": chunk.coordinates, "ends": dict(chunk.ends)})
        )

    def enter(self, coordinates: Iterable[str]) -> None:
        """Enters written records and ends the chunk; after a kill in between, the same records are entered again."""
        lines = [json.dumps({"coordinates": record}) for record in coordinates]
        if lines:
            self.files.write_text(f"{self.folder}/{self._entered()}.replayed", "\n".join(lines))
        self.files.remove(self._begun_file)

    @property
    def _begun_file(self) -> str:
        return f"{self.folder}/begun.json"

    def _entered(self) -> int:
        return len(self.files.stamps(f"{self.folder}/*.replayed"))


@dataclass(frozen=True, slots=True)
class SourceRange:
    """Records of one partition of the source, `first` and `last` included."""

    topic: str
    partition: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which dead letters to replay; a default selects all. Times are those of the dead letters."""

    causes: Sequence[FaultKind] = ()
    since: datetime | None = None
    until: datetime | None = None
    ranges: Sequence[SourceRange] = ()


@dataclass(frozen=True, slots=True)
class Replayed:
    """The results of the selected records; each counts once, even with several dead letters."""

    selected: int = 0
    before: int = 0
    """Replayed by an earlier call."""
    tags: int = 0
    filtered: int = 0
    still: Mapping[str, int] = field(default_factory=dict)
    """Records that still have a fault, by `FaultKind`; they stay dead letters."""

    def __add__(self, other: Replayed) -> Replayed:
        return Replayed(
            self.selected + other.selected,
            self.before + other.before,
            self.tags + other.tags,
            self.filtered + other.filtered,
            dict(Counter(self.still) + Counter(other.still)),
        )


def replay_pipeline(
    spark: SparkSession,
    prepared: Prepared,
    selection: Selection,
    on_chunk: Callable[[Replayed], None] = lambda _: None,
    *,
    dry_run: bool = False,
) -> Replayed:
    """Replays dead letters; the pipeline may run at the same time, a second replay may not.

    Args:
        on_chunk: is called with the totals after each chunk.
        dry_run: write nothing; the counts are those that a replay would have.

    Raises:
        IncompleteError: the topics could not be read or written to the end. The ledger has the written records.
        ConfigError, TransformError: see `Plan`.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        with ExitStack() as stack:
            source, sink = (
                stack.enter_context(open_admin(spark, client_properties(cluster), cluster.name))
                for cluster in (prepared.source, prepared.sink)
            )
            replay = _Replay(spark, prepared, selection, source.cluster_id(), sink, dry_run=dry_run)
            return replay.run(on_chunk)
    except (PySparkException, Py4JJavaError) as error:
        hint = "written records are in the ledger: the same command continues with the rest"
        raise IncompleteError(f"the replay has stopped early: {root_cause(error)}", hint=hint) from None


class _Replay:
    def __init__(
        self,
        spark: SparkSession,
        prepared: Prepared,
        selection: Selection,
        cluster_id: str,
        sink: KafkaAdmin,
        *,
        dry_run: bool,
    ) -> None:
        # Not the pipeline's own copies of the references, because a running pipeline may change them.
        state = State(prepared.state.replay_folder)
        self._spark = spark
        self._prepared = replace(prepared, state=state)
        self._selection = selection
        self._cluster_id = cluster_id
        self._sink = sink
        self._dry_run = dry_run
        self._began = datetime.now(UTC).isoformat(timespec="seconds")
        self._plan = prepared.plan(registers=True)
        self._references = self._prepared.references()
        self._ledger = Ledger(Files(spark), prepared.state.replay_folder)
        self._options = kafka_options(prepared.sink, role=Role.SINK)

    def run(self, on_chunk: Callable[[Replayed], None]) -> Replayed:
        if not self._dry_run:
            self._enter_interrupted_chunk()
        topic, total = self._prepared.pipeline.sink.dead_letters, Replayed()
        for begin, end in chunks(self._sink.first_offsets(topic), self._sink.end_offsets(topic), CHUNK):
            total += self._replay(self._read(topic, begin, end))
            on_chunk(total)
        return total

    def _enter_interrupted_chunk(self) -> None:
        chunk = self._ledger.begun()
        if chunk is None:
            return
        topic = self._prepared.pipeline.sink.topic
        tags = self._read(topic, chunk.ends, self._sink.end_offsets(topic))
        replayed = tags.where(last_header(REPLAY_HEADER).isNotNull()).select(last_header(SOURCE_HEADER).alias("src"))
        wanted = set(chunk.coordinates)
        written = sorted({row["src"] for row in replayed.toLocalIterator() if row["src"] in wanted})
        log.info("a replay was interrupted: %d of its last %d records were written", len(written), len(wanted))
        self._ledger.enter(written)

    def _replay(self, letters: DataFrame) -> Replayed:
        from pyspark.storagelevel import StorageLevel

        chosen = selected(letters, self._prepared.pipeline.name, self._cluster_id, self._selection)
        known = self._ledger.replayed(self._spark).distinct()
        not_replayed = chosen.join(known, "coordinates", "left_anti")
        joins, _ = current_joins(self._plan, self._references, self._spark, hold=True)
        with ExitStack() as cached:
            decoded = self._plan.decode_and_enrich(envelop(as_source_records(not_replayed), self._cluster_id), joins)
            decoded.persist(StorageLevel.MEMORY_AND_DISK)
            cached.callback(decoded.unpersist)
            rows, still = count_faults(decoded)
            before, good = chosen.count() - rows, rows - sum(still.values())
            transformed = self._plan.transformed(decoded)
            tags = good
            if self._plan.transform and good:
                transformed.persist(StorageLevel.MEMORY_AND_DISK)
                cached.callback(transformed.unpersist)
                tags = count_transformed(transformed, good, transform=self._plan.transform.name)
            if good and not self._dry_run:
                self._write(decoded, transformed)
        return Replayed(before + rows, before, tags, good - tags, still)

    def _write(self, decoded: DataFrame, transformed: DataFrame) -> None:
        from pyspark.sql import functions as F  # noqa: N812

        found = without_fault(decoded).select(coordinates_text().alias("src")).toLocalIterator()
        replayed = tuple(sorted(row["src"] for row in found))
        ends = self._sink.end_offsets(self._prepared.pipeline.sink.topic)
        self._ledger.begin(BegunChunk(replayed, ends))
        tags = self._plan.tags(transformed)
        replay_header = header(REPLAY_HEADER, F.lit(self._began))
        write(tags.withColumn("headers", F.concat("headers", F.array(replay_header))), self._options)
        self._ledger.enter(replayed)

    def _read(self, topic: str, begin: Mapping[int, int], end: Mapping[int, int]) -> DataFrame:
        # A partition that was added after `begin` was read starts at its first offset.
        offsets = Range({topic: {number: begin.get(number, 0) for number in end}}, {topic: end})
        options = kafka_options(self._prepared.sink, role=Role.SOURCE)
        # Retention may remove dead letters while they are read; then they cannot be replayed.
        return read_between(self._spark, options, offsets, fail_on_loss=False)


def chunks(
    first: Mapping[int, int], end: Mapping[int, int], size: int
) -> Iterator[tuple[dict[int, int], dict[int, int]]]:
    """The offsets of a topic in chunks of about `size`, each as begin and end by partition; empty chunks are left out.

    >>> list(chunks({0: 5, 1: 0}, {0: 9, 1: 1}, 4))
    [({0: 5, 1: 0}, {0: 7, 1: 1}), ({0: 7, 1: 1}, {0: 9, 1: 1})]
    """
    begin, step = dict(first), max(1, size // max(1, len(first)))
    while any(begin[number] < end[number] for number in begin):
        until = {number: min(end[number], at + step) for number, at in begin.items()}
        yield begin, until
        begin = until


def selected(letters: DataFrame, pipeline: str, cluster_id: str, selection: Selection) -> DataFrame:
    """The selected dead letters of a pipeline's source, one for each record.

    Args:
        letters: dead letters as Spark's Kafka source returns them.

    Returns:
        Their columns, with `coordinates` and their parts `src_topic`, `src_partition`, `src_offset`.
    """
    from pyspark.sql import functions as F  # noqa: N812

    parts = F.split("coordinates", "/")
    found = letters.withColumn("coordinates", last_header(SOURCE_HEADER)).select(
        *letters.columns,
        "coordinates",
        F.get(parts, 1).alias("src_topic"),
        as_number(F.get(parts, 2), 9).cast("int").alias("src_partition"),
        as_number(F.get(parts, 3)).alias("src_offset"),
        F.get(parts, 0).alias("src_cluster"),
    )
    ours = (last_header(f"{CONNECT_PREFIX}connector.name") == pipeline) & (F.col("src_cluster") == cluster_id)
    chosen = found.where(ours & F.col("src_offset").isNotNull()).where(_condition(selection)).drop("src_cluster")
    # A batch that was run again has left two dead letters of a record.
    return chosen.dropDuplicates(["coordinates"])


def _condition(selection: Selection) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    condition = F.lit(True)
    if selection.causes:
        kinds = [f"brokernat.{kind}" for kind in selection.causes]
        condition &= last_header(f"{CONNECT_PREFIX}exception.class.name").isin(kinds)
    if selection.since:
        condition &= F.col("timestamp") >= F.lit(selection.since)
    if selection.until:
        condition &= F.col("timestamp") < F.lit(selection.until)
    if selection.ranges:
        within = F.lit(False)
        for span in selection.ranges:
            partition = (F.col("src_topic") == span.topic) & (F.col("src_partition") == span.partition)
            within |= partition & F.col("src_offset").between(span.first, span.last)
        condition &= within
    return condition


def as_source_records(letters: DataFrame) -> DataFrame:
    """Dead letters as their source records, as Spark's Kafka source returns them.

    Headers and timestamp are the record's own.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def is_own(header: Column) -> Column:
        return ~(header["key"].startswith(SOURCE_HEADER) | header["key"].startswith(CONNECT_PREFIX))

    return letters.select(
        "key",
        "value",
        F.col("src_topic").alias("topic"),
        F.col("src_partition").alias("partition"),
        F.col("src_offset").alias("offset"),
        F.timestamp_millis(as_number(last_header(TIMESTAMP_HEADER))).alias("timestamp"),
        F.filter("headers", is_own).alias("headers"),
    )
