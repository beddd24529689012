"""Transforms that work row by row according to Spark's plan; their input is not cached or read twice.

Most transforms are projections and filters. Such a transform is applied to all records, and a column marks the rows
that are tags (`RowByRow.java`), so one projection makes the tag or the dead letter of each record in one pass. A Python
function would be called with records that did not decode, so a transform with one gets only records without a fault.

`mode: realtime` rejects every other transform and names each operator: it has no second pass that could find two rows
of one record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.functions import FAULT
from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.steps.envelope import COORDINATES, KEPT, VALUE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_ROW_BY_ROW = frozenset({"Project", "Filter", "SubqueryAlias"})
"""Operators of Spark's plans that return at most one row per row."""
_NAMES: Mapping[str, str] = {
    "Aggregate": "an aggregation",
    "AsOfJoin": "a join",
    "Deduplicate": "dropDuplicates, which needs state",
    "DeduplicateWithinWatermark": "dropDuplicates, which needs state",
    "Distinct": "dropDuplicates, which needs state",
    "EventTimeWatermark": "a watermark, which only stateful operators use",
    "FlatMapGroupsWithState": "a stateful operator",
    "Generate": "a function that makes several rows of one, such as explode",
    "GlobalLimit": "a limit",
    "Join": "a join",
    "LocalLimit": "a limit",
    "Sort": "a sort",
    "Union": "a union",
    "Window": "a window function",
}
_HINTS = {
    "Join": "join with a reference of the pipeline: `references` and `enrich`; or set `mode: micro-batch`",
    "Python": "write it with the functions of pyspark.sql.functions; or set `mode: micro-batch`",
}
_HINT = "`select`, `withColumn` and `where` are supported; or set `mode: micro-batch`"


def is_row_by_row(before: DataFrame, after: DataFrame) -> bool:
    """Whether Spark's plan computes each row of `after` from one row of `before`, and no two from the same row.

    This is true if the plan between them has only projections and filters and `brokernat_src` is the same column. After
    joins, unions, generators and Python frames the caller must check for duplicates.
    """
    first, last = _analyzed(before), _analyzed(after)
    if _identity(first) != _identity(last):
        return False
    while not last.fastEquals(first):
        if last.nodeName() not in _ROW_BY_ROW:
            return False
        last = last.children().head()
    return True


def over_all(records: DataFrame, faultless: DataFrame, transformed: DataFrame) -> DataFrame | None:
    """Applies a row-by-row transform to all records without dropping any.

    Args:
        records: decoded and enriched records, each with its fault or null.
        faultless: the records without a fault, the input of the transform.
        transformed: the result of the transform.

    Returns:
        A row per record: the columns of `transformed`, `brokernat_fault`, `brokernat_value`, and `brokernat_kept`,
        which is true if the row is one of `transformed`. None if the transform has a Python function.
    """
    jvm: Any = records.sparkSession._jvm  # noqa: SLF001 - Python has no reader or writer of plans
    plans = (_analyzed(frame) for frame in (records, faultless, transformed))
    plan = jvm.io.brokernat.spark.RowByRow.over(*plans, FAULT, VALUE, KEPT)
    if plan is None:
        return None
    java = transformed._jdf  # noqa: SLF001
    companion = (
        java.getClass().getClassLoader().loadClass(f"{java.getClass().getName()}$").getField("MODULE$").get(None)
    )
    return type(transformed)(companion.ofRows(java.sparkSession(), plan), records.sparkSession)


def refuse_unsupported(before: DataFrame, after: DataFrame, *, transform: str) -> None:
    """Check that a transform has only projections and filters.

    Args:
        before: the input of the transform.
        after: the result of the transform.
        transform: its name, for messages.

    Raises:
        ConfigError: names every step that this mode does not support.
    """
    first, last = _analyzed(before), _analyzed(after)
    same_coordinates = _identity(first) == _identity(last)
    refused: dict[str, str] = {}
    while not last.fastEquals(first):
        refused |= _refused_of(last, before.sparkSession)
        if last.children().size() != 1:
            break
        last = last.children().head()
    if not refused and not same_coordinates:
        refused[f"an expression for `{COORDINATES}`"] = f"keep the column `{COORDINATES}` unchanged"
    if refused:
        messages = {
            f"transform `{transform}` holds {what}, which `mode: realtime` does not run": what for what in refused
        }
        raise ConfigError(*(Finding("not-realtime", message, refused[what]) for message, what in messages.items()))


def _refused_of(step: Any, spark: SparkSession) -> dict[str, str]:
    """The unsupported parts of a step of Spark's plan, each with its hint."""
    operator = step.nodeName()
    refused = {f"the Python function `{name}`": _HINTS["Python"] for name in _python_functions(step)}
    jvm: Any = spark._jvm  # noqa: SLF001 - Python has no reader of plans
    pattern = jvm.org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION()
    if any(expression.containsPattern(pattern) for expression in _elements(step.expressions())):
        refused["a subquery"] = _HINTS["Join"]
    if "Python" in operator or "Pandas" in operator or "MapInArrow" in operator:
        refused[f"Python code ({operator})"] = _HINTS["Python"]
    elif operator not in _ROW_BY_ROW:
        refused[_NAMES.get(operator, f"the operator {operator}")] = _HINTS.get(operator, _HINT)
    return refused


def _python_functions(step: Any) -> Iterator[str]:
    pending = list(_elements(step.expressions()))
    while pending:
        expression = pending.pop()
        if expression.getClass().getSimpleName().startswith("Python"):
            yield str(expression.name())
        pending.extend(_elements(expression.children()))


def _identity(plan: Any) -> int | None:
    """Spark's expression id of `brokernat_src`; a recomputed column has another one."""
    columns = (column for column in _elements(plan.output()) if column.name() == COORDINATES)
    return next((int(column.exprId().id()) for column in columns), None)


def _analyzed(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - Python has no reader of plans


def _elements(seq: Any) -> Iterator[Any]:
    return (seq.apply(index) for index in range(seq.size()))
