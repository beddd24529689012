"""One batch: decode, enrich, count, transform, count again, and only then write.

Spark calls this with each micro-batch and commits its offsets when it returns; whatever is raised leaves the batch
uncommitted, and the next start runs it again with the same offsets. The decoded records are kept (memory, then disk),
so the source is read once and counts are of the very rows that are written. When nothing may begin any more, a batch
that comes is refused before it reads a record: that is how a stop never cuts one in two.

Counts cannot ride along with the write: Spark's batch sink for Kafka runs a query of its own that reports none.
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
    is_row_by_row,
    observed,
)
from brokernat.pipelines.envelope import envelop
from brokernat.pipelines.plan import Join, Plan, well
from brokernat.pipelines.reference import ReferenceTable
from brokernat.pipelines.sink import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
        with ExitStack() as kept:
            records = _keep(decoded, kept)
            rows, faulty = count_faults(records)
            check_received(observed(entering), rows, envelope.count)
            if self.plan.transform is None:
                tags, outgoing = rows - faulty, self.plan.outgoing(records)
            else:
                # Kept, because a transform may cost (Python) and need not give the same rows twice (a clock, chance).
                transformed = _keep(self.plan.transformed(records), kept)
                if is_row_by_row(well(records), transformed):
                    tags = transformed.count()
                else:
                    tags = count_transformed(transformed, rows - faulty, transform=self.plan.transform.name)
                outgoing = self.plan.tags(transformed).unionByName(self.plan.dead_letters(records))
            write(outgoing, self.sink_options)
        counts = Counts(rows, tags, faulty, rows - faulty - tags)
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - started, versions))


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
