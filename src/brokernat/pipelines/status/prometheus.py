"""The metrics of a run in Prometheus' text format (version 0.0.4); pure.

Dashboards and alerts use the names, so names are only added and never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import brokernat
from brokernat.pipelines.status import RunStatus
from brokernat.pipelines.steps.envelope import FaultKind

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; `values` are its values with their labels."""

    name: str
    kind: str
    """`counter` or `gauge`."""
    about: str
    values: tuple[tuple[Labels, float], ...]


def metrics_text(status: RunStatus, now: float) -> str:
    """All metrics of a run; `now` in seconds since 1970."""
    lines: list[str] = []
    for metric in metrics(status, now):
        lines += [f"# HELP {metric.name} {metric.about}", f"# TYPE {metric.name} {metric.kind}"]
        for labels, value in metric.values:
            all_labels = {"pipeline": status.pipeline, **labels}
            text = ",".join(f'{name}="{_escaped(str(label))}"' for name, label in all_labels.items())
            lines.append(f"{metric.name}{{{text}}} {float(value)!r}")
    return "\n".join([*lines, ""])


def metrics(status: RunStatus, now: float) -> Iterator[Metric]:
    """The metrics of a run, in the order in which they are written."""
    progress = status.progress
    about = {"mode": status.mode, "version": brokernat.__version__}
    yield _gauge("brokernat_run_info", "What runs.", (about, 1))
    yield _gauge("brokernat_healthy", "1 if /health returns 200.", ({}, status.trouble(now) is None))
    yield _gauge("brokernat_run_start_time_seconds", "When the process started, since 1970.", ({}, status.started_at))
    yield _counter("brokernat_starts_total", "Starts of the pipeline with this checkpoint.", ({}, status.starts))
    yield _counter(
        "brokernat_query_failures_total", "Failures of the query that were retried.", ({}, status.query_failures)
    )
    yield _gauge(
        "brokernat_seconds_since_progress",
        "Time without progress of a batch; near 0 if no record waits.",
        ({}, status.seconds_since_progress(now)),
    )
    yield from _records(status)
    yield _counter("brokernat_batches_total", "Batches that were written.", ({}, progress.batches))
    yield _counter("brokernat_batch_seconds_total", "Time of batches, from start to write.", ({}, progress.seconds))
    steps = (({"step": name}, took) for name, took in sorted(progress.steps_total.items()))
    yield _counter("brokernat_batch_step_seconds_total", "Time of each of Spark's steps in batches.", *steps)
    yield from _partitions(status)
    versions = progress.versions.items()
    yield _gauge(
        "brokernat_reference_info",
        "The version that the last batch used.",
        *(({"reference": name, "version": version.id}, 1) for name, version in versions),
    )
    yield _gauge(
        "brokernat_reference_age_seconds",
        "How long ago the newest file of that version was written, or another source was last reached.",
        *(({"reference": name}, now - version.written_at) for name, version in versions),
    )
    yield _gauge(
        "brokernat_reference_unusable",
        "1 if the source cannot be reached or read, so the last good version is in use.",
        *(({"reference": name}, bool(version.trouble)) for name, version in versions),
    )
    yield from _paths(status)


def _records(status: RunStatus) -> Iterator[Metric]:
    counts = status.progress.counts
    yield _counter("brokernat_records_received_total", "Records read from the source.", ({}, counts.received))
    yield _counter("brokernat_tags_total", "Records written as tags.", ({}, counts.tags))
    yield _counter(
        "brokernat_dead_letters_total",
        "Records written as dead letters, by cause.",
        *(({"cause": kind.value}, counts.causes.get(kind, 0)) for kind in FaultKind),
    )
    yield _counter("brokernat_filtered_total", "Records that the transform removed.", ({}, counts.filtered))


def _partitions(status: RunStatus) -> Iterator[Metric]:
    partitions = [({"topic": p.topic, "partition": p.partition}, p) for p in status.progress.partitions]
    yield _gauge(
        "brokernat_partition_lag",
        "Offsets that are not yet read.",
        *((labels, partition.lag) for labels, partition in partitions if partition.lag is not None),
    )
    yield _gauge(
        "brokernat_partition_end_offset",
        "The offset after the last committed one.",
        *((labels, partition.end) for labels, partition in partitions),
    )
    yield _gauge(
        "brokernat_partition_latest_offset",
        "The end of the partition when the last batch was planned.",
        *((labels, partition.latest) for labels, partition in partitions if partition.latest is not None),
    )


def _paths(status: RunStatus) -> Iterator[Metric]:
    maps = (
        (
            {
                "executor": row.executor,
                "host": row.host,
                "cluster": row.cluster,
                "fingerprint": row.fingerprint or "",
                "agent": row.agent or "",
            },
            1,
        )
        for row in status.maps
    )
    yield _gauge("brokernat_address_map_info", "The address map that each JVM has for a cluster.", *maps)
    routes = (
        (
            {
                "cluster": route.cluster,
                "node": route.node_id,
                "advertised": route.advertised,
                "reachable": route.reachable,
            },
            len(route.proved_by),
        )
        for route in status.routes
    )
    yield _gauge("brokernat_broker_proved_by", "The number of JVMs that have proved the path to a broker.", *routes)


def _gauge(name: str, about: str, *values: tuple[Labels, float]) -> Metric:
    return Metric(name, "gauge", about, values)


def _counter(name: str, about: str, *values: tuple[Labels, float]) -> Metric:
    return Metric(name, "counter", about, values)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
