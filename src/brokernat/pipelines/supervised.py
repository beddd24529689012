"""A run with the policies of `policies.py`: transient failures are retried, others end the run with an error.

Spark ends a query at its first failure. If brokers were temporarily unavailable, the query restarts from its checkpoint
in the same application. Each delay is twice the one before, up to a minute, with jitter of a half, so that the
pipelines of a recovered cluster do not restart at once.

If most records become dead letters, a producer has probably changed its format, and the run would only fill the
dead-letter topic: `dead_letter_limit` stops it.

To Kafka's clients, a leader without a rule in the address map looks like an unavailable broker. So leaders are checked
after a failure, and while a batch makes no progress.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from brokernat.clients.spark import client_properties
from brokernat.errors import BrokernatError, ConfigError, Finding, NothingReachableError
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.kafka.admin import open_admin
from brokernat.pipelines.pipeline import Run, start
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.query import POLL_SECONDS, TransientFailureError
from brokernat.pipelines.realtime import EpochRun
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.steps.counting import Counts
from brokernat.text import in_words, seconds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)
FIRST_DELAY, LONGEST_DELAY = 1.0, 60.0
"""Seconds before the second attempt, and the maximum before later ones."""
_LEADER_CHECK_SECONDS = 30.0
"""The time without progress of a batch after which leaders are checked, and the interval of these checks."""


@dataclass
class DeadLetterLimit:
    """The maximum share of dead letters in the last `records` records, counted in whole batches.

    One thread at a time may call `add` while others read: they read only `total`, which is replaced as a whole.
    """

    text: str
    share: float
    records: int
    total: Counts = field(default_factory=Counts, init=False)
    _window: deque[Counts] = field(default_factory=deque, init=False)

    @classmethod
    def of(cls, text: str) -> Self:
        """The limit from its text in the file.

        >>> limit = DeadLetterLimit.of("5% of 100")
        >>> limit.add(Counts(received=90, dead_letters=5)); limit.is_exceeded
        False
        >>> limit.add(Counts(received=20, dead_letters=1)); limit.is_exceeded
        True
        """
        percent, _, records = text.partition("% of ")
        return cls(text, float(percent) / 100, int(records))

    def add(self, batch: Counts) -> None:
        """Adds a batch and removes batches before the last `records` records."""
        self._window.append(batch)
        total = self.total + batch
        while total.received - self._window[0].received >= self.records:
            total -= self._window.popleft()
        self.total = total

    @property
    def is_exceeded(self) -> bool:
        """Whether there are too many dead letters. That may be certain before `records` records were received."""
        total = self.total
        return total.dead_letters > self.share * max(self.records, total.received)

    def error(self, pipeline: str) -> ConfigError:
        """The error that ends the run."""
        total = self.total
        causes = ", ".join(f"{kind} {number}" for kind, number in Counter(total.causes).most_common())
        message = (
            f"{total.dead_letters} of the last {total.received} records became dead letters ({causes}); "
            f"`dead_letter_limit` is {self.text}"
        )
        hint = (
            f"their batches are committed: fix the cause, then run `brokernat pipeline replay {pipeline}`; the next "
            "start continues and counts from 0"
        )
        return ConfigError(Finding("dead-letter-limit", message, hint))


def delay(failures: int, jitter: random.Random) -> float:
    """Seconds before the next attempt, after this number of failures in a row."""
    # The exponent is limited, because 2 ** 1024 is too large for a float.
    longest = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(failures - 1, 10))
    return jitter.uniform(longest / 2, longest)


class SupervisedRun:
    """A running pipeline. Call `poll` until it returns False. `stop` may be called from a signal handler."""

    def __init__(
        self,
        spark: SparkSession,
        prepared: Prepared,
        on_batch: Callable[[BatchReport], None],
        *,
        references: Sequence[ReferenceTable],
        once: bool = False,
    ) -> None:
        """Starts the query; the arguments and errors are those of `pipeline.start`."""
        self._spark = spark
        self._prepared = prepared
        self._on_batch = on_batch
        self._references = references
        self._once = once
        limit = prepared.pipeline.sink.dead_letter_limit
        self._limit = DeadLetterLimit.of(limit) if limit else None
        self._retry_for = seconds(prepared.pipeline.retry_for)
        self._stopping = threading.Event()
        self._jitter = random.Random()  # noqa: S311 - for delays, not for secrets
        self._failures = self._all_failures = 0
        self._failing_since = 0.0
        self._failure = ""
        self._resume_at: float | None = None
        self._started_at = self._progress_at = time.monotonic()
        self._running = self._start_query()

    def stop(self) -> None:
        """Ends the query after the current batch or epoch."""
        self._stopping.set()
        self._running.stop()

    def reports(self, after: int | None) -> list[Mapping[str, Any]]:
        """Spark's reports of the batches after that number."""
        return self._running.reports(after)

    def activity(self) -> str | None:
        """Spark's status text, None while it waits for the next batch."""
        if self._resume_at is not None:
            return f"waiting to retry, because {self._failure}"
        activity = self._running.activity()
        # A query that starts also has no activity for a moment; that is not progress yet.
        return f"restarting, because {self._failure}" if activity is None and self._failures else activity

    @property
    def failures(self) -> int:
        """How often the query has failed and was restarted."""
        return self._all_failures

    def poll(self) -> bool:
        """Waits 0.2 s and returns whether the query still runs, or will restart.

        Raises:
            ConfigError: too many records became dead letters; or see `pipeline.start`.
            UnmappedEndpointError: a leader is on a broker that the address map does not name.
            IncompleteError: the query failed, and retries failed as well or cannot help.
            BrokernatError: a step raised this error.
        """
        try:
            alive = self._resume() if self._resume_at is not None else self._running.poll()
        except (TransientFailureError, NothingReachableError) as error:
            self._retry_later(error)
            return True
        if self._limit and self._limit.is_exceeded:
            self._running.stop()
            if not alive:
                raise self._limit.error(self._prepared.pipeline.name)
        if alive and self._resume_at is None:
            self._check_slow_batch()
        return alive

    def _start_query(self) -> Run | EpochRun:
        return start(self._spark, self._prepared, self._batch_written, references=self._references, once=self._once)

    def _batch_written(self, report: BatchReport) -> None:
        self._failures, self._progress_at = 0, time.monotonic()
        self._on_batch(report)
        if self._limit:
            self._limit.add(report.counts)

    def _resume(self) -> bool:
        """Waits for the delay and restarts the query; returns False if a stop was requested."""
        assert self._resume_at is not None  # noqa: S101 - only called during a delay
        left = self._resume_at - time.monotonic()
        if self._stopping.wait(max(0.0, min(POLL_SECONDS, left))):
            return False
        if left <= POLL_SECONDS:
            self._running = self._start_query()
            self._resume_at = None
            self._started_at = self._progress_at = time.monotonic()
        return True

    def _retry_later(self, error: BrokernatError) -> None:
        self._check_leaders()
        now = time.monotonic()
        if not self._failures:
            self._failing_since = now
        self._failures += 1
        self._all_failures += 1
        pause = delay(self._failures, self._jitter)
        if self._stopping.is_set() or now + pause > self._failing_since + self._retry_for:
            raise error
        self._failure, self._resume_at = error.message, now + pause
        log.warning("%s; attempt %d starts in %s", error.message, self._failures + 1, in_words(max(1, pause)))

    def _check_slow_batch(self) -> None:
        now = time.monotonic()
        if self._running.activity() is None:
            self._progress_at = now
            if now - self._started_at > _LEADER_CHECK_SECONDS:
                # The query waits for records, so it no longer fails.
                self._failures = 0
        elif now - self._progress_at > _LEADER_CHECK_SECONDS:
            self._progress_at = now
            self._check_leaders()

    def _check_leaders(self) -> None:
        for cluster in self._prepared.clusters:
            if cluster.address_map is None:
                continue
            # A cluster that does not answer is skipped; the next check requests its leaders again.
            with (
                suppress(NothingReachableError, ConfigError),
                open_admin(self._spark, client_properties(cluster), cluster.name) as admin,
            ):
                for topic in self._prepared.topics[cluster.name]:
                    for leader in admin.leaders(topic):
                        cluster.address_map.translate(leader.endpoint, leader.node_id)
