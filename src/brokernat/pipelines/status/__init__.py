"""The status of a run at one moment; pure.

The metrics, the status page, the health endpoint and the lines of the log all come from this one record. Each
change makes a new immutable record, so any thread can read it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from brokernat.clients.spark import Proof, ProofRow
from brokernat.config.model import Pipeline
from brokernat.pipelines.progress import Progress
from brokernat.text import seconds

SAMPLE_SECONDS = 5
"""The shortest time between two samples of the charts."""
SAMPLES = 360
"""How many are kept: half an hour."""


class Phase(enum.StrEnum):
    """The phase of a run."""

    STARTING = "starting"
    RUNNING = "running"
    FINISHING = "finishing"
    """A stop was requested; the current batch finishes."""
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Sample:
    """A point of the charts: `at` in seconds since 1970; the counts are totals of the run."""

    at: float
    lag: int | None
    received: int
    dead_letters: int


@dataclass(frozen=True, slots=True)
class BrokerRoute:
    """The path to one broker, and the JVMs (`driver`, Spark's executor ids) that have proved it."""

    cluster: str
    node_id: int
    advertised: str
    reachable: str
    proved_by: tuple[str, ...]
    not_provable_by: tuple[str, ...]
    """JVMs that reached a broker whose node id they may not read."""


@dataclass(frozen=True, slots=True)
class ExecutorMap:
    """The address map that a JVM has for a cluster; its fields are None without one."""

    executor: str
    host: str
    cluster: str
    fingerprint: str | None
    agent: str | None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run at one moment. Times are seconds since 1970, durations are seconds."""

    pipeline: str
    mode: str
    started_at: float
    stalled_after: float
    """A batch without progress for longer than this is stalled."""
    progressed_at: float
    """When the query last committed a batch, or waited for records."""
    phase: Phase = Phase.STARTING
    starts: int = 1
    """How often the pipeline was started with this checkpoint, this time included."""
    query_failures: int = 0
    """How often the query has failed in this run and was tried again."""
    progress: Progress = field(default_factory=Progress)
    proof: tuple[ProofRow, ...] = ()
    activity: str = ""
    """Spark's status text."""
    failure: str = ""
    samples: tuple[Sample, ...] = ()

    @classmethod
    def of(cls, pipeline: Pipeline, now: float) -> RunStatus:
        """The status of a starting run."""
        # In Real-Time Mode Spark reports once in each epoch.
        patience = seconds(pipeline.stalled_after) + (seconds(pipeline.epoch) if pipeline.mode == "realtime" else 0)
        return cls(pipeline.name, pipeline.mode, now, patience, now)

    def proved(self, proof: Proof) -> RunStatus:
        """A copy with the proof of driver and executors, also of those that are added later."""
        return replace(self, proof=(*self.proof, *proof.rows))

    def started(self, starts: int, now: float) -> RunStatus:
        """A copy with a running query."""
        return replace(self, phase=Phase.RUNNING, starts=starts, progressed_at=now)

    def followed(self, progress: Progress, activity: str | None, now: float, query_failures: int = 0) -> RunStatus:
        """A copy with new progress; `activity` is None while the query waits for its next batch."""
        moved = activity is None or progress.committed != self.progress.committed
        return replace(
            self,
            progress=progress,
            activity=activity or "waiting for records",
            query_failures=query_failures,
            progressed_at=now if moved else self.progressed_at,
            samples=self._sampled(progress, now),
        )

    def ended(self, failure: str = "") -> RunStatus:
        """A copy after the query has ended, with the first line of its error if it has failed."""
        return replace(self, phase=Phase.FAILED if failure else Phase.ENDED, failure=failure.partition("\n")[0])

    def seconds_since_progress(self, now: float) -> float:
        """The time without a commit although records were waiting."""
        return max(0.0, now - self.progressed_at)

    def trouble(self, now: float) -> str | None:
        """Why the run is unhealthy; None for a healthy run."""
        if self.phase is Phase.FAILED:
            return f"the query failed: {self.failure}"
        if self.phase is Phase.STARTING:
            return "the query has not started yet"
        if self.phase is Phase.ENDED:
            return "the query has ended"
        if (waited := self.seconds_since_progress(now)) > self.stalled_after:
            return f"no progress for {waited:.0f} s: {self.activity}"
        return None

    @property
    def routes(self) -> tuple[BrokerRoute, ...]:
        """The brokers by cluster and node id."""
        return tuple(_routes(self.proof))

    @property
    def maps(self) -> tuple[ExecutorMap, ...]:
        """The maps that the driver and the executors have, from the proof."""
        return tuple(
            sorted(
                {ExecutorMap(r.executor, r.host, r.cluster, r.fingerprint or None, r.agent) for r in self.proof},
                # Executor ids are numbers as text, so shorter ids come first.
                key=lambda row: (row.cluster, row.executor != "driver", len(row.executor), row.executor),
            )
        )

    def _sampled(self, progress: Progress, now: float) -> tuple[Sample, ...]:
        if self.samples and now - self.samples[-1].at < SAMPLE_SECONDS:
            return self.samples
        sample = Sample(now, progress.lag, progress.counts.received, progress.counts.dead_letters)
        return (*self.samples, sample)[-SAMPLES:]


def _routes(rows: Sequence[ProofRow]) -> Iterator[BrokerRoute]:
    known = [row for row in rows if row.node_id is not None]
    for (cluster, node), group in groupby(sorted(known, key=_broker), key=_broker):
        of_broker = list(group)
        proved_by = tuple(row.executor for row in of_broker if row.outcome == "proved")
        not_provable_by = tuple(row.executor for row in of_broker if row.outcome != "proved")
        yield BrokerRoute(cluster, node, of_broker[0].advertised, of_broker[0].dialled, proved_by, not_provable_by)


def _broker(row: ProofRow) -> tuple[str, int]:
    return row.cluster, -1 if row.node_id is None else row.node_id
