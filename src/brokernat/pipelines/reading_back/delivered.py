"""Compares the committed offsets of a pipeline with the records of its sink, by the header `brokernat-src`.

Offsets of a Kafka topic have holes (transactions, compaction), so the source is read again and its existing offsets are
compared: a hole is not a loss. A record without tag and dead letter was filtered by the transform, or it is lost. To
find out which, the same steps process those records again. If a transform depends on more than the record (a clock, a
reference that has changed), a filtered record may look lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

from brokernat.clients.spark import client_properties
from brokernat.errors import IncompleteError
from brokernat.pipelines.batch import current_joins
from brokernat.pipelines.checkpoint.committed import Range, read_committed
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.kafka.admin import open_admin
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.reading_back.reconcile import SHOWN_RANGES, SequenceRun, Span, joined
from brokernat.pipelines.reading_back.shipped import as_number, last_header, read_topics, runs
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.envelope import COORDINATES, REPLAY_HEADER, SOURCE_HEADER, TIMESTAMP_HEADER, envelop
from brokernat.pipelines.steps.plan import with_fault
from brokernat.pipelines.steps.source import read_between, source_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession


@dataclass(frozen=True, slots=True)
class Delivered:
    """One partition of the source. The offsets from `begin` up to but not including `end` are committed.

    `first` is the smallest offset that the source still has; earlier records cannot be checked. `missing_ranges` are
    offsets.
    """

    topic: str
    partition: int
    begin: int
    end: int
    first: int | None = None
    records: int = 0
    delivered: int = 0
    duplicates: int = 0
    filtered: int = 0
    missing: int = 0
    missing_ranges: tuple[Span, ...] = ()


def reconcile_pipeline(spark: SparkSession, prepared: Prepared) -> tuple[Delivered, ...]:
    """Compares the source of a pipeline with its tags and dead letters; empty before the first commit.

    The pipeline may run at the same time; only committed offsets are compared.

    Raises:
        IncompleteError: source or sink could not be read to the end; there is no result for a part of them.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    # Read the commits before the sink: then the sink has the results of every committed record.
    committed = read_committed(Files(spark), prepared.pipeline.checkpoint)
    if committed is None:
        return ()
    with open_admin(spark, client_properties(prepared.source), prepared.source.name) as admin:
        cluster_id = admin.cluster_id()
    try:
        return compare(spark, prepared, committed, cluster_id, sink_coordinates(spark, prepared, cluster_id))
    except (PySparkException, Py4JJavaError) as error:
        raise IncompleteError(f"pipeline `{prepared.pipeline.name}` cannot be compared: {root_cause(error)}") from None


def compare(
    spark: SparkSession, prepared: Prepared, offsets: Range, cluster_id: str, coordinates: DataFrame
) -> tuple[Delivered, ...]:
    """Compares the source with the `coordinates` in its sink, see `sink_coordinates`."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.storagelevel import StorageLevel

    records = read_source(spark, prepared, offsets)
    compared = records.select("place", "offset").join(held_offsets(coordinates), ["place", "offset"], "left")
    compared = compared.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        counts = compared.groupBy("place").agg(
            F.min("offset").alias("first"),
            F.count(F.lit(1)).alias("records"),
            F.count("copies").alias("delivered"),
            F.coalesce(F.sum("copies"), F.lit(0)).alias("copies"),
        )
        counted = {row["place"]: row for row in counts.collect()}
        absent = compared.where("copies IS NULL").select("place", "offset")
        any_absent = any(row["delivered"] < row["records"] for row in counted.values())
        lost = absent
        if any_absent and prepared.pipeline.transform:
            lost = _not_filtered(spark, prepared, records.join(absent, ["place", "offset"], "left_semi"), cluster_id)
        missing = _ranges(lost) if any_absent else {}
    finally:
        compared.unpersist()
    return tuple(
        _account(topic, partition, offsets, counted.get(f"{topic}/{partition}"), missing)
        for topic, ends in sorted(offsets.end.items())
        for partition in sorted(ends)
    )


def _account(
    topic: str,
    partition: int,
    offsets: Range,
    counted: Row | None,
    missing: Mapping[str, tuple[int, tuple[Span, ...]]],
) -> Delivered:
    account = Delivered(topic, partition, offsets.begin[topic][partition], offsets.end[topic][partition])
    if counted is None:
        return account
    number, spans = missing.get(f"{topic}/{partition}", (0, ()))
    return replace(
        account,
        first=counted["first"],
        records=counted["records"],
        delivered=counted["delivered"],
        duplicates=counted["copies"] - counted["delivered"],
        filtered=counted["records"] - counted["delivered"] - number,
        missing=number,
        missing_ranges=spans,
    )


def sink_coordinates(spark: SparkSession, prepared: Prepared, cluster_id: str) -> DataFrame:
    """The `coordinates` of all tags and dead letters in the sink."""
    sink = prepared.pipeline.sink
    return source_coordinates(read_topics(spark, prepared.sink, sink.topic, sink.dead_letters), cluster_id)


def source_coordinates(records: DataFrame, cluster_id: str) -> DataFrame:
    """The source coordinates of tags and dead letters, a row each.

    Returns:
        `place` (topic/partition), `offset`, `timestamp` (milliseconds since 1970), `replayed` (null unless a replay
        wrote the tag), only for records whose source is the cluster.
    """
    from pyspark.sql import functions as F  # noqa: N812

    known = records.select(
        F.split(last_header(SOURCE_HEADER), "/").alias("parts"),
        as_number(last_header(TIMESTAMP_HEADER)).alias("timestamp"),
        last_header(REPLAY_HEADER).alias("replayed"),
    )
    ours = known.where((F.size("parts") == 4) & (F.get("parts", 0) == cluster_id))
    place, offset = _place(F.get("parts", 1), F.get("parts", 2)), as_number(F.get("parts", 3))
    return ours.select(place.alias("place"), offset.alias("offset"), "timestamp", "replayed")


def held_offsets(coordinates: DataFrame) -> DataFrame:
    """`place`, `offset`, `copies` of the source records of tags and dead letters.

    A dead letter and its replayed tag count as one delivery; a second such tag is a duplicate.
    """
    from pyspark.sql import functions as F  # noqa: N812

    first, again = F.count_if(F.col("replayed").isNull()), F.count("replayed")
    zero, one = F.lit(0), F.lit(1)
    copies = F.greatest(first, one) + F.greatest(again - 1, zero)
    return coordinates.groupBy("place", "offset").agg(copies.alias("copies"))


def read_source(spark: SparkSession, prepared: Prepared, offsets: Range) -> DataFrame:
    """The records between these offsets that the source still has, with their `place`."""
    from pyspark.sql import functions as F  # noqa: N812

    # Retention may have removed records that were committed long ago; these cannot be compared.
    records = read_between(spark, source_options(prepared.source), offsets, fail_on_loss=False)
    return records.withColumn("place", _place(F.col("topic"), F.col("partition")))


def _not_filtered(spark: SparkSession, prepared: Prepared, records: DataFrame, cluster_id: str) -> DataFrame:
    """`place`, `offset` of the records that the steps do not filter."""
    from pyspark.sql import functions as F  # noqa: N812

    plan, envelope = prepared.plan(), envelop(records, cluster_id)
    joins, _ = current_joins(plan, prepared.references(), spark)
    decoded = plan.decode_and_enrich(envelope, joins)
    kept = plan.transformed(decoded).select(COORDINATES).unionByName(with_fault(decoded).select(COORDINATES))
    source = F.col(COORDINATES)
    return kept.select(_place(source["topic"], source["partition"]).alias("place"), source["offset"].alias("offset"))


def _ranges(lost: DataFrame) -> dict[str, tuple[int, tuple[Span, ...]]]:
    """The number of lost records and their first ranges, by place."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = runs(lost.select(F.col("place").alias("source"), F.col("offset").alias("sequence")))
    found = {}
    for place, group in groupby(rows.orderBy("source", "first").toLocalIterator(), lambda row: str(row["source"])):
        sequence_runs = [SequenceRun(*row) for row in group]
        spans = tuple(islice(joined(sequence_runs), SHOWN_RANGES))
        found[place] = (sum(run.records for run in sequence_runs), spans)
    return found


def _place(topic: Column, partition: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.concat_ws("/", topic, partition.cast("string"))
