"""Waits for a streaming query, and turns its failure into one sentence with a hint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brokernat.errors import IncompleteError
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

POLL_SECONDS = 0.2
_NOTHING_IS_LOST = "nothing is lost: the batch is not committed, and the next start runs it again from the same offsets"
_HINTS = {
    re.compile("UnknownTopicOrPartition"): (
        "a topic is not there any more: `brokernat pipeline check` says which. For a new one of its name give the "
        "pipeline another `checkpoint`: the present one holds offsets of the topic that is gone"
    ),
    re.compile("KAFKA_DATA_LOSS|data may have been lost|OffsetOutOfRange"): (
        "the source does not have any more what the checkpoint would read next: retention has removed it, or somebody "
        "has made a topic again. To go on with what is there, give the pipeline another `checkpoint`; what is gone in "
        "between is lost"
    ),
}
"""By what Spark (4, 3.5) and Kafka's client say."""

_TRANSIENT = re.compile(
    r"(Timeout|Retriable|Disconnect|Network|Connect|Socket|BootstrapResolution|NotEnoughReplicas(AfterAppend)?|"
    r"NotLeaderOrFollower|(Leader|Broker|Coordinator|Replica|Offset|Registry)NotAvailable|CoordinatorLoadInProgress|"
    r"FencedLeaderEpoch|UnknownLeaderEpoch|KafkaStorage|ThrottlingQuotaExceeded)Exception\b"
)
"""Exceptions of Kafka, Java and ours, caused by brokers or a schema registry that are away or refuse for now."""


class TransientFailureError(IncompleteError):
    """The query failed because brokers or a registry were away or refused for now: another attempt may work."""


def has_ended(query: StreamingQuery) -> bool:
    """Waits 0.2 s and returns whether the query has ended.

    Raises:
        IncompleteError: Spark's JVM has ended.
        pyspark.errors.StreamingQueryException: the query failed; `query_failure` makes a message of it.
    """
    from py4j.protocol import Py4JNetworkError

    try:
        return bool(query.awaitTermination(POLL_SECONDS))  # type: ignore[arg-type]  # takes seconds as float
    except (Py4JNetworkError, OSError) as error:
        message = f"Spark's JVM has ended: {type(error).__name__}"
        raise IncompleteError(message, hint=_NOTHING_IS_LOST) from None


def batch_reports(query: StreamingQuery, after: int | None) -> list[Mapping[str, Any]]:
    """Spark's reports of the batches after that number, oldest first; Spark keeps the last hundred."""
    last = query.lastProgress
    if last is None or (after is not None and reported_batch(last) <= after):
        return []
    return [report for report in query.recentProgress if after is None or reported_batch(report) > after]


def reported_batch(report: Mapping[str, Any]) -> int:
    """The last batch that had ended when Spark made a report: while it waits for records, it gives the number of the
    next one, and gives that once more when it has run."""
    return int(report["batchId"]) - ("addBatch" not in report.get("durationMs", {}))


def activity(query: StreamingQuery) -> str | None:
    """What Spark does for the query, in its words; None while it waits for its next batch."""
    status = query.status
    return str(status["message"]) if status["isTriggerActive"] else None


def query_failure(error: BaseException) -> IncompleteError:
    """The error to raise for a failed query: its first cause in one line, and what to do."""
    cause = root_cause(error)
    if _TRANSIENT.match(cause):
        return TransientFailureError(f"the query failed: {cause}", hint=_NOTHING_IS_LOST)
    hint = next((hint for said, hint in _HINTS.items() if said.search(cause)), _NOTHING_IS_LOST)
    return IncompleteError(f"the query failed: {cause}", hint=hint)


def execution(query: StreamingQuery) -> Any:
    """Spark's `StreamExecution`."""
    return query._jsq.streamingQuery()  # noqa: SLF001 - Python has a part of it


def rows_read(query: StreamingQuery) -> int | None:
    """How many rows the present batch has read from its source, as Spark's scan counts them.

    A task that was tried again counts once; one in front of an exchange twice where its executor died later. None where
    that is none: Spark drops a scan whose rows it has no use for, and the reason may be that a step has lost them.
    """
    found = 0
    plans = [execution(query).lastExecution().executedPlan()]
    while plans:
        leaves = plans.pop().collectLeaves()
        for leaf in (leaves.apply(place) for place in range(leaves.size())):
            if inner := plan_inside(leaf):
                plans.append(inner)
            elif leaf.getClass().getSimpleName() == "MicroBatchScanExec":
                found += int(leaf.metrics().apply("numOutputRows").value())
    return found or None


def plan_inside(node: Any) -> Any | None:
    """The plan that a node of adaptive execution hides from whoever walks a physical plan; None of another node."""
    name = node.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        return node.executedPlan()
    return node.plan() if name.endswith("QueryStageExec") else None
