"""Micro-batches in one pass: one query from source to sink.

Spark reads, decodes, joins and writes a batch with one plan. The sink calls back before the first write and after the
last acknowledgement (`BatchListener.java`). After a stop, the first callback rejects the batch, so a stop never splits
a batch. A batch whose counts differ is written but not committed. The plan contains the references: when one has
changed, the batch is rejected, and a new query starts with the new version at the same offsets.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.errors import BrokernatError, IncompleteError
from brokernat.pipelines.batch import BatchReport, StoppedError, current_joins
from brokernat.pipelines.checkpoint.committed import read_uncommitted
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.query import rows_read
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.steps.counting import Counts, check_received
from brokernat.pipelines.steps.envelope import envelop
from brokernat.pipelines.steps.plan import Join, Plan
from brokernat.pipelines.steps.sink import SINK, Listener, listening, producer_options, too_large_for_sink
from brokernat.pipelines.steps.source import read_between
from brokernat.pipelines.steps.transform import TransformError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class ChangedReferenceError(BrokernatError):
    """A reference has a newer version than the query uses; nothing of the batch was written."""


@dataclass
class OnePass(Listener):
    """The queries of a run, one at a time, and the listener of their batches."""

    spark: SparkSession
    plan: Plan
    cluster_id: str
    checkpoint: str
    references: Sequence[ReferenceTable]
    source_options: Mapping[str, str] = field(repr=False)
    sink_options: Mapping[str, str] = field(repr=False)
    stopping: threading.Event
    on_batch: Callable[[BatchReport], None]
    failure: BaseException | None = field(default=None, init=False)
    """The exception that ended the query; Spark returns only its text."""
    _joins: Sequence[Join] = field(default=(), init=False)
    _query: Future[StreamingQuery] = field(default_factory=Future, init=False)
    _began: float = field(default=0.0, init=False)
    _cleanup: ExitStack = field(default_factory=ExitStack, init=False)
    _restarted_for: set[int] = field(default_factory=set, init=False)
    """Indexes of the references for which the query was restarted since the last batch. Each restarts it only once: a
    reference without a version, or with a new version that cannot be read, would reject the same batch forever."""

    def start(
        self, stream: DataFrame, configured: Callable[[DataStreamWriter], DataStreamWriter]
    ) -> StreamingQuery | None:
        """Starts a query; returns None if the transform is not known to work row by row.

        Args:
            stream: the records of the source.
            configured: sets the name, the checkpoint and the trigger of a writer.

        Raises:
            ConfigError: records have no column of a join's name; or several references cannot be used.
            UnusableReferenceError: one reference cannot be used.
        """
        from pyspark.errors import AnalysisException

        self.failure, self._query = None, Future()
        self._joins, _ = current_joins(self.plan, self.references, self.spark, hold=True)
        try:
            with ExitStack() as cleanup:
                rows = self._outgoing(stream)
                if rows is None:
                    return None
                options = producer_options(self.sink_options) | cleanup.enter_context(listening(self.spark, self))
                query = configured(rows.writeStream.format(SINK).options(**options)).start()
                self._cleanup = cleanup.pop_all()
        except (AnalysisException, TransformError):
            # Such a transform may still work batch by batch: it may collect a batch or number its rows, not a stream.
            if self.plan.transform is None:
                raise
            return None
        self._query.set_result(query)
        return query

    def ended(self) -> None:
        """Must be called when the query has ended."""
        self._cleanup.close()

    def begins(self) -> None:
        """Raises for a batch after a stop, with another version of a reference, or with one that is too old."""
        self._keeping_failure(self._check_before_batch)

    def written(self, batch_id: int, rows: Mapping[str, int]) -> None:
        """Checks and reports the counts of a written batch."""
        self._keeping_failure(lambda: self._report(batch_id, Counts.of_outgoing(dict(rows))))

    def too_large(self, error: Exception) -> IncompleteError | None:
        """The error for a query that failed because records were too large; it names the largest."""
        return too_large_for_sink(error, lambda: self._outgoing(self._batch_again()))

    def _outgoing(self, records: DataFrame) -> DataFrame | None:
        envelope = envelop(records, self.cluster_id)
        return self.plan.outgoing(self.plan.decode_and_enrich(envelope, self._joins))

    def _keeping_failure(self, step: Callable[[], None]) -> None:
        try:
            step()
        except BaseException as error:
            self.failure = error
            raise

    def _check_before_batch(self) -> None:
        self._began = time.monotonic()
        if self.stopping.is_set():
            raise StoppedError("a stop was requested")
        for index, table in enumerate(self.references):
            if index not in self._restarted_for and table.has_changed(self.spark):
                self._restarted_for.add(index)
                raise ChangedReferenceError(f"reference `{table.name}` has changed")
            table.check_age()
        self._restarted_for.clear()

    def _report(self, batch_id: int, counts: Counts) -> None:
        check_received(
            rows_read(self._query.result()), counts.received, lambda: self._batch_again().count(), written=True
        )
        versions = {table.name: table.version for table in self.references}
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - self._began, versions))

    def _batch_again(self) -> DataFrame:
        """The source records of the uncommitted batch."""
        uncommitted = read_uncommitted(Files(self.spark), self.checkpoint)
        assert uncommitted  # noqa: S101 - Spark writes the offsets before the batch starts
        return read_between(self.spark, self.source_options, uncommitted)
