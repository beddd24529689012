"""Transforms that work row by row, as Spark's plan shows: nothing is kept or read twice for them.

Most transforms are projections and filters. Such a one is applied to all records, a column telling which rows are tags
(`RowByRow.java`), so that one projection makes the tag or the dead letter of each record in one pass. A Python function
in it would be called with records that did not decode, so such a transform gets the records without a fault alone.

`mode: realtime` refuses every other transform, each operator by its name: it reads its source once, writes each row as
it comes, and has no second pass in which two rows of one record could be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.steps.envelope import COORDINATES, FAULT, KEPT, VALUE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_ROW_BY_ROW = frozenset({"Project", "Filter", "SubqueryAlias"})
"""Steps of Spark's plans that make at most one row of each row."""
_NAMES: Mapping[str, str] = {
    "Aggregate": "an aggregation",
    "AsOfJoin": "a join",
    "Deduplicate": "the removal of duplicates, which needs state",
    "DeduplicateWithinWatermark": "the removal of duplicates, which needs state",
    "Distinct": "the removal of duplicates, which needs state",
    "EventTimeWatermark": "a watermark, which serves stateful operators only",
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


def refuse_unsupported(before: DataFrame, after: DataFrame, *, transform: str) -> None:
    """Do nothing where a transform is made of projections and filters.

    Args:
        before: the records that the transform got.
        after: what it returned.
        transform: its name, for messages.

    Raises:
        ConfigError: names every step that this mode does not run.
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
        refused[f"an expression for `{COORDINATES}`"] = f"keep the column `{COORDINATES}` as it is"
    if refused:
        messages = {
            f"transform `{transform}` holds {what}, which `mode: realtime` does not run": what for what in refused
        }
        raise ConfigError(*(Finding("not-realtime", message, refused[what]) for message, what in messages.items()))


def _refused_of(step: Any, spark: SparkSession) -> dict[str, str]:
    """What is refused of a step of Spark's plan, each with its hint."""
    operator = step.nodeName()
    refused = {f"the Python function `{name}`": _HINTS["Python"] for name in _python_functions(step)}
    jvm: Any = spark._jvm  # noqa: SLF001 - Python has no reader of plans
    pattern = jvm.org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION()
    if any(expression.containsPattern(pattern) for expression in _each(step.expressions())):
        refused["a subquery"] = _HINTS["Join"]
    if "Python" in operator or "Pandas" in operator or "MapInArrow" in operator:
        refused[f"Python code ({operator})"] = _HINTS["Python"]
    elif operator not in _ROW_BY_ROW:
        refused[_NAMES.get(operator, f"the operator {operator}")] = _HINTS.get(operator, _HINT)
    return refused


def _python_functions(step: Any) -> Iterator[str]:
    pending = list(_each(step.expressions()))
    while pending:
        expression = pending.pop()
        if expression.getClass().getSimpleName().startswith("Python"):
            yield str(expression.name())
        pending.extend(_each(expression.children()))


def _identity(plan: Any) -> int | None:
    """The id that Spark gives `brokernat_src` when it is made; a column that was computed anew has another."""
    return next((int(one.exprId().id()) for one in _each(plan.output()) if one.name() == COORDINATES), None)


def _analyzed(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - Python has no reader of plans


def _each(seq: Any) -> Iterator[Any]:
    return (seq.apply(place) for place in range(seq.size()))
