"""One batch: decode, enrich, transform, write, and check the counts before Spark commits it.

Spark calls this with each micro-batch and commits its offsets when it returns; whatever is raised leaves the batch
uncommitted, and the next start runs it again with the same offsets. When nothing may begin any more, a batch that comes
is refused before it reads a record: that is how a stop never cuts one in two.

Without a transform one pass reads, writes and counts. With one, the decoded records are kept (memory, then disk),
because tags and dead letters are two ways out of them. Where Spark's plan does not show that a transform makes at most
one row of a record, its rows are kept and counted as well, before anything is written.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.errors import BrokernatError, ConfigError, Problem
from brokernat.pipelines.counting import (
    Counts,
    check_received,
    count_faults,
    count_rows,
    count_transformed,
    faults,
    is_row_by_row,
    observed,
)
from brokernat.pipelines.envelope import envelop
from brokernat.pipelines.plan import Join, Plan, well
from brokernat.pipelines.reference import ReferenceTable
from brokernat.pipelines.sink import write

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
    versions: Mapping[str, str]


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
        spark = records.sparkSession
        envelope = envelop(records, self.cluster_id)
        joins, versions = current_joins(self.plan, self.references, spark)
        entering = Observation()
        decoded = self.plan.decode_and_enrich(count_rows(envelope, entering), joins)
        counts = (self._write_transformed if self.plan.transform else self._write)(decoded, entering, envelope.count)
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - started, versions))

    def _write(self, decoded: DataFrame, entering: Observation, recount: Callable[[], int]) -> Counts:
        """Reads, writes and counts in one pass."""
        from pyspark.sql import Observation

        leaving = Observation()
        write(self.plan.outgoing(count_faults(decoded, leaving)), self.sink_options)
        found = observed(leaving) or {"rows": 0, "faulty": 0}
        check_received(observed(entering), found["rows"], recount)
        return Counts(found["rows"], found["rows"] - found["faulty"], found["faulty"])

    def _write_transformed(self, decoded: DataFrame, entering: Observation, recount: Callable[[], int]) -> Counts:
        """Reads and counts, then writes tags and dead letters."""
        from pyspark.sql import Observation

        assert self.plan.transform  # noqa: S101 - the caller has asked
        with ExitStack() as kept:
            records = _keep(decoded, kept)
            rows, faulty = faults(records)
            check_received(observed(entering), rows, recount)
            transformed, leaving = self.plan.transformed(records), Observation()
            tags = None
            if is_row_by_row(well(records), transformed):
                transformed = count_rows(transformed, leaving)
            else:
                transformed = _keep(transformed, kept)
                tags = count_transformed(transformed, rows - faulty, transform=self.plan.transform.name)
            write(self.plan.tags(transformed).unionByName(self.plan.dead_letters(records)), self.sink_options)
            if tags is None:
                tags = (observed(leaving) or {"rows": 0})["rows"]
        return Counts(rows, tags, faulty, rows - faulty - tags)


def current_joins(
    plan: Plan, references: Sequence[ReferenceTable], spark: SparkSession
) -> tuple[list[Join], dict[str, str]]:
    """The references as they are now, in the order of the joins, and their versions by name.

    Raises:
        ConfigError: records have no column of a join's name.
    """
    joins: list[Join] = []
    versions: dict[str, str] = {}
    # A join may use a column that the one before it has added.
    types = {field.name: field.dataType for field in plan.schema}
    for table in references:
        if table.key not in types:
            message = f"reference `{table.name}`: records have no column `{table.key}`"
            raise ConfigError(Problem("no-such-column", message, f"they have: {', '.join(types)}"))
        snapshot = table.current(spark, types[table.key].simpleString())
        frame = snapshot.frame(spark)
        types |= {field.name: field.dataType for field in frame.schema}
        joins.append(Join(table.name, table.key, frame))
        versions[table.name] = snapshot.id
    return joins, versions


def _keep(frame: DataFrame, kept: ExitStack) -> DataFrame:
    from pyspark.storagelevel import StorageLevel

    kept.callback(frame.unpersist)
    return frame.persist(StorageLevel.MEMORY_AND_DISK)
