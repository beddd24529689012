"""What a run has done so far, from the batches' own counts and Spark's progress reports; pure.

Counts are ours, exact, of batches that are written. The lag is Spark's: how many offsets lie between the end of the
last batch and the end of the topics when it was planned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.counting import Counts


@dataclass(frozen=True, slots=True)
class Progress:
    """Totals of this run. `rate` is records per second of the last batch; `lag` None before the first report."""

    counts: Counts = field(default_factory=Counts)
    batches: int = 0
    last_batch: int | None = None
    rate: float = 0.0
    lag: int | None = None

    def after(self, report: BatchReport) -> Progress:
        """With one more batch."""
        return replace(
            self,
            counts=self.counts + report.counts,
            batches=self.batches + 1,
            last_batch=report.batch_id,
            rate=report.counts.received / report.seconds if report.seconds else 0.0,
        )

    def with_lag(self, spark_progress: Mapping[str, Any] | None) -> Progress:
        """With what Spark last reported."""
        found = lag(spark_progress)
        return self if found is None else replace(self, lag=found)


def lag(spark_progress: Mapping[str, Any] | None) -> int | None:
    """Records that wait in the source, None where a report does not say."""
    total = None
    for source in (spark_progress or {}).get("sources", ()):
        end, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
        if latest:
            behind = sum(max(0, offset - end.get(place, offset)) for place, offset in latest.items())
            total = (total or 0) + behind
    return total


def _offsets(value: Any) -> dict[tuple[str, str], int]:
    topics = json.loads(value) if isinstance(value, str) else value
    if not isinstance(topics, dict):
        return {}
    return {
        (topic, partition): int(offset)
        for topic, partitions in topics.items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
    }
