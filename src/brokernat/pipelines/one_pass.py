"""Micro-batches in one pass: one query from source to sink.

Spark reads, decodes, joins and writes a batch with one plan. The sink calls back before the first write and after the
last acknowledgement (`BatchListener.java`). After a stop, the first callback refuses the batch, so a stop never splits
a batch. A batch whose counts differ is written but not committed. The plan contains the references: when one has
changed, the batch is refused, and a new query starts with the new version at the same offsets.
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
from brokernat.pipelines.references.reference import ReferenceTable
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
    """What ended the query, as it was raised: Spark hands back only a text of it."""
    _joins: Sequence[Join] = field(default=(), init=False)
    _query: Future[StreamingQuery] = field(default_factory=Future, init=False)
    _began: float = field(default=0.0, init=False)
    _ends: ExitStack = field(default_factory=ExitStack, init=False)
    _looked_at: set[int] = field(default_factory=set, init=False)
    """The references, by their place, that a query has begun again for since the last batch. One that tells no version,
    or whose new one cannot be read, would refuse the same batch for ever."""

    def start(
        self, stream: DataFrame, configured: Callable[[DataStreamWriter], DataStreamWriter]
    ) -> StreamingQuery | None:
        """Starts a query; returns None if the transform is not known to work row by row.

        Args:
            stream: of the source.
            configured: gives a writer name, checkpoint and trigger.

        Raises:
            ConfigError: records have no column of a join's name; or several references cannot be used.
            UnusableReferenceError: one cannot be used.
        """
        from pyspark.errors import AnalysisException

        self.failure, self._query = None, Future()
        self._joins, _ = current_joins(self.plan, self.references, self.spark, hold=True)
        try:
            with ExitStack() as ends:
                rows = self._outgoing(stream)
                if rows is None:
                    return None
                options = producer_options(self.sink_options) | ends.enter_context(listening(self.spark, self))
                query = configured(rows.writeStream.format(SINK).options(**options)).start()
                self._ends = ends.pop_all()
        except (AnalysisException, TransformError):
            # A frame of a batch allows more than that of a stream: the transform may read it, or number its rows.
            if self.plan.transform is None:
                raise
            return None
        self._query.set_result(query)
        return query

    def ended(self) -> None:
        """To be called when the query has ended."""
        self._ends.close()

    def begins(self) -> None:
        """Raises for a batch after a stop, with another version of a reference, or with one that is too old."""
        self._noting(self._refuse)

    def written(self, batch_id: int, rows: Mapping[str, int]) -> None:
        """Checks and reports the counts of a written batch."""
        self._noting(lambda: self._report(batch_id, Counts.of_outgoing(dict(rows))))

    def too_large(self, error: Exception) -> IncompleteError | None:
        """The error for a query that failed because of too large records; names the largest."""
        return too_large_for_sink(error, lambda: self._outgoing(self._batch_again()))

    def _outgoing(self, records: DataFrame) -> DataFrame | None:
        envelope = envelop(records, self.cluster_id)
        return self.plan.outgoing(self.plan.decode_and_enrich(envelope, self._joins))

    def _noting(self, step: Callable[[], None]) -> None:
        try:
            step()
        except BaseException as error:
            self.failure = error
            raise

    def _refuse(self) -> None:
        self._began = time.monotonic()
        if self.stopping.is_set():
            raise StoppedError("a stop was requested")
        for place, table in enumerate(self.references):
            if place not in self._looked_at and table.has_changed(self.spark):
                self._looked_at.add(place)
                raise ChangedReferenceError(f"reference `{table.name}` has changed")
            table.check_age()
        self._looked_at.clear()

    def _report(self, batch_id: int, counts: Counts) -> None:
        check_received(
            rows_read(self._query.result()), counts.received, lambda: self._batch_again().count(), written=True
        )
        versions = {table.name: table.version for table in self.references}
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - self._began, versions))

    def _batch_again(self) -> DataFrame:
        """The source records of the uncommitted batch."""
        begun = read_uncommitted(Files(self.spark), self.checkpoint)
        assert begun  # noqa: S101 - Spark notes the offsets before the batch begins
        return read_between(self.spark, self.source_options, begun)
