"""The progress of a run, from the counts of batches and Spark's progress reports; pure.

Counts are exact and of written batches. Offsets and the time of each step come from Spark's report of a committed
batch; the lag is the number of offsets between the end of that batch and the end of the topics when it was planned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.query import reported_batch
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.steps.counting import Counts


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """A partition of the source: `end` is the offset after the last committed record, `latest` that of the topic."""

    topic: str
    partition: int
    end: int
    latest: int | None
    """None if Spark does not report it."""

    @property
    def lag(self) -> int | None:
        """Offsets that are not yet read."""
        return None if self.latest is None else max(0, self.latest - self.end)


@dataclass(frozen=True, slots=True)
class Progress:
    """Totals of this run, and its last batch. `rate` is records per second of that batch."""

    counts: Counts = field(default_factory=Counts)
    batches: int = 0
    last_batch: int | None = None
    rate: float = 0.0
    seconds: float = 0.0
    """The duration of all batches."""
    versions: Mapping[str, ReferenceVersion] = field(default_factory=dict)
    partitions: tuple[PartitionProgress, ...] = ()
    """Empty before Spark's first report."""
    steps: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each step of the last batch, by Spark's names (`addBatch` decodes, joins and writes)."""
    steps_total: Mapping[str, float] = field(default_factory=dict)
    """The sum of `steps` over all batches."""
    committed: int | None = None
    """The last batch that Spark has reported."""

    @property
    def lag(self) -> int | None:
        """Records that wait in the source, None before the first report."""
        known = [partition.lag for partition in self.partitions if partition.lag is not None]
        return sum(known) if known else None

    def after(self, report: BatchReport) -> Progress:
        """A copy with one more batch."""
        return replace(
            self,
            counts=self.counts + report.counts,
            batches=self.batches + 1,
            last_batch=report.batch_id,
            rate=report.counts.received / report.seconds if report.seconds else 0.0,
            seconds=self.seconds + report.seconds,
            versions=report.versions,
        )

    def with_reports(self, spark_reports: Iterable[Mapping[str, Any]]) -> Progress:
        """A copy with Spark's reports of batches; known reports change nothing."""
        progress = self
        for report in spark_reports:
            if progress.committed is None or reported_batch(report) > progress.committed:
                progress = progress._with_report(report)
        return progress

    def _with_report(self, report: Mapping[str, Any]) -> Progress:
        steps = {name: took / 1000 for name, took in report.get("durationMs", {}).items()}
        total = {name: self.steps_total.get(name, 0.0) + took for name, took in steps.items()}
        return replace(
            self,
            # Keep the known partitions if the report has no end offsets.
            partitions=partitions(report) or self.partitions,
            steps=steps,
            steps_total={**self.steps_total, **total},
            committed=reported_batch(report),
        )


def partitions(spark_report: Mapping[str, Any]) -> tuple[PartitionProgress, ...]:
    """The partitions of the source in one of Spark's reports, in order."""
    found = []
    for source in spark_report.get("sources", ()):
        end, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
        # A new partition has no end offset before a batch includes it.
        keys = latest.keys() | end.keys()
        found += [PartitionProgress(*key, end.get(key, latest.get(key, 0)), latest.get(key)) for key in keys]
    return tuple(sorted(found, key=lambda partition: (partition.topic, partition.partition)))


def _offsets(value: Any) -> dict[tuple[str, int], int]:
    topics = json.loads(value) if isinstance(value, str) else value
    if not isinstance(topics, dict):
        return {}
    return {
        (topic, int(partition)): int(offset)
        for topic, partitions in topics.items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
    }
