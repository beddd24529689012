"""Reads a topic of shipped logs as runs of consecutive sequence numbers, computed on the executors.

Every shipped record carries `brokernat-seq: <source>/<sequence>`. First equal numbers are grouped, because a duplicate
may be in any partition. Then each run of consecutive numbers becomes one row: the difference between a number and its
rank is constant within a run. Ranks are computed per block of numbers, because one source may have written most of the
topic, and one task would have to sort a window over all of it. Records without a readable header become rows without a
source, so one pass over the topic counts everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.clients.spark import Role, kafka_options
from brokernat.config import Cluster
from brokernat.errors import IncompleteError
from brokernat.pipelines.reading_back.reconcile import SequenceRun, SourceAccount, accounts
from brokernat.pipelines.root_cause import root_cause
from brokernat.shipping import SEQUENCE_HEADER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

_BLOCK = 1 << 20
# Eighteen digits fit into a bigint, and a cast that overflows would end the job.
_HEADER_VALUE = r"^([^/]+)/([1-9][0-9]{0,17})$"
_UNREADABLE = 0


@dataclass(frozen=True, slots=True)
class Shipped:
    """The content of a topic, from its first offset to the last one at the time of reading."""

    sources: tuple[SourceAccount, ...]
    without_header: int
    unreadable: int
    """Records whose `brokernat-seq` is not `<source>/<sequence>`."""

    @property
    def missing(self) -> int:
        """The number of lost records of all sources."""
        return sum(account.missing for account in self.sources)


def reconcile_topic(
    spark: SparkSession,
    cluster: Cluster,
    topic: str,
    *,
    reached: Mapping[str, int] | None = None,
    from_first: bool = False,
) -> Shipped:
    """Reads a topic of shipped logs and counts records, duplicates and gaps of every source.

    Args:
        spark: a session that was configured for the cluster.
        cluster: the cluster of the topic.
        topic: its name.
        reached, from_first: see `reconcile.accounts`.

    Raises:
        IncompleteError: the topic could not be read to its end; there is no result for a part of it.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    rows = runs(numbers(read_topics(spark, cluster, topic))).orderBy("source", "first")
    counted = {None: 0, _UNREADABLE: 0}

    def with_source(found: Iterator[Row]) -> Iterator[SequenceRun]:
        for row in found:
            if row["source"] is None:
                counted[row["first"]] = row["records"]
            else:
                yield SequenceRun(row["source"], row["first"], row["last"], row["records"])

    try:
        sources = tuple(accounts(with_source(rows.toLocalIterator()), reached=reached, from_first=from_first))
    except (PySparkException, Py4JJavaError) as error:
        raise IncompleteError(f"topic `{topic}` could not be read to its end: {root_cause(error)}") from None
    return Shipped(sources, counted[None], counted[_UNREADABLE])


def read_topics(spark: SparkSession, cluster: Cluster, *topics: str) -> DataFrame:
    """The current records of the topics, with their headers."""
    options = {
        "subscribe": ",".join(topics),
        "startingOffsets": "earliest",
        "endingOffsets": "latest",
        "includeHeaders": "true",
        "failOnDataLoss": "true",
    }
    return spark.read.format("kafka").options(**kafka_options(cluster, role=Role.SOURCE), **options).load()


def numbers(records: DataFrame) -> DataFrame:
    """`source`, `sequence` of each record; without a source the sequence is null (no header) or 0 (unreadable)."""
    from pyspark.sql import functions as F  # noqa: N812

    values, text = header_values(SEQUENCE_HEADER), last_header(SEQUENCE_HEADER)
    sequence = F.regexp_extract(text, _HEADER_VALUE, 2)
    has_source = sequence != ""
    return records.select(
        F.when(has_source, F.regexp_extract(text, _HEADER_VALUE, 1)).alias("source"),
        F.when(has_source, as_number(sequence)).when(F.size(values) > 0, F.lit(_UNREADABLE)).alias("sequence"),
    )


def as_number(text: Column, digits: int = 18) -> Column:
    """Text of at most `digits` digits as BIGINT, null for other text. Spark 3.5 has `try_cast` in SQL only."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(text.rlike(f"^-?[0-9]{{1,{digits}}}$"), text.cast("bigint"))


def header_values(name: str) -> Column:
    """The headers of that name."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.filter("headers", lambda header: header["key"] == name)


def last_header(name: str) -> Column:
    """The text of the last header of that name, null without one."""
    from pyspark.sql import functions as F  # noqa: N812

    values = header_values(name)
    return F.get(values, F.size(values) - 1)["value"].cast("string")


def runs(numbered: DataFrame, *, block: int = _BLOCK) -> DataFrame:
    """`source`, `first`, `last`, `records` of each run of consecutive numbers; a run ends at the end of a block."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    counted = numbered.groupBy("source", "sequence").agg(F.count(F.lit(1)).alias("records"))
    of_block = F.floor(F.col("sequence") / block).alias("block")
    in_block = Window.partitionBy("source", of_block).orderBy("sequence")
    stretch = F.col("sequence") - F.row_number().over(in_block)
    return (
        counted.select("source", "sequence", "records", of_block, stretch.alias("stretch"))
        .groupBy("source", "block", "stretch")
        .agg(F.min("sequence").alias("first"), F.max("sequence").alias("last"), F.sum("records").alias("records"))
        .select("source", "first", "last", "records")
    )
