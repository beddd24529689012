"""What a run shows of itself to the server: the run replaces the status, and the server's threads read it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from brokernat.clients.spark import Proof
from brokernat.config.model import Pipeline
from brokernat.errors import BrokernatError
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.status.dead_letters import DeadLetterTail, DeadLetterView
from brokernat.pipelines.status.model import Phase, RunStatus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class StatusBoard:
    """The status of one run; executors that join are proved in another thread."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.status = RunStatus.of(pipeline, time.time())
        self.dead_letters: Callable[[], DeadLetterView] = DeadLetterView
        self._changing = threading.Lock()

    def prove(self, proof: Proof) -> None:
        """Adds what executors have shown."""
        with self._changing:
            self.status = self.status.proved(proof)

    def begin(self, spark: SparkSession, prepared: Prepared) -> None:
        """The query runs from now on; notes the start in the checkpoint."""
        starts = prepared.state.count_start(Files(spark))
        with self._changing:
            self.status = self.status.started(starts, time.time())
        sink = prepared.pipeline.sink
        self.dead_letters = DeadLetterTail(spark, prepared.sink, sink.dead_letters, prepared.pipeline.name).view

    def follow(self, progress: Progress, activity: str | None, query_failures: int) -> None:
        """Takes in what the query has done; see `RunStatus.followed`."""
        with self._changing:
            self.status = self.status.followed(progress, activity, time.time(), query_failures)

    def finish(self) -> None:
        """The query was told to stop."""
        with self._changing:
            self.status = replace(self.status, phase=Phase.FINISHING)

    def trouble(self) -> str | None:
        """See `RunStatus.trouble`."""
        return self.status.trouble(time.time())

    @contextmanager
    def until_the_end(self) -> Iterator[None]:
        """Shows how the block has ended, for as long as Spark takes to stop."""
        try:
            yield
        except BrokernatError as error:
            self._end(error.message)
            raise
        self._end()

    def _end(self, failure: str = "") -> None:
        with self._changing:
            self.status = self.status.ended(failure)
