"""Start offsets for a pipeline that has lost its checkpoint, from the records in its sink.

Every tag and dead letter has the coordinates of its record, so the delivered records are known. The source is read up
to the last of them, and a run must start at the first record that was not delivered but should have been. Delivered
records after it are counted; the run writes them again, with the same coordinates. Filtered records are not a gap, see
`delivered`.

Coordinates do not distinguish a recreated topic. So the timestamp of the last record in the sink is compared with that
of the source record at its offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brokernat.clients.spark import client_properties
from brokernat.errors import ConfigError, Finding, IncompleteError
from brokernat.pipelines.checkpoint.committed import Offsets, Range
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.kafka.admin import open_admin
from brokernat.pipelines.pipeline import claim
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.reading_back.delivered import (
    Delivered,
    compare,
    held_offsets,
    read_source,
    sink_coordinates,
)
from brokernat.pipelines.reading_back.reconcile import Span
from brokernat.pipelines.reading_back.replay import Ledger
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Proposal:
    """One partition of the source: a run that starts at the offset `next` skips no record that the source still has.

    `first` is the smallest offset that the source still has, `held_until` the offset after the last record in the
    sink (None if it has none). `missing` records in between have neither tag nor dead letter. `repeated` records from
    `next` on are in the sink already and are written again. `removed` offsets after the sink's last record are not in
    the source any more; they may be records that were never delivered.
    """

    topic: str
    partition: int
    first: int
    held_until: int | None
    next: int
    missing: int = 0
    missing_ranges: tuple[Span, ...] = ()
    repeated: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class _SinkOffsets:
    """The first and the last offset of one partition in the sink; the last record's timestamp."""

    first: int
    last: int
    timestamp: int | None


def propose_offsets(
    spark: SparkSession, prepared: Prepared, *, from_first: bool = False, write: bool = False
) -> tuple[Proposal, ...]:
    """The offsets at which the pipeline must start; it must not run at the same time.

    Args:
        spark: a session that was configured for the clusters.
        prepared: the pipeline.
        from_first: records before the first one of a partition in the sink count as delivered, because the sink's
            retention has removed them, or because the pipeline started there (`starting_offsets: latest`).
        write: store the offsets for the next run, and the replayed dead letters.

    Raises:
        ConfigError: a topic of the source was recreated; or, with `write`, there is already a checkpoint.
        IncompleteError: source or sink could not be read to the end; there is no result for a part of them.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    files = Files(spark)
    if write:
        prepared.state.require_unused(files)
    try:
        with open_admin(spark, client_properties(prepared.source), prepared.source.name) as admin:
            owner = prepared.owner(admin.cluster_id(), admin.topics(prepared.pipeline.source.topics))
            first, end = (_by_topic(prepared, read) for read in (admin.first_offsets, admin.end_offsets))
        coordinates = sink_coordinates(spark, prepared, owner.source_cluster).persist()
        try:
            found = _propose(spark, prepared, owner.source_cluster, coordinates, first, end, from_first=from_first)
            replayed = _replayed(coordinates, owner.source_cluster) if write else []
        finally:
            coordinates.unpersist()
    except (PySparkException, Py4JJavaError) as error:
        message = f"cannot propose offsets for pipeline `{prepared.pipeline.name}`: {root_cause(error)}"
        raise IncompleteError(message) from None
    if write:
        claim(files, prepared.state, owner)
        Ledger(files, prepared.state.replay_folder).enter(replayed)
        prepared.state.start_from(files, as_offsets(found))
    return found


def as_offsets(proposals: Iterable[Proposal]) -> Offsets:
    """The offset to start at, by topic and partition."""
    found: Offsets = {}
    for proposal in proposals:
        found.setdefault(proposal.topic, {})[proposal.partition] = proposal.next
    return found


def _by_topic(prepared: Prepared, read: Callable[[str], dict[int, int]]) -> Offsets:
    return {topic: read(topic) for topic in prepared.pipeline.source.topics}


def _propose(
    spark: SparkSession,
    prepared: Prepared,
    cluster_id: str,
    coordinates: DataFrame,
    first: Offsets,
    end: Offsets,
    *,
    from_first: bool,
) -> tuple[Proposal, ...]:
    from pyspark.sql import functions as F  # noqa: N812

    in_sink = _sink_offsets(coordinates, end)
    _refuse_recreated_topics(spark, prepared, in_sink, first)
    begin: Offsets = {topic: {} for topic in first}
    until: Offsets = {topic: {} for topic in first}
    for (topic, partition), offsets in in_sink.items():
        oldest = first[topic][partition]
        if offsets.last >= oldest:
            begin[topic][partition] = max(oldest, offsets.first) if from_first else oldest
            until[topic][partition] = offsets.last + 1
    span = Range({t: p for t, p in begin.items() if p}, {t: p for t, p in until.items() if p})
    compared = compare(spark, prepared, span, cluster_id, coordinates) if span.end else ()
    by_partition = {(result.topic, result.partition): result for result in compared}
    proposals = [
        _proposal(topic, partition, oldest, in_sink.get((topic, partition)), by_partition.get((topic, partition)))
        for topic, partitions in sorted(first.items())
        for partition, oldest in sorted(partitions.items())
    ]
    starts = spark.createDataFrame(
        [(f"{proposal.topic}/{proposal.partition}", proposal.next) for proposal in proposals],
        "place string, next bigint",
    )
    after = held_offsets(coordinates).join(F.broadcast(starts), "place").where(F.col("offset") >= F.col("next"))
    repeated = {row["place"]: row["count"] for row in after.groupBy("place").count().collect()}
    return tuple(
        replace(proposal, repeated=repeated.get(f"{proposal.topic}/{proposal.partition}", 0)) for proposal in proposals
    )


def _proposal(
    topic: str, partition: int, first: int, in_sink: _SinkOffsets | None, compared: Delivered | None
) -> Proposal:
    if in_sink is None:
        return Proposal(topic, partition, first, None, first)
    until = in_sink.last + 1
    if compared is None:
        return Proposal(topic, partition, first, until, first, removed=first - until)
    start = compared.missing_ranges[0].first if compared.missing_ranges else until
    return Proposal(topic, partition, first, until, start, compared.missing, compared.missing_ranges)


def _sink_offsets(coordinates: DataFrame, end: Offsets) -> dict[tuple[str, int], _SinkOffsets]:
    """The offsets in the sink by topic and partition, only of the source's topics."""
    from pyspark.sql import functions as F  # noqa: N812

    bounds = (
        coordinates.where("offset IS NOT NULL")
        .groupBy("place")
        .agg(
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.max_by("timestamp", "offset").alias("timestamp"),
        )
    )
    by_place = {row["place"]: _SinkOffsets(row["first"], row["last"], row["timestamp"]) for row in bounds.collect()}
    places = {(topic, partition): f"{topic}/{partition}" for topic, ends in end.items() for partition in ends}
    found = {key: by_place[place] for key, place in places.items() if place in by_place}
    for (topic, partition), offsets in found.items():
        if offsets.last >= end[topic][partition]:
            raise _recreated(topic, partition, f"the source ends at {end[topic][partition]}", offsets.last)
    return found


def _refuse_recreated_topics(
    spark: SparkSession, prepared: Prepared, in_sink: Mapping[tuple[str, int], _SinkOffsets], first: Offsets
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    last: Offsets = {}
    for (topic, partition), offsets in in_sink.items():
        if offsets.last >= first[topic][partition] and offsets.timestamp is not None:
            last.setdefault(topic, {})[partition] = offsets.last
    if not last:
        return
    after = {topic: {number: at + 1 for number, at in partitions.items()} for topic, partitions in last.items()}
    records = read_source(spark, prepared, Range(last, after))
    for row in records.select("topic", "partition", F.unix_millis("timestamp").alias("timestamp")).collect():
        offsets = in_sink[row["topic"], row["partition"]]
        if row["timestamp"] != offsets.timestamp:
            raise _recreated(
                row["topic"], row["partition"], "the source has a record with another timestamp there", offsets.last
            )


def _recreated(topic: str, partition: int, instead: str, last: int) -> ConfigError:
    message = f"the sink holds {topic}/{partition}/{last}, and {instead}: `{topic}` was deleted and recreated"
    hint = "use another sink for the new topic; a run without a checkpoint reads the whole topic"
    return ConfigError(Finding("topic-made-again", message, hint))


def _replayed(coordinates: DataFrame, cluster_id: str) -> list[str]:
    rows = coordinates.where("replayed IS NOT NULL").select("place", "offset").distinct().toLocalIterator()
    return sorted(f"{cluster_id}/{row['place']}/{row['offset']}" for row in rows)
