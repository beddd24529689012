"""`mode: realtime`: Spark's Real-Time Mode (4.1 and newer), where each record is written when it arrives.

One task per partition reads for one epoch, which is a long batch; at its end Spark writes offsets and commit and starts
the next. There is no `foreachBatch`, no second pass and no Python. The projection counts records (`observe`), and the
counts are compared after the epoch. So, unlike a micro-batch, an epoch whose counts differ is already written and
committed when the run stops.

The references are a part of the query's plan and cannot change while it runs: when one changes, the query stops at the
end of its epoch and restarts with the new version.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import Role, kafka_options
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, IncompleteError
from brokernat.pipelines.batch import BatchReport, current_joins
from brokernat.pipelines.checkpoint.committed import uncommitted
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.query import (
    activity,
    batch_reports,
    execution,
    has_ended,
    query_failure,
    reported_batch,
    stop_query,
)
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.steps.counting import Counts, count_outgoing, count_rows
from brokernat.pipelines.steps.envelope import envelop
from brokernat.pipelines.steps.plan import Join, Plan, without_fault
from brokernat.pipelines.steps.row_by_row import refuse_unsupported
from brokernat.pipelines.steps.sink import producer_options, with_source_headers
from brokernat.pipelines.steps.source import read_stream, source_options
from brokernat.text import counted, seconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_RECEIVED, _LEAVING = "brokernat_received", "brokernat_leaving"
_UNKNOWN = -1
"""The number of rows that Spark reports for a sink without a count."""
_REFERENCE_CHECK_SECONDS = 2.0
"""The time between two checks of references for changes; a longer `refresh` applies instead."""
_JOIN_MILLISECONDS = 200
_EPOCH_END_SECONDS = 1.0
"""Seconds before and after the planned end of an epoch in which it may end at any moment."""
PRODUCER_SETTINGS: Mapping[str, str] = {"linger.ms": "5"}
"""What this mode sets in addition to the cluster's profile; 5 ms is Kafka's default since 4.0 (KIP-1030). With 0 nearly
each record is a request of its own, and so many requests slow the broker down more than a wait of 5 ms does."""


def outgoing(plan: Plan, envelope: DataFrame, joins: Sequence[Join]) -> DataFrame:
    """The rows for the Kafka sink: the tag or dead letter of each record that is not filtered.

    Raises:
        ConfigError: the transform has a step that this mode does not support.
        TransformError: see `Transform`.
    """
    from pyspark.sql import functions as F  # noqa: N812

    # The broadcast hint is needed even for a large table, because this mode supports no other join.
    broadcast = [replace(join, frame=F.broadcast(join.frame)) for join in joins]
    records = plan.decode_and_enrich(count_rows(envelope, _RECEIVED), broadcast)
    transformed = plan.transformed(records)
    if plan.transform:
        refuse_unsupported(without_fault(records), transformed, transform=plan.transform.name)
    rows = plan.outgoing(records, transformed)
    assert rows is not None  # noqa: S101 - a transform that is not row by row was refused
    return count_outgoing(rows, _LEAVING).where("topic IS NOT NULL")


def slots(spark: SparkSession) -> int:
    """How many tasks the registered executors can run at once."""
    context: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001 - spark.default.parallelism overrides the count that Python has
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


def lack_of_slots(partitions: int, available: int) -> Finding | None:
    """The problem if a source has more partitions than task slots: a task reads its partition until the epoch ends."""
    if partitions <= available:
        return None
    message = (
        f"`mode: realtime` needs a task slot for each partition: the source has {counted(partitions, 'partition')}, "
        f"Spark runs {counted(available, 'task')} at once"
    )
    hint = f"give the application {partitions} cores (`--master 'local[{partitions}]'` on one machine)"
    return Finding("too-few-slots", message, hint)


class EpochRun:
    """A running pipeline. Call `poll` until it returns False. `stop` may be called from a signal handler."""

    def __init__(
        self,
        spark: SparkSession,
        prepared: Prepared,
        cluster_id: str,
        references: Sequence[ReferenceTable],
        on_batch: Callable[[BatchReport], None],
        *,
        starting: str | None = None,
    ) -> None:
        """Starts the query; see `read_stream` for `starting`.

        Raises:
            ConfigError: the source has more partitions than there are task slots, or a step does not fit.
        """
        self._spark = spark
        self._prepared = prepared
        self._cluster_id = cluster_id
        self._on_batch = on_batch
        self._starting = starting
        self._plan = prepared.plan(registers=True)
        self._references = references
        self._stopping = threading.Event()
        self._reported: int | None = None
        self._partitions = 0
        self._outdated = False
        self._ending = False
        self._references_checked_at = time.monotonic()
        _remove_uncommitted(Files(spark), prepared.pipeline.checkpoint)
        self._query = self._start()

    def stop(self) -> None:
        """Ends the query at the end of its epoch."""
        self._stopping.set()

    def reports(self, after: int | None) -> list[Mapping[str, Any]]:
        """Spark's reports of the epochs after that number."""
        return batch_reports(self._query, after)

    def activity(self) -> str | None:
        """Spark's status text, None between two epochs."""
        return activity(self._query)

    def poll(self) -> bool:
        """Waits 0.2 s and returns whether the query still runs.

        Raises:
            IncompleteError: the query failed, or the counts of an epoch differ.
            ConfigError: partitions were added to the source, and there are not enough task slots for them.
            StaleReferenceError: a reference is older than its `max_age`.
        """
        from pyspark.errors import StreamingQueryException

        try:
            ended = _thread_has_ended(self._query)
        except StreamingQueryException as error:
            raise query_failure(error) from None
        try:
            self._report_epochs()
        except BaseException:
            stop_query(self._query)
            raise
        if ended and (self._stopping.is_set() or not self._ending):
            return False
        if ended:
            self._query = self._start()
        elif not self._ending:
            self._outdated = self._outdated or self._references_changed()
            if self._outdated or self._stopping.is_set():
                self._ending = end_with_epoch(self._query, seconds(self._prepared.pipeline.epoch))
        return True

    def _start(self) -> StreamingQuery:
        pipeline, sink = self._prepared.pipeline, self._prepared.sink
        self._outdated = self._ending = False
        joins, _ = current_joins(self._plan, self._references, self._spark, hold=True)
        options = source_options(self._prepared.source)
        stream = read_stream(self._spark, pipeline.source, options, starting=self._starting, whole=True)
        rows = outgoing(self._plan, envelop(stream, self._cluster_id), joins)
        # This mode supports only Spark's own sinks.
        writer = with_source_headers(rows).writeStream.format("kafka").options(**producer_options(sink_options(sink)))
        writer = writer.queryName(pipeline.name).option("checkpointLocation", pipeline.checkpoint)
        # PySpark's overloads do not name this trigger.
        query: StreamingQuery = writer.outputMode("update").trigger(realTime=pipeline.epoch).start()  # type: ignore[call-overload]
        return query

    def _report_epochs(self) -> None:
        reports = batch_reports(self._query, self._reported)
        for report in reports:
            self._report(report)
        for table in self._references if reports else ():
            table.check_age()

    def _report(self, progress: Mapping[str, Any]) -> None:
        epoch = self._reported = reported_batch(progress)
        counts = epoch_counts(progress)
        if counts.received:
            took = progress["durationMs"]["triggerExecution"] / 1000
            versions = {table.name: table.version for table in self._references}
            self._on_batch(BatchReport(epoch, counts, took, versions))
        partitions, before = partitions_of(progress), self._partitions
        self._partitions = partitions
        # Only for new partitions: the slots of a lost executor come back, but nothing adds slots for new partitions.
        if before and partitions > before and (problem := lack_of_slots(partitions, slots(self._spark))):
            raise ConfigError(problem)

    def _references_changed(self) -> bool:
        if time.monotonic() - self._references_checked_at < _REFERENCE_CHECK_SECONDS:
            return False
        self._references_checked_at = time.monotonic()
        return any(table.has_changed(self._spark) for table in self._references)


def sink_options(sink: Cluster) -> dict[str, str]:
    """The options of the sink, with those of this mode; the cluster's `client` overrides them."""
    of_mode = {f"kafka.{name}": value for name, value in PRODUCER_SETTINGS.items() if name not in sink.client}
    return {**kafka_options(sink, role=Role.SINK), **of_mode}


def epoch_counts(progress: Mapping[str, Any]) -> Counts:
    """The counts of an epoch from Spark's report.

    Raises:
        IncompleteError: *in = tags + dead letters + filtered* is not true.
    """
    found = {name: row.asDict() for name, row in progress["observedMetrics"].items()}
    # Spark reports no metrics of a plan that it knows to be empty.
    received, counts = found.get(_RECEIVED, {"rows": 0})["rows"], Counts.of_outgoing(found.get(_LEAVING, {}))
    written = progress["sink"]["numOutputRows"]
    if received != counts.received or written not in (counts.tags + counts.dead_letters, _UNKNOWN):
        raise IncompleteError(
            f"epoch {progress['batchId']}: {counted(received, 'record')} received, {counts.received} processed, "
            f"{written} written ({counts})",
            hint="the epoch is committed: `brokernat pipeline reconcile` lists missing and duplicate records; "
            "please report this",
        )
    return counts


def partitions_of(progress: Mapping[str, Any]) -> int:
    """How many partitions an epoch has read."""
    ends = (source["endOffset"] for source in progress["sources"])
    topics = [json.loads(end) if isinstance(end, str) else end for end in ends]
    return sum(len(partitions) for topic in topics for partitions in (topic or {}).values())


def end_with_epoch(query: StreamingQuery, epoch: float) -> bool:
    """Stops the query at the end of its epoch. Returns False if no epoch is running; the caller must then retry.

    `StreamingQuery.stop` interrupts the epoch, and the next start would write its records again. Spark's own
    MicroBatchExecution ends a query after a batch by this state (for `availableNow`); Python has no call for it. Where
    the state changes between two epochs, Spark interrupts its own thread just before the next epoch. It still starts
    the tasks of that epoch, and they write records that are never committed.

    Args:
        epoch: seconds.
    """
    from pyspark.sql import SparkSession

    context: Any = SparkSession.active().sparkContext
    jobs = context.statusTracker().getJobIdsForGroup(str(query.runId))
    if not jobs:
        return False
    job = context._jsc.sc().statusStore().job(max(jobs))  # noqa: SLF001 - Python has no start time of a job
    left = job.submissionTime().get().getTime() / 1000 + epoch - time.time()
    if str(job.status()) != "RUNNING" or abs(left) < _EPOCH_END_SECONDS:
        return False
    package: Any = context._jvm.org.apache.spark.sql.execution.streaming.runtime  # noqa: SLF001
    execution(query).state().set(getattr(getattr(package, "TERMINATED$"), "MODULE$"))
    return True


def _thread_has_ended(query: StreamingQuery) -> bool:
    """Waits up to 0.4 s and returns whether the query has ended; raises as `has_ended` does."""
    if not has_ended(query):
        return False
    # After `end_with_epoch` Spark reports that the query has ended, while its epoch still runs.
    thread = execution(query).queryExecutionThread()
    thread.join(_JOIN_MILLISECONDS)
    return not thread.isAlive() and has_ended(query)


def _remove_uncommitted(files: Files, checkpoint: str) -> None:
    """Removes the offsets of an uncommitted batch, which a crash or micro-batch mode has left.

    Real-Time Mode writes the offsets of an epoch at its end and fails if the file exists
    (`concurrentStreamLogUpdate`). The records are read again from the end of the last committed batch.
    """
    for path in uncommitted(files, checkpoint):
        files.remove(path)
