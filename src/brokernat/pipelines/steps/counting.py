"""Checks *in = tags + dead letters + filtered* for every batch, before it is committed.

Records are counted before and after brokernat's own steps, so a step that loses or duplicates a record is detected.
A record that the user's transform drops is `filtered`; a tag that it duplicates or separates from its record is an
error, because it would look like a copy of a repeated batch. Counting needs no extra pass: the sink counts its rows
exactly, and Spark's scan or `observe` counts the input. The input count includes a task before an exchange twice if its
executor was lost, so a difference is verified by a second, slow count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.clients.spark.functions import FAULT
from brokernat.errors import IncompleteError
from brokernat.pipelines.steps.envelope import COORDINATES, FaultKind, coordinates_text
from brokernat.text import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Counts:
    """Records of one batch, or of several."""

    received: int = 0
    tags: int = 0
    dead_letters: int = 0
    filtered: int = 0
    causes: Mapping[str, int] = field(default_factory=dict, compare=False)
    """The dead letters by `FaultKind`; kinds that did not occur are left out."""

    @classmethod
    def of_outgoing(cls, rows: Mapping[str, int]) -> Counts:
        """The counts of one pass from the number of `tags`, `filtered` and dead letters of each cause."""
        causes = {kind.value: rows[kind] for kind in FaultKind if rows.get(kind)}
        return cls(sum(rows.values()), rows.get("tags", 0), sum(causes.values()), rows.get("filtered", 0), causes)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.received + other.received,
            self.tags + other.tags,
            self.dead_letters + other.dead_letters,
            self.filtered + other.filtered,
            dict(Counter(self.causes) + Counter(other.causes)),
        )

    def __sub__(self, other: Counts) -> Counts:
        return Counts(
            self.received - other.received,
            self.tags - other.tags,
            self.dead_letters - other.dead_letters,
            self.filtered - other.filtered,
            dict(Counter(self.causes) - Counter(other.causes)),
        )

    def __str__(self) -> str:
        made = f"{counted(self.tags, 'tag')} + {counted(self.dead_letters, 'dead letter')}"
        return f"{self.received} in = {made} + {self.filtered} filtered"


def count_rows(frame: DataFrame, observation: str) -> DataFrame:
    """The frame with an observation that counts its `rows`."""
    from pyspark.sql import functions as F  # noqa: N812

    return frame.observe(observation, F.count(F.lit(1)).alias("rows"))


def count_outgoing(rows: DataFrame, observation: str) -> DataFrame:
    """Rows for the sink with an observation of the counts for `Counts.of_outgoing`."""
    from pyspark.sql import functions as F  # noqa: N812

    topic, cause = F.col("topic"), F.col("cause")
    kinds = (F.count_if(cause == kind.value).alias(kind) for kind in FaultKind)
    tags = F.count_if(topic.isNotNull() & cause.isNull()).alias("tags")
    return rows.observe(observation, tags, F.count_if(topic.isNull()).alias("filtered"), *kinds)


def count_faults(records: DataFrame) -> tuple[int, dict[str, int]]:
    """The number of rows, and of rows with a fault of each kind, in a separate pass."""
    from pyspark.sql import functions as F  # noqa: N812

    kinds = (F.count_if(F.col(FAULT)["kind"] == kind.value).alias(kind) for kind in FaultKind)
    row = records.agg(F.count(F.lit(1)).alias("rows"), *kinds).first()
    assert row is not None  # noqa: S101 - an aggregate without groups has one row
    return int(row["rows"]), {kind.value: row[kind] for kind in FaultKind if row[kind]}


def check_received(entering: int | None, left: int, recount: Callable[[], int], *, written: bool = False) -> None:
    """Raise IncompleteError if brokernat's steps lost or duplicated records.

    Args:
        entering: the number of input records from `observe` or the scan; None if unknown.
        left: the number of output records.
        recount: counts the input records again.
        written: whether the output is in the sink already.
    """
    if entering == left:
        return
    if (received := recount()) != left:
        state = "was written but is not committed: the next start writes it again" if written else "was not written"
        raise IncompleteError(
            f"{counted(received, 'record')} received, {left} processed", hint=f"the batch {state}; please report this"
        )


def count_transformed(transformed: DataFrame, records: int, *, transform: str) -> int:
    """The number of rows that a transform returned for `records` records; checks that no two rows are of one record.

    Raises:
        IncompleteError: rows without coordinates, several rows from one record, or more rows than records.
    """
    from pyspark.sql import functions as F  # noqa: N812

    known = F.count(f"{COORDINATES}.cluster")
    row = transformed.agg(F.count(F.lit(1)).alias("rows"), known.alias("known")).first()
    assert row is not None  # noqa: S101 - an aggregate without groups has one row
    rows, orphans = int(row["rows"]), int(row["rows"] - row["known"])
    if orphans:
        raise IncompleteError(
            f"transform `{transform}` returned {counted(orphans, 'row')} without `{COORDINATES}`, of {rows}",
            hint=f"an outer join or a union adds rows without a record; keep the column `{COORDINATES}` unchanged",
        )
    repeated = transformed.groupBy(coordinates_text().alias("src")).count().where("count > 1")
    examples = repeated.orderBy("src").limit(_EXAMPLES).collect() if rows else []
    if examples or rows > records:
        shown = ", ".join(f"{row['src']} ({row['count']} times)" for row in examples)
        raise IncompleteError(
            f"transform `{transform}` made {counted(rows, 'row')} of {counted(records, 'record')}: {shown}",
            hint="return at most one row per record: join with unique keys, and put lists into one column",
        )
    return rows
