"""One round: a pipeline drains a topic, something is killed in the middle, and what arrived is held against what was
sent.

The stroke waits until a batch has been begun and not committed, then a random moment more, so that most strokes fall
between offset log and commit log, where they hurt, and some behind it. What may be there twice follows from the
checkpoint: batches that were open when something died. All else must be there once.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tests.netns.spark.checkpoint import Checkpoint
from tests.netns.spark.orders import Delivery, Sent, send_orders
from tests.netns.spark.pipeline_file import PipelineFile, pipeline_file
from tests.netns.spark.spark_place import Job, SparkPlace

from brokernat.testbed import RunningCluster
from brokernat.testbed.gateways import Gateway

RECORDS = 8_000
BATCH = 1_000
"""Each stroke needs a batch that ends and one that is open: three strokes, and some batches in reserve."""
OUTAGE = 30.0
"""Seconds without a gateway."""
STARTS = 8
"""So many starts must be enough to end a run."""
_PATIENCE = 420.0
_DELAY = 0.8
_PAUSE = 0.01


class Victim(StrEnum):
    """What is killed."""

    DRIVER = "driver"
    EXECUTOR = "executor"
    APPLICATION_MASTER = "application master"
    BROKER = "broker"
    GATEWAY = "gateway"


@dataclass(frozen=True)
class Stage:
    """Where rounds are played."""

    hq: RunningCluster
    local: RunningCluster
    gateway: Gateway
    spark: SparkPlace
    folder: Path
    outage: float = OUTAGE


@dataclass
class Round:
    """A run of the pipeline with its strokes; the fields are what was seen."""

    stage: Stage
    dice: random.Random
    sent: Sent
    file: PipelineFile
    starts: int = 0
    drained: int = 0
    """Runs that had read all before they were struck; each time there was more to read for the next one."""
    strokes: int = 0
    landed_between: int = 0
    """Strokes after which the offset log had a batch that the commit log had not."""
    open_batches: set[int] = field(default_factory=set)

    @property
    def checkpoint(self) -> Checkpoint:
        return self.file.checkpoint(self.sent)

    def play(self, victims: Sequence[Victim]) -> Delivery:
        """Kill each in turn, start again as often as needed, and return what has arrived in the end."""
        job = self._start()
        for victim in victims:
            job = self._in_the_middle(job)
            STROKES[victim](self, job)
        while job.wait(_PATIENCE) != 0:
            job = self._start_again(job)
        return self.sent.delivered()

    def assert_duplicates_are_of_open_batches(self, delivery: Delivery) -> None:
        """Each duplicate is of a batch that was open when something died."""
        cluster_id = self.sent.source.cluster_id
        allowed = {src for batch in self.open_batches for src in self.checkpoint.coordinates(batch, cluster_id)}
        strangers = delivery.duplicated - allowed
        assert not strangers, f"open: {sorted(self.open_batches)}; twice and not of them: {sorted(strangers)[:5]}"

    def summary(self, delivery: Delivery) -> str:
        """One line for whoever watches a long run."""
        between = f"{self.landed_between} of {self.strokes} strokes between offset log and commit log"
        return f"{between}, {self.starts} starts, {len(delivery.duplicated)} records twice"

    def struck(self) -> None:
        """To be called when the victim is dead."""
        self.strokes += 1
        self.landed_between += bool(self._note_open())

    def _start(self) -> Job:
        self.starts += 1
        return self.stage.spark.start(self.file.words("run", "tags", "--once"))

    def _start_again(self, dead: Job) -> Job:
        """After an end: a run may give up while something is away, as long as the next one goes on."""
        self._note_open()
        assert self.starts < STARTS, f"{self.starts} starts were not enough\n{dead.tail()}"
        return self._start()

    def _in_the_middle(self, job: Job) -> Job:
        """The run when it is in the middle of a batch that is neither the first of its start (which warms up) nor one
        of the last: as soon as some of the batch's records have arrived, and once that has hurt, half of the times at
        any moment."""
        committed_before = self.checkpoint.committed()
        deadline = time.monotonic() + _PATIENCE
        while not (
            self.checkpoint.open_batches() and self.checkpoint.committed() - committed_before and self._has_work_left()
        ):
            assert time.monotonic() < deadline, f"no second batch was begun\n{job.tail()}"
            if not job.running():
                if job.process.returncode == 0:
                    self.drained += 1
                    self.sent = self.sent.with_more(RECORDS)
                job, committed_before = self._start_again(job), self.checkpoint.committed()
            time.sleep(_PAUSE)
        self._note_open()
        if self.landed_between and self.dice.random() < 0.5:
            time.sleep(self.dice.uniform(0, _DELAY))
            return job
        arrived = self._arrived()
        until(lambda: self._arrived() > arrived or not job.running(), "records of the batch", _PATIENCE)
        return job

    def _has_work_left(self) -> bool:
        """Whether a stroke will meet a run that has something to do."""
        return self._arrived() < self.sent.tags - 2 * BATCH

    def _arrived(self) -> int:
        return sum(self.sent.sink.end_offsets(self.sent.topics.tags).values())

    def _note_open(self) -> frozenset[int]:
        found = self.checkpoint.open_batches()
        self.open_batches |= found
        return found


def new_round(stage: Stage, dice: random.Random, *, sink: RunningCluster | None = None) -> Round:
    """Topics, records and a file of its own; nothing runs yet. The sink is the local cluster unless given."""
    sent = send_orders(stage.hq, sink or stage.local, RECORDS)
    file = pipeline_file(stage.folder / sent.topics.tags, {"tags": sent}, batch=BATCH)
    return Round(stage, dice, sent, file)


def kill_driver(played: Round, job: Job) -> None:
    job.kill()
    played.struck()


def kill_executor(played: Round, job: Job) -> None:
    """One of the executors; the master has another one started in its place."""
    _kill_one_of(played.stage.spark.executors(), played, job)


def kill_application_master(played: Round, job: Job) -> None:
    """Of YARN, which ends its executors and starts another one, and that asks for executors again."""
    _kill_one_of(played.stage.spark.application_masters(), played, job)


def _kill_one_of(processes: frozenset[int], played: Round, job: Job) -> None:
    assert processes, job.tail()
    os.kill(played.dice.choice(sorted(processes)), signal.SIGKILL)
    played.struck()


def kill_broker(played: Round, job: Job) -> None:
    """The leader of a partition of the source; it comes back when another has taken over."""
    hq, topic = played.stage.hq, played.sent.topics.orders
    victim = hq.leaders(topic)[played.dice.choice(sorted(hq.leaders(topic)))]
    hq.kill(victim)
    try:
        played.struck()
        until(lambda: victim not in hq.leaders(topic).values(), f"leaders move away from node {victim}")
    finally:
        hq.start(victim)


def kill_gateway(played: Round, job: Job) -> None:
    """The gateway, for as long as the stage says."""
    played.stage.gateway.stop()
    try:
        played.struck()
        time.sleep(played.stage.outage)
    finally:
        played.stage.gateway.start()


STROKES: Mapping[Victim, Callable[[Round, Job], None]] = {
    Victim.DRIVER: kill_driver,
    Victim.EXECUTOR: kill_executor,
    Victim.APPLICATION_MASTER: kill_application_master,
    Victim.BROKER: kill_broker,
    Victim.GATEWAY: kill_gateway,
}


def until(condition: Callable[[], bool], what: str, seconds: float = 180) -> None:
    """Poll until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(_PAUSE)
