"""`KafkaHandler` for `logging`: the queue, the spool and the sender of one process.

By default log calls never wait: a record that does not fit is dropped and counted. With `audit=True` the call returns
when the record is committed to the spool and synced to the disk, or raises; records of several threads share a commit.

The handler ignores records of Kafka's clients, of shipping itself and of shipping's threads, because each record would
create another one.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from brokernat.config import Cluster, load
from brokernat.config.fields import check_topic
from brokernat.shipping import threads
from brokernat.shipping.block import Destination, Rejection
from brokernat.shipping.errors import NotShippedError
from brokernat.shipping.producer import find_delay, open_admin, open_producer, require_all_acks
from brokernat.shipping.queue import OnFull, RecordQueue, SpoolWriter
from brokernat.shipping.record import RecordEncoder
from brokernat.shipping.sender import Sender
from brokernat.shipping.spool import DEFAULT_LIMIT, Spool, open_numbered
from brokernat.shipping.status import Status

EXCLUDED: Final = ("brokernat.shipping", "confluent_kafka", "kafka", "aiokafka")
_POLL_INTERVAL: Final = 0.02
_LOGGED_WITHIN: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Parts:
    """The objects of a handler in one process."""

    queue: RecordQueue
    spool: Spool
    writer: SpoolWriter
    sender: Sender


class KafkaHandler(logging.Handler):
    """Ships records to a topic through a spool on disk."""

    def __init__(
        self,
        cluster: Cluster | str,
        topic: str,
        spool: Path | str,
        *,
        audit: bool = False,
        on_full: str | None = None,
        max_spool: int = DEFAULT_LIMIT,
        shared_spool: bool = False,
        on_rejected: Callable[[Rejection], None] | None = None,
        close_timeout: float = 5.0,
        config: Path | str = "brokernat.yaml",
        producer: Mapping[str, object] | None = None,
        level: int = logging.NOTSET,
    ) -> None:
        """Opens the spool and begins to send the records of earlier processes.

        Args:
            cluster: a cluster, or the name of one in `config`.
            topic: the topic for the records.
            spool: the folder of the spool, on a local disk; one process at a time.
            audit: whether a call returns only when its record is on the disk.
            on_full: what a call does without room: `drop` the record (not with `audit`), `block` until there is room
                (the default with `audit`), or `raise` NotShippedError (with `audit` only).
            max_spool: the maximum bytes of records in the spool.
            shared_spool: whether several processes share this folder; each uses a numbered spool in it.
            on_rejected: called in a thread of shipping with each record that the brokers reject permanently.
            close_timeout: seconds that `close` (and the end of the interpreter) waits for acknowledgements.
            config: the file with the cluster.
            producer: librdkafka properties, which override brokernat's; `acks` cannot be set with `audit`.
            level: as for every handler of `logging`.

        Raises:
            SpoolBusyError: another process has the spool.
            OtherDestinationError: the spool holds records for another topic or cluster.
            SpoolDamagedError: the spool cannot be read.
            SpoolFullError: the disk is full.
            SpoolUnsafeError: others may write the folder, or a file in it is a link.
            MissingToolError: confluent-kafka is not installed.
            ConfigError: there is no such cluster, Kafka has no topics of this name, librdkafka does not support the
                cluster's properties, or the spool's folder cannot be created or written.
            ValueError: `on_full` and `audit` exclude each other.
        """
        self._audit = audit
        self._on_full = OnFull(on_full or (OnFull.BLOCK if audit else OnFull.DROP))
        if (self._on_full is OnFull.DROP) if audit else (self._on_full is OnFull.RAISE):
            raise ValueError(f"on_full={self._on_full} cannot be combined with audit={audit}")
        if audit:
            require_all_acks(producer or {})
        check_topic(topic)
        target = cluster if isinstance(cluster, Cluster) else load(config).cluster(cluster)
        self._destination = Destination(target.name, topic)
        self._directory = Path(spool).absolute()
        self._limit = max_spool
        self._on_rejected = on_rejected
        self._close_timeout = close_timeout
        overrides = dict(producer or {})
        self._open_producer = partial(open_producer, target, overrides=overrides)
        self._find_delay = partial(find_delay, target, partial(open_admin, target, overrides))
        self._encoder = RecordEncoder()
        self._opening = threading.RLock()
        self._closed = False
        self._parts: _Parts | None = self._open(open_numbered if shared_spool else Spool)
        # Called last: after an error above, `logging.shutdown` must not find an incomplete handler in its list.
        super().__init__(level)
        threads.register(self)

    def handle(self, record: logging.LogRecord) -> Any:
        """Like `logging.Handler.handle`, but an audit call that waits for the disk does not hold the handler's lock."""
        filtered: Any = self.filter(record)
        if filtered:
            self.emit(filtered if isinstance(filtered, logging.LogRecord) else record)
        return filtered

    def emit(self, record: logging.LogRecord) -> None:
        """Accept the record.

        Raises:
            NotShippedError: with `audit`, if the record is not in the spool.
            SpoolUnsafeError, SpoolFullError, ConfigError: with `audit`, if a forked child cannot open a spool.
        """
        name = record.name or ""  # may be missing in a record of `makeLogRecord`
        if name.startswith(EXCLUDED) and _excluded(name):
            return
        try:
            parts = self._parts or self._reopen()
            if threading.get_ident() in (parts.writer.ident, parts.sender.ident):
                return
            body = self._encoder.encode(record, self.formatter)
        except Exception:
            if self._audit:
                raise
            # For example, a forked child without a spool: `logging` reports it as for any failing handler; not raised.
            self.handleError(record)
            return
        receipt = parts.queue.offer(body, receipt=self._audit)
        if receipt is not None:
            receipt.result()

    def flush(self, timeout: float | None = None) -> bool:  # type: ignore[override] # returns more than its base
        """Writes all records so far into the spool; with `timeout` (seconds) also waits for the brokers.

        Returns:
            Whether all records are acknowledged or rejected.
        """
        parts = self._parts
        if parts is None:
            return True
        deadline = time.monotonic() + (self._close_timeout if timeout is None else timeout)
        stored = parts.writer.wait_until_stored(parts.queue.offered, deadline)
        while timeout is not None and parts.spool.pending and time.monotonic() < deadline:
            time.sleep(_POLL_INTERVAL)
        return stored and not parts.spool.pending

    def status(self) -> Status:
        """The counts of this process's spool."""
        parts = self._parts or self._reopen()
        spool = parts.spool
        totals = spool.totals()
        return Status(
            directory=spool.directory,
            source=spool.source,
            in_use=not self._closed,
            accepted=totals.accepted,
            acknowledged=totals.acknowledged,
            rejected=totals.rejected,
            pending=totals.pending,
            refused=spool.refused_before + parts.queue.refused,
            queued=parts.queue.depth[0],
            held=spool.held,
            limit=spool.limit,
            cluster=self._destination.cluster,
            topic=self._destination.topic,
            trouble=parts.queue.stalled or (spool.trouble if totals.pending else ""),
        )

    def close(self) -> None:
        """Writes the queue into the spool and sends for up to `close_timeout` seconds; the rest stays in the spool."""
        with self._opening:
            parts, was_closed = self._parts, self._closed
            self._closed = True
            if parts is not None and not was_closed:
                parts.queue.close("the handler is closed")
                self.flush(self._close_timeout)
                parts.sender.stop()
                parts.writer.stop(self._close_timeout)
                parts.spool.close()
                # Bounded: whoever closes handlers may hold a lock of `logging` that the message needs.
                threads.wait_for_log(_LOGGED_WITHIN)
        super().close()

    def after_fork(self) -> None:
        """Drops the parent's queue, spool and sender in a forked child."""
        if self._parts is not None:
            threads.keep_alive(*self._parts.spool.abandon(), self._parts.sender.abandon())
        self._opening = threading.RLock()
        self._encoder = RecordEncoder()
        self._parts = None

    def _reopen(self) -> _Parts:
        with self._opening:
            if self._parts is None:
                if self._closed:
                    raise NotShippedError("the handler was closed before the fork")
                self._parts = self._open(open_numbered)
            return self._parts

    def _open(self, open_spool: Callable[..., Spool]) -> _Parts:
        spool = open_spool(self._directory, self._limit, durable=self._audit, destination=self._destination)
        queue = RecordQueue(self._on_full, largest=spool.largest)
        sender = Sender(spool, self._destination.topic, self._open_producer, self._on_rejected, self._find_delay)
        parts = _Parts(queue, spool, SpoolWriter(queue, spool), sender)
        try:
            parts.sender.start()
        except BaseException:
            spool.close()
            raise
        parts.writer.start()
        _close_at_end_of_process(self)
        return parts


def _excluded(name: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in EXCLUDED)


def _close_at_end_of_process(handler: KafkaHandler) -> None:
    """Closes handlers in a child of `multiprocessing`, which ends without `atexit` and `logging.shutdown`."""
    processes = sys.modules.get("multiprocessing.util")
    if processes is not None and sys.modules["multiprocessing"].parent_process() is not None:
        processes.Finalize(None, handler.close, exitpriority=0)
