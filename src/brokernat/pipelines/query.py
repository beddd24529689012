"""Waits for a streaming query, and reports its failure in one sentence with a hint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brokernat.errors import IncompleteError
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

POLL_SECONDS = 0.2
_GETTING_OFFSETS = "Getting offsets from "
"""The status text of Spark's `MicroBatchExecution` before a batch."""
_NO_RECORD_IS_LOST = (
    "no record is lost: the batch is not committed, and the next start runs it again from the same offsets"
)
_HINTS = {
    re.compile("UnknownTopicOrPartition"): (
        "a topic does not exist any more: `brokernat pipeline check` prints its name. If it was recreated, set another "
        "`checkpoint`: the present one has offsets of the deleted topic"
    ),
    re.compile("KAFKA_DATA_LOSS|data may have been lost|OffsetOutOfRange"): (
        "the source has removed the records after the checkpoint: retention deleted them, or a topic was recreated. To "
        "continue with the present records, move the checkpoint away and run `brokernat pipeline reconcile NAME "
        "--propose-offsets --write`; the removed records are lost"
    ),
}
"""Hints by a part of the error message of Spark 3.5, Spark 4 or Kafka's client."""

_TRANSIENT = re.compile(
    r"(Timeout|Retriable|Disconnect|Network|Connect|Socket|BootstrapResolution|NotEnoughReplicas(AfterAppend)?|"
    r"NotLeaderOrFollower|(Leader|Broker|Coordinator|Replica|Offset|Registry)NotAvailable|CoordinatorLoadInProgress|"
    r"FencedLeaderEpoch|UnknownLeaderEpoch|KafkaStorage|ThrottlingQuotaExceeded)Exception\b"
)
"""Exceptions of Kafka, Java and brokernat that a retry may fix: brokers or a schema registry are unavailable."""


class TransientFailureError(IncompleteError):
    """The query failed because brokers or a registry were temporarily unavailable: a retry may succeed."""


def has_ended(query: StreamingQuery) -> bool:
    """Waits 0.2 s and returns whether the query has ended.

    Raises:
        IncompleteError: Spark's JVM has ended.
        pyspark.errors.StreamingQueryException: the query failed; `query_failure` returns its message.
    """
    from py4j.protocol import Py4JNetworkError

    try:
        return bool(query.awaitTermination(POLL_SECONDS))  # type: ignore[arg-type]  # takes seconds as float
    except (Py4JNetworkError, OSError) as error:
        message = f"Spark's JVM has ended: {type(error).__name__}"
        raise IncompleteError(message, hint=_NO_RECORD_IS_LOST) from None


def batch_reports(query: StreamingQuery, after: int | None) -> list[Mapping[str, Any]]:
    """Spark's reports of the batches after that number, oldest first; Spark keeps the last hundred."""
    last = query.lastProgress
    if last is None or (after is not None and reported_batch(last) <= after):
        return []
    return [report for report in query.recentProgress if after is None or reported_batch(report) > after]


def reported_batch(report: Mapping[str, Any]) -> int:
    """The last batch that had ended when Spark made a report.

    While Spark waits for records, it reports the number of the next batch, and the same number after that batch.
    """
    return int(report["batchId"]) - ("addBatch" not in report.get("durationMs", {}))


def activity(query: StreamingQuery) -> str | None:
    """Spark's status text of the query; None while it waits for the next batch."""
    status = query.status
    return str(status["message"]) if status["isTriggerActive"] else None


def is_idle(query: StreamingQuery) -> bool:
    """Whether no batch runs: Spark waits for the next one, or for the source's offsets, which brokers that are away do
    not send.
    """
    status = query.status
    return not status["isTriggerActive"] or str(status["message"]).startswith(_GETTING_OFFSETS)


def stop_query(query: StreamingQuery) -> None:
    """Stops a query of which no batch has to finish. Its Kafka client would wait a minute for brokers that are away, so
    Spark waits only for its `stopTimeout`.
    """
    from py4j.protocol import Py4JJavaError

    try:
        query.stop()
    except Py4JJavaError as error:
        if not error.java_exception.getClass().getName().endswith("TimeoutException"):
            raise


def query_failure(error: BaseException) -> IncompleteError:
    """The error to raise for a failed query: its root cause in one line, with a hint."""
    cause = root_cause(error)
    if _TRANSIENT.match(cause):
        return TransientFailureError(f"the query failed: {cause}", hint=_NO_RECORD_IS_LOST)
    hint = next((hint for pattern, hint in _HINTS.items() if pattern.search(cause)), _NO_RECORD_IS_LOST)
    return IncompleteError(f"the query failed: {cause}", hint=hint)


def execution(query: StreamingQuery) -> Any:
    """Spark's `StreamExecution`."""
    return query._jsq.streamingQuery()  # noqa: SLF001 - PySpark's object has only a part of it


def rows_read(query: StreamingQuery) -> int | None:
    """How many rows the current batch has read from its source, as Spark's scan counts them.

    A retried task counts once. A task before an exchange counts twice if its executor was lost after it. None if the
    plan has no scan: Spark removes a scan whose rows no step needs, which may be an error of a step.
    """
    rows = 0
    plans = [execution(query).lastExecution().executedPlan()]
    while plans:
        leaves = plans.pop().collectLeaves()
        for leaf in (leaves.apply(index) for index in range(leaves.size())):
            if inner := _plan_inside(leaf):
                plans.append(inner)
            elif leaf.getClass().getSimpleName() == "MicroBatchScanExec":
                rows += int(leaf.metrics().apply("numOutputRows").value())
    return rows or None


def _plan_inside(node: Any) -> Any | None:
    """The plan inside a node of adaptive execution; None for other nodes."""
    name = node.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        return node.executedPlan()
    return node.plan() if name.endswith("QueryStageExec") else None
