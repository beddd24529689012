"""Which transforms `mode: realtime` refuses: all but projections and filters, each operator by its name.

Real-Time Mode reads its source once, writes each row as it comes, and has no second pass: a transform that makes two
rows of one record could not be found out in time. So its plan has to show that it makes at most one row of each record
(`row_by_row.py` then applies it to all records, dead letters included).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.steps.envelope import COORDINATES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STEPS = frozenset({"Project", "Filter", "SubqueryAlias"})
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
    elif operator not in _STEPS:
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
    """The id of `brokernat_src`; a column that was computed anew has another."""
    return next((int(one.exprId().id()) for one in _each(plan.output()) if one.name() == COORDINATES), None)


def _analyzed(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - Python has no reader of plans


def _each(seq: Any) -> Iterator[Any]:
    return (seq.apply(place) for place in range(seq.size()))
