"""Micro-batches in one pass: one query from source to sink, as somebody would write it by hand.

Spark reads, decodes, joins and writes a batch by one plan, and the sink tells when it begins and when all of it is
acknowledged (`BatchListener.java`). What may not begin is refused before a record of it is written: that is how a stop
never cuts a batch in two. What does not add up has been written and is not committed. A query holds its references in
its plan: where one has changed, the batch is refused as well, and a new query begins with the new version and the same
offsets.
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
    """A reference has another version than the query joins with; nothing of the batch was written."""


@dataclass
class OnePass(Listener):
    """The queries of a run, one at a time, and what their batches are told by."""

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
        """Starts a query over what the source gives; None where the transform is not known to work row by row.

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
        """Refuses a batch after a stop, with another version of a reference, or with one that is too old."""
        self._noting(self._refuse)

    def written(self, batch_id: int, rows: Mapping[str, int]) -> None:
        """Reports a batch that adds up."""
        self._noting(lambda: self._report(batch_id, Counts.of_outgoing(dict(rows))))

    def too_large(self, error: Exception) -> IncompleteError | None:
        """The error to raise where the query has failed because a record is too large; it names the largest."""
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
            raise StoppedError("a stop was asked for")
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
        """The source's records of the batch that is not committed."""
        begun = read_uncommitted(Files(self.spark), self.checkpoint)
        assert begun  # noqa: S101 - Spark notes the offsets before the batch begins
        return read_between(self.spark, self.source_options, begun)
