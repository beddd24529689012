"""Starts the query of a pipeline and follows it to its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import Role, client_properties, kafka_options
from brokernat.errors import BrokernatError, ConfigError, Finding
from brokernat.pipelines.batch import Batches, BatchReport, StoppedError
from brokernat.pipelines.checkpoint.committed import as_option, every_partition
from brokernat.pipelines.checkpoint.definition import definition
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.checkpoint.state import Owner, State, foreign
from brokernat.pipelines.kafka.admin import TopicFacts, Unseen, open_admin
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.query import activity, batch_reports, has_ended, query_failure
from brokernat.pipelines.realtime import EpochRun
from brokernat.pipelines.steps.source import read_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger(__name__)


class Run:
    """A running query. Call `poll` until it returns False. `stop` may be called from a signal handler."""

    def __init__(self, query: StreamingQuery, batches: Batches, stopping: threading.Event) -> None:
        self._query = query
        self._batches = batches
        self._stopping = stopping

    def stop(self) -> None:
        """Ends the query after the current batch."""
        self._stopping.set()

    def reports(self, after: int | None) -> list[Mapping[str, Any]]:
        """Spark's reports of the batches after that number."""
        return batch_reports(self._query, after)

    def activity(self) -> str | None:
        """What Spark does, None while it waits for its next batch."""
        return activity(self._query)

    def poll(self) -> bool:
        """Waits 0.2 s and returns whether the query still runs.

        Raises:
            BrokernatError: a step raised it.
            IncompleteError: the query failed; the message is its first cause in one line.
        """
        from pyspark.errors import StreamingQueryException

        try:
            if has_ended(self._query):
                return False
        except StreamingQueryException as error:
            self._raise_failure(error)
            return False
        if self._stopping.is_set() and not self._query.status["isTriggerActive"]:
            # Between two batches: nothing is cut short. A batch that begins right now refuses itself.
            self._query.stop()
            return False
        return True

    def _raise_failure(self, error: Exception) -> None:
        failure = self._batches.failure
        if isinstance(failure, StoppedError):
            return
        if isinstance(failure, BrokernatError):
            raise failure
        raise query_failure(failure or error)


def start(
    spark: SparkSession, prepared: Prepared, on_batch: Callable[[BatchReport], None], *, once: bool = False
) -> Run | EpochRun:
    """Starts the query.

    Args:
        spark: a session that was configured for the clusters.
        prepared: the pipeline.
        on_batch: is called after every written batch, in another thread.
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
    if pipeline.mode == "realtime":
        return EpochRun(spark, prepared, cluster_id, on_batch, starting=starting)
    stopping = threading.Event()
    batches = Batches(
        plan=prepared.plan(registers=True),
        cluster_id=cluster_id,
        references=prepared.references(),
        sink_options=kafka_options(prepared.sink, role=Role.SINK),
        stopping=stopping,
        on_batch=on_batch,
    )
    options = kafka_options(prepared.source, role=Role.SOURCE)
    stream = read_stream(spark, pipeline.source, options, starting=starting)
    writer = stream.writeStream.queryName(pipeline.name).option("checkpointLocation", pipeline.checkpoint)
    if once:
        writer = writer.trigger(availableNow=True)
    elif pipeline.trigger_interval:
        writer = writer.trigger(processingTime=pipeline.trigger_interval)
    return Run(writer.foreachBatch(batches).start(), batches, stopping)


def check_once(prepared: Prepared, *, once: bool) -> None:
    """Raise ConfigError where `once` is asked of a query that has no end of its own."""
    if once and prepared.pipeline.mode == "realtime":
        message = f"pipeline `{prepared.pipeline.name}` has `mode: realtime`, which reads until it is stopped"
        hint = "set `mode: micro-batch` to read what is there and end; both modes share the checkpoint"
        raise ConfigError(Finding("once-in-realtime", message, hint))


def starting_offsets(files: Files, state: State, topics: Mapping[str, TopicFacts | Unseen]) -> str | None:
    """Where a lost checkpoint is gone on, for Spark; None where the file says where to begin.

    Raises:
        ConfigError: the note is damaged.
    """
    noted = state.starting_offsets(files)
    if noted is None:
        return None
    partitions = {name: fact.partitions for name, fact in topics.items() if isinstance(fact, TopicFacts)}
    return as_option(every_partition(noted, partitions))


def claim(files: Files, state: State, owner: Owner) -> None:
    """Notes the owner in the checkpoint.

    Raises:
        ConfigError: it belongs to another pipeline or cluster, or to a deleted topic.
    """
    found = state.owner(files)
    if problems := foreign(found, owner):
        raise ConfigError(*problems)
    if found is not None:
        # A broker that does not tell an id does not take away what is known.
        owner = replace(owner, topic_ids={**found.topic_ids, **owner.topic_ids})
    if found != owner:
        state.claim(files, owner)
