"""Micro-batches with any transform: its input and output are cached and counted before the batch is written.

A transform that is not only projections and filters may duplicate records, be slow (Python), or return other rows at
each call. So its input and output are persisted (memory, then disk), and a batch whose counts differ is not written.
Spark calls this with each micro-batch and commits its offsets when it returns. An exception leaves the batch
uncommitted, and the next start runs it again with the same offsets. Every other pipeline runs in one pass
(`one_pass.py`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.errors import BrokernatError, ConfigError, Finding
from brokernat.pipelines.query import rows_read
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.references.source import UnusableReferenceError
from brokernat.pipelines.steps.counting import (
    Counts,
    check_received,
    count_faults,
    count_transformed,
)
from brokernat.pipelines.steps.envelope import envelop
from brokernat.pipelines.steps.plan import Join, Plan, without_fault
from brokernat.pipelines.steps.row_by_row import is_row_by_row
from brokernat.pipelines.steps.sink import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger(__name__)


class StoppedError(BrokernatError):
    """Spark offered a batch after `stop`; nothing of it was read."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """A written batch: its id, its counts, its duration in seconds, and the versions of the references by name."""

    batch_id: int
    counts: Counts
    seconds: float
    versions: Mapping[str, ReferenceVersion]


@dataclass
class Batches:
    """The function that Spark's `foreachBatch` calls."""

    plan: Plan
    cluster_id: str
    references: Sequence[ReferenceTable]
    sink_options: Mapping[str, str] = field(repr=False)
    stopping: threading.Event
    on_batch: Callable[[BatchReport], None]
    failure: BaseException | None = field(default=None, init=False)
    """The exception that ended the query; Spark returns only its text."""
    query: Future[StreamingQuery] = field(default_factory=Future, init=False)
    """The query that calls this object. Its first batch may start before the query is set."""

    def __call__(self, records: DataFrame, batch_id: int) -> None:
        try:
            if self.stopping.is_set():
                raise StoppedError("a stop was requested")
            self._run(records, batch_id)
        except BaseException as error:
            self.failure = error
            raise

    def _run(self, records: DataFrame, batch_id: int) -> None:
        started = time.monotonic()
        joins, versions = current_joins(self.plan, self.references, records.sparkSession, hold=True)
        decoded = self.plan.decode_and_enrich(envelop(records, self.cluster_id), joins)
        with ExitStack() as cached:
            # Before the transform is called, because it may read its input or make a DataFrame of what it has read.
            _persist(decoded, cached)
            transformed = self.plan.transformed(decoded)
            _persist(transformed, cached)
            rows, causes = count_faults(decoded)
            faulty = sum(causes.values())
            check_received(rows_read(self.query.result()), rows, records.count)
            tags = self._count(decoded, transformed, rows - faulty)
            write(self.plan.tags(transformed).unionByName(self.plan.dead_letters(decoded)), self.sink_options)
        counts = Counts(rows, tags, faulty, rows - faulty - tags, causes)
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - started, versions))

    def _count(self, decoded: DataFrame, transformed: DataFrame, good: int) -> int:
        assert self.plan.transform  # noqa: S101 - only a transform needs more than one pass
        if is_row_by_row(without_fault(decoded), transformed):
            return transformed.count()
        return count_transformed(transformed, good, transform=self.plan.transform.name)


def current_joins(
    plan: Plan, references: Sequence[ReferenceTable], spark: SparkSession, *, hold: bool = False
) -> tuple[list[Join], dict[str, ReferenceVersion]]:
    """The current references in the order of the joins, and their versions by name.

    Args:
        hold: whether executors keep the references in memory for several batches (`held.py`).

    Raises:
        ConfigError: records have no column of a join's name; or several references cannot be used.
        UnusableReferenceError: one reference cannot be used.
    """
    joins: list[Join] = []
    errors: list[BrokernatError] = []
    # A join may use a column that the one before it has added.
    types = {field.name: field.dataType for field in plan.schema}
    for table in references:
        if table.key not in types:
            if errors:
                # A reference that could not be used may have this column.
                break
            message = f"reference `{table.name}`: records have no column `{table.key}`"
            errors.append(ConfigError(Finding("no-such-column", message, f"they have: {', '.join(types)}")))
            break
        try:
            table.current(spark, types[table.key].simpleString())
        except UnusableReferenceError as error:
            errors.append(error)
            continue
        frame = table.frame(spark)
        types |= {field.name: field.dataType for field in frame.schema}
        joins.append(Join(table.name, table.key, frame, table.held(spark) if hold else None))
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ConfigError(*(Finding("unusable-reference", error.message, error.hint) for error in errors))
    return joins, {table.name: table.version for table in references}


def _persist(frame: DataFrame, cached: ExitStack) -> None:
    from pyspark.storagelevel import StorageLevel

    cached.callback(frame.unpersist)
    frame.persist(StorageLevel.MEMORY_AND_DISK)
