"""A run as JSON, for the status page and for the fields of a line of the log; pure.

The keys are a stable interface: within a version keys are only added, and their meaning never changes. Times are
seconds since 1970, durations are seconds.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import brokernat
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.status import RunStatus, Sample


def status_v1(status: RunStatus, now: float) -> dict[str, Any]:
    """All of a run."""
    trouble = status.trouble(now)
    return {
        "version": 1,
        "brokernat": brokernat.__version__,
        "now": now,
        "pipeline": status.pipeline,
        "mode": status.mode,
        "phase": status.phase.value,
        "healthy": trouble is None,
        "trouble": trouble,
        "activity": status.activity,
        "started_at": status.started_at,
        "starts": status.starts,
        "seconds_since_progress": round(status.seconds_since_progress(now), 3),
        "stalled_after": status.stalled_after,
        "batches": status.progress.batches,
        "last_batch": status.progress.last_batch,
        "rate": round(status.progress.rate, 1),
        "records": asdict(status.progress.counts),
        **progress_v1(status.progress, now),
        **proof_v1(status),
        "history": [_point(before, after) for before, after in pairwise(status.samples)],
    }


def progress_v1(progress: Progress, now: float) -> dict[str, Any]:
    """The offsets after the last batch, the duration of its steps, and the references that it was joined with."""
    return {
        "lag": progress.lag,
        "partitions": [asdict(row) | {"lag": row.lag} for row in progress.partitions],
        "steps": dict(progress.steps),
        "references": [
            {
                "name": name,
                "version": version.id,
                "age": round(now - version.written_at, 1),
                "trouble": version.trouble or None,
            }
            for name, version in sorted(progress.versions.items())
        ],
    }


def proof_v1(status: RunStatus) -> dict[str, Any]:
    """The route to each broker, and the address map that each JVM has."""
    return {"routes": [asdict(row) for row in status.routes], "maps": [asdict(row) for row in status.maps]}


def batch_v1(progress: Progress, report: BatchReport) -> dict[str, Any]:
    """One written batch."""
    return {
        "batch": report.batch_id,
        **asdict(report.counts),
        "seconds": round(report.seconds, 3),
        "references": {name: version.id for name, version in report.versions.items()},
        "lag": progress.lag,
    }


def _point(before: Sample, after: Sample) -> dict[str, Any]:
    """The records per second since the sample before."""
    length = after.at - before.at
    return {
        "at": round(after.at, 1),
        "lag": after.lag,
        "received_rate": round((after.received - before.received) / length, 2),
        "dead_letter_rate": round((after.dead_letters - before.dead_letters) / length, 2),
    }
