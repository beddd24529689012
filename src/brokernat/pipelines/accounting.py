"""In = tags + dead letters + filtered, for every batch, before anything of it is written.

`received` is counted where records enter and again where they leave the last step of ours: a step that lost or
multiplied one is found out. What a user's transform drops is `filtered`; what it duplicates or tears from its source is
an error, because nobody could tell such tags from those of a batch that was run again. The first count rides along with
the work (`observe`), and Spark counts a task twice when an executor died in between: so a difference is believed only
after a second, slow count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.errors import IncompleteError
from brokernat.pipelines.envelope import COORDINATES, FAULT
from brokernat.plurals import counted

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

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.received + other.received,
            self.tags + other.tags,
            self.dead_letters + other.dead_letters,
            self.filtered + other.filtered,
        )

    def __str__(self) -> str:
        made = f"{counted(self.tags, 'tag')} + {counted(self.dead_letters, 'dead letter')}"
        return f"{self.received} in = {made} + {self.filtered} filtered"


@dataclass(frozen=True, slots=True)
class Sorted:
    """What our own steps made of a batch."""

    well: int
    faulty: int

    @property
    def total(self) -> int:
        return self.well + self.faulty


def count_sorted(records: DataFrame) -> Sorted:
    """Counts records by whether they have a fault, in one pass."""
    from pyspark.sql import functions as F  # noqa: N812

    row = records.agg(F.count(F.lit(1)).alias("all"), F.count(FAULT).alias("faulty")).first()
    assert row is not None  # noqa: S101 - an aggregate without groups has one row
    return Sorted(well=row["all"] - row["faulty"], faulty=row["faulty"])


def check_received(received: int, sorted_: Sorted, recount: Callable[[], int]) -> None:
    """Raises IncompleteError when steps of ours lost or multiplied records."""
    if received != sorted_.total and (received := recount()) != sorted_.total:
        came_out = f"{sorted_.total} came out ({sorted_.well} well, {sorted_.faulty} faulty)"
        raise IncompleteError(
            f"{counted(received, 'record')} came in, {came_out}",
            hint="nothing of this batch was written; please report this",
        )


def count_transformed(transformed: DataFrame, well: int, *, transform: str) -> int:
    """How many rows a user's transform made of `well` records, each from a record of its own.

    Raises:
        IncompleteError: rows without coordinates, several rows from one record, or more rows than records.
    """
    from pyspark.sql import functions as F  # noqa: N812

    text = F.col(f"{COORDINATES}.coordinates")
    rows = transformed.count()
    orphans = transformed.where(text.isNull()).count() if rows else 0
    if orphans:
        raise IncompleteError(
            f"transform `{transform}` returned {counted(orphans, 'row')} without `{COORDINATES}`, of {rows}",
            hint=f"an outer join or a union adds rows that no record stands behind; keep `{COORDINATES}` as it is",
        )
    repeated = transformed.groupBy(text.alias("src")).count().where("count > 1")
    examples = repeated.orderBy("src").limit(_EXAMPLES).collect() if rows else []
    if examples or rows > well:
        shown = ", ".join(f"{row['src']} ({row['count']} times)" for row in examples)
        raise IncompleteError(
            f"transform `{transform}` made {counted(rows, 'row')} of {counted(well, 'record')}: {shown}",
            hint="one record gives one tag or none; join with one row per key, and put lists into one column",
        )
    return rows
