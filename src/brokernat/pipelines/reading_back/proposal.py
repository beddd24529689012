"""Where a pipeline that has lost its checkpoint goes on: the offsets to start at, by what its sink holds.

Every tag and dead letter carries the coordinates of its record, so the records that came out are known. The source is
read up to the last of them: a run has to begin at the first record that should have come out and has not. What came
out behind it comes out again, with the same coordinates; it is counted. Filtered records are no gap, see `delivered`.

Nothing but the coordinates tells a topic from one that had its name before. So the timestamp of the last record that
the sink holds is compared with that of the record at its offset.
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
    """One partition of the source: a run that starts at the offset `next` passes over no record that is still there.

    `first` is the smallest offset that the source still has, `held_until` the offset behind the last record that the
    sink holds (None where it holds none). `missing` records in between have neither tag nor dead letter. `repeated`
    records from `next` on are in the sink already and come out again. `removed` offsets behind the sink's last record
    are not in the source any more; they may hold records that never came out.
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
class _Held:
    """The first and the last offset of one partition that the sink holds; the last record's timestamp."""

    first: int
    last: int
    timestamp: int | None


def propose_offsets(
    spark: SparkSession, prepared: Prepared, *, from_first: bool = False, write: bool = False
) -> tuple[Proposal, ...]:
    """The offsets at which the pipeline has to start; it must not run meanwhile.

    Args:
        spark: a session that was configured for the clusters.
        prepared: the pipeline.
        from_first: what stands before the first record that the sink holds of a partition counts as delivered, because
            the sink's retention has removed it, or because the pipeline began there (`starting_offsets: latest`).
        write: notes the offsets where the next run looks for them, and which dead letters were replayed.

    Raises:
        ConfigError: with `write`, there is a checkpoint; a topic of the source was made again.
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
        message = f"no offsets can be proposed for pipeline `{prepared.pipeline.name}`: {root_cause(error)}"
        raise IncompleteError(message) from None
    if write:
        claim(files, prepared.state, owner)
        Ledger(files, prepared.state.replay_folder).enter(replayed)
        prepared.state.start_from(files, as_offsets(found))
    return found


def as_offsets(proposals: Iterable[Proposal]) -> Offsets:
    """The offset to start at, by topic and partition."""
    found: Offsets = {}
    for one in proposals:
        found.setdefault(one.topic, {})[one.partition] = one.next
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

    held = _held(coordinates, end)
    _refuse_another_topic(spark, prepared, held, first)
    begin: Offsets = {topic: {} for topic in first}
    until: Offsets = {topic: {} for topic in first}
    for (topic, partition), one in held.items():
        at = first[topic][partition]
        if one.last >= at:
            begin[topic][partition] = max(at, one.first) if from_first else at
            until[topic][partition] = one.last + 1
    span = Range({t: p for t, p in begin.items() if p}, {t: p for t, p in until.items() if p})
    compared = compare(spark, prepared, span, cluster_id, coordinates) if span.end else ()
    by_place = {(one.topic, one.partition): one for one in compared}
    proposals = [
        _proposal(topic, partition, at, held.get((topic, partition)), by_place.get((topic, partition)))
        for topic, partitions in sorted(first.items())
        for partition, at in sorted(partitions.items())
    ]
    starts = spark.createDataFrame(
        [(f"{one.topic}/{one.partition}", one.next) for one in proposals], "place string, next bigint"
    )
    behind = held_offsets(coordinates).join(F.broadcast(starts), "place").where(F.col("offset") >= F.col("next"))
    repeated = {row["place"]: row["count"] for row in behind.groupBy("place").count().collect()}
    return tuple(replace(one, repeated=repeated.get(f"{one.topic}/{one.partition}", 0)) for one in proposals)


def _proposal(topic: str, partition: int, first: int, held: _Held | None, compared: Delivered | None) -> Proposal:
    if held is None:
        return Proposal(topic, partition, first, None, first)
    until = held.last + 1
    if compared is None:
        return Proposal(topic, partition, first, until, first, removed=first - until)
    start = compared.missing_ranges[0].first if compared.missing_ranges else until
    return Proposal(topic, partition, first, until, start, compared.missing, compared.missing_ranges)


def _held(coordinates: DataFrame, end: Offsets) -> dict[tuple[str, int], _Held]:
    """By topic and partition, those of the source's topics only."""
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
    by_place = {row["place"]: _Held(row["first"], row["last"], row["timestamp"]) for row in bounds.collect()}
    places = {(topic, partition): f"{topic}/{partition}" for topic, ends in end.items() for partition in ends}
    found = {key: by_place[place] for key, place in places.items() if place in by_place}
    for (topic, partition), one in found.items():
        if one.last >= end[topic][partition]:
            raise _made_again(topic, partition, f"the source ends at {end[topic][partition]}", one.last)
    return found


def _refuse_another_topic(
    spark: SparkSession, prepared: Prepared, held: Mapping[tuple[str, int], _Held], first: Offsets
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    last: Offsets = {}
    for (topic, partition), one in held.items():
        if one.last >= first[topic][partition] and one.timestamp is not None:
            last.setdefault(topic, {})[partition] = one.last
    if not last:
        return
    after = {topic: {number: at + 1 for number, at in partitions.items()} for topic, partitions in last.items()}
    records = read_source(spark, prepared, Range(last, after))
    for row in records.select("topic", "partition", F.unix_millis("timestamp").alias("timestamp")).collect():
        one = held[row["topic"], row["partition"]]
        if row["timestamp"] != one.timestamp:
            raise _made_again(row["topic"], row["partition"], "the source has a record of another time there", one.last)


def _made_again(topic: str, partition: int, instead: str, last: int) -> ConfigError:
    message = f"the sink holds {topic}/{partition}/{last}, and {instead}: `{topic}` was removed and made again"
    hint = "give the pipeline a sink of its own for the new topic; a run without a checkpoint reads the topic whole"
    return ConfigError(Finding("topic-made-again", message, hint))


def _replayed(coordinates: DataFrame, cluster_id: str) -> list[str]:
    rows = coordinates.where("replayed IS NOT NULL").select("place", "offset").distinct().toLocalIterator()
    return sorted(f"{cluster_id}/{row['place']}/{row['offset']}" for row in rows)
