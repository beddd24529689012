"""Transforms that work row by row, as Spark's plan shows: nothing is kept or read twice for them.

Most transforms are projections and filters. Such a one is applied to all records, a column telling which rows are tags
(`RowByRow.java`), so that one projection makes the tag or the dead letter of each record in one pass. A Python function
in it would be called with records that did not decode, so such a transform gets the records without a fault alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokernat.pipelines.steps.envelope import COORDINATES, FAULT, KEPT, VALUE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW_BY_ROW = frozenset({"Project", "Filter", "SubqueryAlias"})
"""Steps of Spark's plans that make at most one row of each row."""


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


def over_all(records: DataFrame, well: DataFrame, transformed: DataFrame) -> DataFrame | None:
    """What a transform that works row by row makes of all records, dropping none.

    Args:
        records: decoded and enriched records, each with its fault or null.
        well: those without a fault, as the transform got them.
        transformed: what it returned.

    Returns:
        A row per record: the columns of `transformed`, `brokernat_fault`, `brokernat_value`, and `brokernat_kept`,
        which is true where the row is one of `transformed`. None where a Python function is in the transform.
    """
    jvm: Any = records.sparkSession._jvm  # noqa: SLF001 - Python has no reader or writer of plans
    plans = (_analyzed(frame) for frame in (records, well, transformed))
    plan = jvm.io.brokernat.spark.RowByRow.over(*plans, FAULT, VALUE, KEPT)
    if plan is None:
        return None
    java = transformed._jdf  # noqa: SLF001
    companion = (
        java.getClass().getClassLoader().loadClass(f"{java.getClass().getName()}$").getField("MODULE$").get(None)
    )
    return type(transformed)(companion.ofRows(java.sparkSession(), plan), records.sparkSession)


def _analyzed(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001


def _identity(plan: Any) -> int | None:
    """The id that Spark gives a column when it is made; a column that was computed anew has another."""
    columns = plan.output()
    found = (columns.apply(place) for place in range(columns.size()))
    return next((int(column.exprId().id()) for column in found if column.name() == COORDINATES), None)
