"""One batch: decode, enrich, transform, write, and count all of it; what does not add up is not committed.

Spark calls this with each micro-batch and commits its offsets when it returns; whatever is raised leaves the batch
uncommitted, and the next start runs it again with the same offsets. Without a transform, and with one that works row by
row, nothing is kept and nothing is read twice: one query reads, counts, writes and counts again. Any other transform
may multiply records, cost (Python) and give other rows each time: what it gets and what it returns is kept (memory,
then disk) and counted before anything is written. When nothing may begin any more, a batch that comes is refused before
it reads a record: that is how a stop never cuts one in two.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.errors import BrokernatError, ConfigError, Finding
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.references.reference import ReferenceTable
from brokernat.pipelines.references.source import UnusableReferenceError
from brokernat.pipelines.steps.counting import (
    Counts,
    check_received,
    count_faults,
    count_rows,
    count_transformed,
    observed,
)
from brokernat.pipelines.steps.envelope import envelop
from brokernat.pipelines.steps.plan import Join, Plan, well
from brokernat.pipelines.steps.row_by_row import is_row_by_row
from brokernat.pipelines.steps.sink import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

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
    """What Spark's `foreachBatch` calls."""

    plan: Plan
    cluster_id: str
    references: Sequence[ReferenceTable]
    sink_options: Mapping[str, str] = field(repr=False)
    stopping: threading.Event
    on_batch: Callable[[BatchReport], None]
    failure: BaseException | None = field(default=None, init=False)
    """What ended the query, as it was raised: Spark hands back only a text of it."""
    _in_one_pass: bool = field(default=False, init=False)
    """Whether the transform of the last batch needed no keeping."""

    def __post_init__(self) -> None:
        self._in_one_pass = self.plan.transform is None

    def __call__(self, records: DataFrame, batch_id: int) -> None:
        try:
            if self.stopping.is_set():
                raise StoppedError("a stop was asked for")
            self._run(records, batch_id)
        except BaseException as error:
            self.failure = error
            raise

    def _run(self, records: DataFrame, batch_id: int) -> None:
        from pyspark.sql import Observation

        started = time.monotonic()
        entering = Observation()
        joins, versions = current_joins(self.plan, self.references, records.sparkSession)
        envelope = envelop(count_rows(records, entering), self.cluster_id)
        decoded = self.plan.decode_and_enrich(envelope, joins)
        with ExitStack() as kept:
            if not self._in_one_pass:
                # Before the transform is called: it may read its records, or make a frame of what it has read.
                _keep(decoded, kept)
            transformed = self.plan.transformed(decoded) if self.plan.transform else decoded
            outgoing = self.plan.outgoing(decoded, transformed)
            self._in_one_pass = outgoing is not None
            if outgoing is not None:
                kept.close()
                counts = self._write_in_one_pass(records, entering, outgoing)
            else:
                _keep(transformed, kept)
                counts = self._count_and_write(records, entering, decoded, transformed)
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - started, versions))

    def _write_in_one_pass(self, records: DataFrame, entering: Observation, outgoing: DataFrame) -> Counts:
        counts = Counts.of_written(write(outgoing, self.sink_options))
        check_received(observed(entering), counts.received, records.count, written=True)
        return counts

    def _count_and_write(
        self, records: DataFrame, entering: Observation, decoded: DataFrame, transformed: DataFrame
    ) -> Counts:
        assert self.plan.transform  # noqa: S101 - nothing else needs more than one pass
        rows, causes = count_faults(decoded)
        faulty = sum(causes.values())
        check_received(observed(entering), rows, records.count)
        if is_row_by_row(well(decoded), transformed):
            tags = transformed.count()
        else:
            tags = count_transformed(transformed, rows - faulty, transform=self.plan.transform.name)
        write(self.plan.tags(transformed).unionByName(self.plan.dead_letters(decoded)), self.sink_options)
        return Counts(rows, tags, faulty, rows - faulty - tags, causes)


def current_joins(
    plan: Plan, references: Sequence[ReferenceTable], spark: SparkSession
) -> tuple[list[Join], dict[str, ReferenceVersion]]:
    """The references as they are now, in the order of the joins, and their versions by name.

    Raises:
        ConfigError: records have no column of a join's name; or several references cannot be used.
        UnusableReferenceError: one cannot be used.
    """
    from pyspark.sql import functions as F  # noqa: N812

    joins: list[Join] = []
    errors: list[BrokernatError] = []
    # A join may use a column that the one before it has added.
    types = {field.name: field.dataType for field in plan.schema}
    for table in references:
        if table.key not in types:
            if errors:
                # One that could not be used may have had it.
                break
            message = f"reference `{table.name}`: records have no column `{table.key}`"
            errors.append(ConfigError(Finding("no-such-column", message, f"they have: {', '.join(types)}")))
            break
        try:
            snapshot = table.current(spark, types[table.key].simpleString())
        except UnusableReferenceError as error:
            errors.append(error)
            continue
        frame = snapshot.frame(spark)
        if column := table.section.version_column:
            frame = frame.withColumn(column, F.lit(snapshot.id))
        types |= {field.name: field.dataType for field in frame.schema}
        joins.append(Join(table.name, table.key, frame))
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ConfigError(*(Finding("unusable-reference", each.message, each.hint) for each in errors))
    return joins, {table.name: table.version for table in references}


def _keep(frame: DataFrame, kept: ExitStack) -> None:
    from pyspark.storagelevel import StorageLevel

    kept.callback(frame.unpersist)
    frame.persist(StorageLevel.MEMORY_AND_DISK)
