"""Commits the offsets of batches for a consumer group, so that Kafka's own tools show the lag of a pipeline.

The group has no members: Spark assigns partitions itself and starts from its checkpoint. Nothing reads these offsets,
so a failed commit is only a warning, once for each cause.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import client_properties
from brokernat.pipelines.kafka.admin import KafkaAdmin, open_admin
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_FINAL_COMMIT_SECONDS = 5
"""How long a run waits for the last commit when it ends."""
_RETRY_SECONDS = 10
"""The pause after a failed commit, before the same offsets are sent again."""


class GroupOffsets:
    """The offsets of one group. Commits are asynchronous; a commit includes the offsets of a failed one before it."""

    def __init__(self, admin: KafkaAdmin, group: str) -> None:
        self._admin = admin
        self._group = group
        self._sent: int | None = None
        """The batch whose end offsets were sent last."""
        self._pending: Any = None
        self._warned_of: set[str] = set()
        self._not_before = 0.0

    def follow(self, progress: Progress) -> None:
        """Sends the end offsets of a batch that was committed since the last call; one request at a time."""
        if self._pending is not None and not self._pending.isDone():
            return
        self._finish_pending()
        if progress.committed != self._sent and progress.partitions and time.monotonic() >= self._not_before:
            ends = {(partition.topic, partition.partition): partition.end for partition in progress.partitions}
            self._pending = self._admin.alter_group_offsets(self._group, ends)
            self._sent = progress.committed

    def end(self, progress: Progress) -> None:
        """Sends the last end offsets and waits a few seconds for the response."""
        self._finish_pending()
        self.follow(progress)
        self._finish_pending()

    def _finish_pending(self) -> None:
        from py4j.protocol import Py4JJavaError

        if self._pending is None:
            return
        try:
            self._admin.wait_for(self._pending, _FINAL_COMMIT_SECONDS)
        except Py4JJavaError as error:
            cause, self._sent = root_cause(error), None
            self._not_before = time.monotonic() + _RETRY_SECONDS
            if cause not in self._warned_of:
                self._warned_of.add(cause)
                log.warning("the offsets of group %s could not be committed: %s", self._group, cause)
        self._pending = None


@contextmanager
def group_offsets(spark: SparkSession, prepared: Prepared) -> Iterator[GroupOffsets | None]:
    """The consumer group of a pipeline's source for the block, None without `commit_group`."""
    group = prepared.pipeline.source.commit_group
    if group is None:
        yield None
        return
    with open_admin(spark, client_properties(prepared.source), prepared.source.name) as admin:
        yield GroupOffsets(admin, group)
