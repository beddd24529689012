"""Starts the query of a pipeline and follows it to its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import Role, client_properties, kafka_options
from brokernat.errors import BrokernatError, ConfigError, Finding
from brokernat.pipelines.batch import Batches, BatchReport, StoppedError
from brokernat.pipelines.checkpoint.committed import as_option, every_partition
from brokernat.pipelines.checkpoint.definition import definition
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.checkpoint.state import Owner, State, foreign
from brokernat.pipelines.kafka.admin import TopicFacts, Unseen, open_admin
from brokernat.pipelines.one_pass import ChangedReferenceError, OnePass
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.query import activity, batch_reports, has_ended, is_idle, query_failure, stop_query
from brokernat.pipelines.realtime import EpochRun
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.steps.source import read_stream, source_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

log = logging.getLogger(__name__)


class Run:
    """A query that runs. Call `poll` until it returns False. `stop` may be called from a signal handler."""

    def __init__(
        self,
        one_pass: OnePass,
        batches: Batches,
        stream: Callable[[], DataFrame],
        configured: Callable[[DataStreamWriter], DataStreamWriter],
    ) -> None:
        self._one_pass = one_pass
        self._batches = batches
        self._stream = stream
        self._configured = configured
        self._stopping = one_pass.stopping
        self._query = self._start()

    def _start(self) -> StreamingQuery:
        stream = self._stream()
        if query := self._one_pass.start(stream, self._configured):
            return query
        query = self._configured(stream.writeStream).foreachBatch(self._batches).start()
        self._batches.query.set_result(query)
        return query

    def stop(self) -> None:
        """Ends the query after the current batch."""
        self._stopping.set()

    def reports(self, after: int | None) -> list[Mapping[str, Any]]:
        """Spark's reports of the batches after that number."""
        return batch_reports(self._query, after)

    def activity(self) -> str | None:
        """Spark's status text, None while it waits for the next batch."""
        return activity(self._query)

    def poll(self) -> bool:
        """Waits 0.2 s and returns whether the query still runs.

        Raises:
            BrokernatError: a step raised this error.
            IncompleteError: the query failed; the message is its root cause in one line.
        """
        from pyspark.errors import StreamingQueryException

        try:
            if has_ended(self._query):
                self._one_pass.ended()
                return False
        except StreamingQueryException as error:
            self._one_pass.ended()
            return self._restarted(error)
        if self._stopping.is_set() and is_idle(self._query):
            # No batch is running, so none is interrupted. A batch that starts now is rejected before its first write.
            stop_query(self._query)
            self._one_pass.ended()
            return False
        return True

    def _restarted(self, error: Exception) -> bool:
        """Restarts a failed query where that is intended; returns whether it did."""
        failure = self._one_pass.failure or self._batches.failure
        if isinstance(failure, StoppedError):
            return False
        if isinstance(failure, ChangedReferenceError):
            self._query = self._start()
            return True
        if isinstance(failure, BrokernatError):
            raise failure
        raise self._one_pass.too_large(error) or query_failure(failure or error)


def start(
    spark: SparkSession,
    prepared: Prepared,
    on_batch: Callable[[BatchReport], None],
    *,
    references: Sequence[ReferenceTable] | None = None,
    once: bool = False,
) -> Run | EpochRun:
    """Starts the query.

    Args:
        spark: a session that was configured for the clusters.
        prepared: the pipeline.
        on_batch: is called after every written batch, in another thread.
        references: the pipeline's, if they have been read already.
        once: read the current content of the source, then end.

    Raises:
        ConfigError: the checkpoint belongs to another pipeline or cluster, or to a deleted topic; or the pipeline's
            mode does not fit.
        NothingReachableError: the source cluster does not answer.
    """
    pipeline = prepared.pipeline
    check_once(prepared, once=once)
    with open_admin(spark, client_properties(prepared.source), prepared.source.name) as admin:
        cluster_id = admin.cluster_id()
        topics = admin.topics(pipeline.source.topics)
    files = Files(spark)
    claim(files, prepared.state, prepared.owner(cluster_id, topics))
    prepared.state.define(files, definition(prepared))
    starting = starting_offsets(files, prepared.state, topics)
    references = prepared.references() if references is None else references
    if pipeline.mode == "realtime":
        return EpochRun(spark, prepared, cluster_id, references, on_batch, starting=starting)
    stopping = threading.Event()
    plan = prepared.plan(registers=True)
    options, sink_options = source_options(prepared.source), kafka_options(prepared.sink, role=Role.SINK)

    def configured(writer: DataStreamWriter) -> DataStreamWriter:
        writer = writer.queryName(pipeline.name).option("checkpointLocation", pipeline.checkpoint)
        if once:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=pipeline.trigger_interval) if pipeline.trigger_interval else writer

    one_pass = OnePass(
        spark, plan, cluster_id, pipeline.checkpoint, references, options, sink_options, stopping, on_batch
    )
    batches = Batches(plan, cluster_id, references, sink_options, stopping, on_batch)
    stream = partial(read_stream, spark, pipeline.source, options, starting=starting)
    return Run(one_pass, batches, stream, configured)


def check_once(prepared: Prepared, *, once: bool) -> None:
    """Raise ConfigError for `once` with `mode: realtime`, which has no end."""
    if once and prepared.pipeline.mode == "realtime":
        message = f"pipeline `{prepared.pipeline.name}` has `mode: realtime`, which reads until it is stopped"
        hint = "set `mode: micro-batch` to read the present records and exit; both modes share the checkpoint"
        raise ConfigError(Finding("once-in-realtime", message, hint))


def starting_offsets(files: Files, state: State, topics: Mapping[str, TopicFacts | Unseen]) -> str | None:
    """The start offsets after a lost checkpoint, as Spark's option; None without any.

    Raises:
        ConfigError: the file is damaged.
    """
    stored = state.starting_offsets(files)
    if stored is None:
        return None
    partitions = {name: fact.partitions for name, fact in topics.items() if isinstance(fact, TopicFacts)}
    return as_option(every_partition(stored, partitions))


def claim(files: Files, state: State, owner: Owner) -> None:
    """Stores the owner in the checkpoint.

    Raises:
        ConfigError: it belongs to another pipeline or cluster, or to a deleted topic.
    """
    stored = state.owner(files)
    if problems := foreign(stored, owner):
        raise ConfigError(*problems)
    if stored is not None:
        # Keep the known ids of topics for which the broker does not report one.
        owner = replace(owner, topic_ids={**stored.topic_ids, **owner.topic_ids})
    if stored != owner:
        state.claim(files, owner)
