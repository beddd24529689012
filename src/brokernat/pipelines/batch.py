"""One batch: sort, count, transform, count again, check, and only then write.

Spark calls this with each micro-batch and commits its offsets when it returns; whatever is raised leaves the batch
uncommitted, and the next start runs it again with the same offsets. The sorted records are kept (memory, then disk), so
the source is read once and counts are of the very rows that are written. When nothing may begin any more, a batch that
comes is refused before it reads a record: that is how a stop never cuts one in two.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.errors import BrokernatError
from brokernat.pipelines.accounting import Counts, check_received, count_sorted, count_transformed
from brokernat.pipelines.envelope import envelop
from brokernat.pipelines.plan import Join, Plan
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
        from pyspark.sql import functions as F  # noqa: N812

        started = time.monotonic()
        envelope = envelop(records, self.cluster_id)
        joins, versions = current_joins(self.plan, self.references, records.sparkSession, envelope)
        observation = Observation()
        observed = envelope.observe(observation, F.count(F.lit(1)).alias("received"))
        with ExitStack() as kept:
            sorted_ = _keep(self.plan.sort(observed, joins), kept)
            counted = count_sorted(sorted_)
            # Of an empty batch (markers of transactions) Spark may drop the part of the plan that observes.
            received: int = observation.get["received"] if counted.total else envelope.count()
            check_received(received, counted, envelope.count)
            transformed, tags = self.plan.transformed(sorted_), counted.well
            if self.plan.transform:
                transformed = _keep(transformed, kept)
                tags = count_transformed(transformed, counted.well, transform=self.plan.transform.name)
            counts = Counts(received, tags, counted.faulty, counted.well - tags)
            write(self.plan.rows(sorted_, transformed), self.sink_options)
        self.on_batch(BatchReport(batch_id, counts, time.monotonic() - started, versions))


def current_joins(
    plan: Plan, references: Sequence[ReferenceTable], spark: SparkSession, envelope: DataFrame
) -> tuple[list[Join], dict[str, str]]:
    """The references as they are now, in the order of the joins, and their versions by name."""
    joins: list[Join] = []
    versions: dict[str, str] = {}
    for table in references:
        # A join may use a column that the one before it has added.
        fields = plan.sort(envelope, joins).schema
        snapshot = table.current(spark, fields[table.key].dataType.simpleString())
        joins.append(Join(table.name, table.key, snapshot.frame(spark)))
        versions[table.name] = snapshot.id
    return joins, versions


def _keep(frame: DataFrame, kept: ExitStack) -> DataFrame:
    from pyspark.storagelevel import StorageLevel

    kept.callback(frame.unpersist)
    return frame.persist(StorageLevel.MEMORY_AND_DISK)
