"""In = tags + dead letters + filtered, for every batch, before anything of it is written.

Records are counted where they enter and where they leave our own steps: a step that lost or multiplied one is found
out. What a user's transform drops is `filtered`; what it duplicates or tears from its source is an error, because
nobody could tell such tags from those of a batch that was run again. The first count rides along with the work
(`observe`), and Spark counts a task twice when an executor died in between: so a difference is believed only after a
second, slow count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokernat.errors import IncompleteError
from brokernat.pipelines.envelope import COORDINATES, FAULT
from brokernat.plurals import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

_EXAMPLES = 3
_REPORT_SECONDS = 10
_ROW_BY_ROW = frozenset({"Project", "Filter", "SubqueryAlias"})
"""Steps of Spark's plans that make at most one row of each row."""


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


def count_rows(frame: DataFrame, observation: Observation) -> DataFrame:
    """The frame, with `rows` counted in passing."""
    from pyspark.sql import functions as F  # noqa: N812

    return frame.observe(observation, F.count(F.lit(1)).alias("rows"))


def count_faults(records: DataFrame) -> tuple[int, int]:
    """How many rows there are, and how many of them are faulty, in a pass of its own."""
    from pyspark.sql import functions as F  # noqa: N812

    row = records.agg(F.count(F.lit(1)).alias("rows"), F.count(FAULT).alias("faulty")).first()
    assert row is not None  # noqa: S101 - an aggregate without groups has one row
    return int(row["rows"]), int(row["faulty"])


def observed(observation: Observation) -> dict[str, int] | None:
    """What an action has counted in passing; None where Spark found the frame empty and dropped the part that counts.

    It may do so with a batch that holds markers of transactions only.
    """
    from py4j.protocol import Py4JJavaError

    # The counts come with Spark's report of the action, a moment after it. `get` alone might wait for ever.
    completed = observation._jo.future().isCompleted  # type: ignore[union-attr]  # noqa: SLF001 - Python only waits
    deadline = time.monotonic() + _REPORT_SECONDS
    while not completed():
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)
    try:
        return observation.get or None
    except Py4JJavaError:
        # Spark 4.3 cannot hand an empty report over to Python.
        return None


def check_received(entering: Mapping[str, int] | None, left: int, recount: Callable[[], int]) -> None:
    """Raise IncompleteError when steps of ours lost or multiplied records.

    Args:
        entering: `rows` that came in, as counted in passing; None where that is not known.
        left: how many came out.
        recount: counts anew what came in.
    """
    if entering is not None and entering["rows"] == left:
        return
    if (received := recount()) != left:
        raise IncompleteError(
            f"{counted(received, 'record')} came in, {left} came out",
            hint="nothing of this batch was written; please report this",
        )


def is_row_by_row(before: DataFrame, after: DataFrame) -> bool:
    """Whether Spark's own plan shows that each row of `after` is made of one row of `before`, and none of two.

    It does where nothing but projections and filters lie between them and `brokernat_src` is the same column. Joins,
    unions, generators and whatever Python returns as a frame may do anything: there, duplicates are looked for.
    """
    first, last = _analyzed(before), _analyzed(after)
    if _identity(first) != _identity(last):
        return False
    while not last.fastEquals(first):
        if last.nodeName() not in _ROW_BY_ROW:
            return False
        last = last.children().head()
    return True


def _analyzed(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - Python has no reader of plans


def _identity(plan: Any) -> int | None:
    """The id that Spark gives a column when it is made; a column that was computed anew has another."""
    columns = plan.output()
    found = (columns.apply(place) for place in range(columns.size()))
    return next((int(column.exprId().id()) for column in found if column.name() == COORDINATES), None)


def count_transformed(transformed: DataFrame, well: int, *, transform: str) -> int:
    """How many rows a user's transform made of `well` records, each from a record of its own.

    Raises:
        IncompleteError: rows without coordinates, several rows from one record, or more rows than records.
    """
    from pyspark.sql import functions as F  # noqa: N812

    text = F.col(f"{COORDINATES}.coordinates")
    row = transformed.agg(F.count(F.lit(1)).alias("rows"), F.count(text).alias("known")).first()
    assert row is not None  # noqa: S101 - an aggregate without groups has one row
    rows, orphans = int(row["rows"]), int(row["rows"] - row["known"])
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
