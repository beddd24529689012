"""The sender thread: sends blocks in rounds, in order, and settles a block when all its records have an answer.

Each round is produced and flushed. When librdkafka's queues are empty, every record without an error report is
acknowledged by all in-sync replicas (`acks=all`, reports for errors only). So a delivered record needs no Python call,
and the application and the writer continue to run during the flush.

A broker that rejects a batch because of one record rejects all of its records. So rejected groups are halved
until each record is sent alone (`sort_refused`, pure). A record that failed with any other error is sent again.

Before sending, the id of the connected cluster is compared with the id that the spool's records are for, because the
bootstrap servers in the file may have changed.

After a fatal error of the idempotent producer, the producer is replaced, and records without an answer are sent again.
That can create duplicates, which have the same sequence number, but never a gap.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

from brokernat.shipping.block import SEQUENCE_HEADER, Block, Rejection
from brokernat.shipping.errors import OtherClusterError
from brokernat.shipping.producer import REACHED, Delay, KafkaFault, describe, is_rejection
from brokernat.shipping.spool import Spool
from brokernat.shipping.threads import log_later


class RecordRange(NamedTuple):
    """Consecutive records of a block in flight, from the sequence number `first` on."""

    block: Block
    first: int
    records: Sequence[bytes]


class SendResult(NamedTuple):
    """The records of a group that are not acknowledged yet."""

    split: list[list[RecordRange]]
    """Groups of records that were rejected in a batch, to be sent separately; the later one is first."""
    retry: list[RecordRange]
    """Records that failed with another error and are sent again."""
    trouble: KafkaFault | None
    """The first error of the records in `retry`."""
    rejection: Rejection | None
    """The record of the group, if it was sent alone and rejected."""


def sort_refused(group: Sequence[RecordRange], faults: Mapping[bytes, KafkaFault]) -> SendResult:
    """The result of a sent group.

    Args:
        group: the records that were sent together.
        faults: the error reports, by record.
    """
    failures = list(_failed_records(group, faults))
    refused = [run for run, fault in failures if is_rejection(fault)]
    if refused and sum(len(run.records) for run in group) == 1:
        (((block, sequence, (record,)), fault),) = failures
        return SendResult([], [], None, Rejection(block.source, sequence, describe(fault), record))
    half = len(refused) // 2
    return SendResult(
        split=[part for part in (refused[half:], refused[:half]) if part],
        retry=[run for run, fault in failures if not is_rejection(fault)],
        trouble=next((fault for _, fault in failures if not is_rejection(fault)), None),
        rejection=None,
    )


def _failed_records(
    group: Sequence[RecordRange], faults: Mapping[bytes, KafkaFault]
) -> Iterator[tuple[RecordRange, KafkaFault]]:
    """The records that were not acknowledged, each as its own range."""
    for block, first, records in group:
        for sequence, record in enumerate(records, first):
            if fault := faults.get(record):
                yield RecordRange(block, sequence, (record,)), fault


def _is_kafka_error(error: Exception) -> bool:
    """Whether the error is a `KafkaException` with a KafkaError."""
    return bool(error.args) and hasattr(error.args[0], "fatal")


_ROUND_BYTES: Final = 8 << 20
_METADATA_TIMEOUT: Final = 2.0
_IDLE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0
_REPORT_EVERY: Final = 60.0


class Sender:
    """The thread that sends the blocks of a spool, from `start` until `stop`."""

    def __init__(
        self,
        spool: Spool,
        topic: str,
        open_producer: Callable[[Callable[[KafkaFault], None]], Any],
        on_rejected: Callable[[Rejection], None] | None = None,
        find_delay: Callable[[Any, str], Iterator[Delay]] = lambda _producer, _topic: repeat(Delay()),
    ) -> None:
        """Does not start the thread.

        Args:
            spool: the spool to send.
            topic: the topic for the records.
            open_producer: creates a producer that calls the given function with its errors.
            on_rejected: called in the sender's thread with each record that the brokers reject permanently.
            find_delay: looks for the reason, given the producer and the topic, while nothing is acknowledged.
        """
        self._spool = spool
        self._topic = topic
        self._open_producer = open_producer
        self._on_rejected = on_rejected
        self._find_delay = find_delay
        self._delays: Iterator[Delay] | None = None
        self._delay = Delay()
        self._stop = threading.Event()
        self._position = 0
        self._broken = False
        self._all_down = self._reached = False
        self._last_failure = ""
        self._cluster_checked = self._cluster_known = False
        self.refused: OtherClusterError | None = None
        """The error that stops sending for ever."""
        self._outage_since: float | None = None
        self._next_report = 0.0
        self._faults: dict[bytes, KafkaFault] = {}
        self._producer: Any = None
        self.ident: int | None = None
        """The thread's id; a plain attribute, because every call of the handler reads it."""
        self._thread = threading.Thread(target=self._run, name="brokernat-sender", daemon=True)

    def start(self) -> None:
        """Begin with the oldest block of the spool.

        Raises:
            BrokernatError: the producer cannot be created.
        """
        self._renew()
        self._thread.start()

    def stop(self) -> None:
        """Stop sending; records without an answer stay in the spool."""
        self._stop.set()
        self._spool.arrived.set()
        self._thread.join()

    def abandon(self) -> object:
        """In a forked child: returns the objects that must never be closed there."""
        return self._producer, self._delays

    def _run(self) -> None:
        self.ident = threading.get_ident()
        pause = 0.0
        while not self._stop.wait(pause):
            begun = self._position
            try:
                if self._producer is None or self._broken:
                    self._renew()
                self._send_all()
            except Exception as error:  # noqa: BLE001 - after any error, records stay in the spool and are sent again
                self._report(f"{type(error).__name__}: {error}")
                self._broken = True
            # A producer that fails each time, for example because an ACL is missing, is replaced after growing pauses.
            pause = 0.0 if self._position > begun else min(_LONGEST_PAUSE, pause * 2 + _IDLE)
        self._close_producer()

    def _send_all(self) -> None:
        while not self._stop.is_set() and not self._broken:
            self._spool.arrived.clear()
            blocks = self._spool.blocks_after(self._position, _ROUND_BYTES)
            if blocks and (self._cluster_checked or self._check_cluster()):
                self._deliver(blocks)
            else:
                self._producer.poll(0)
                self._spool.arrived.wait(_IDLE)

    def _check_cluster(self) -> bool:
        """Whether the producer is connected to the cluster of the spool; compares the id once for each producer."""
        spool = self._spool
        try:
            metadata = self._producer.list_topics(self._topic, timeout=_METADATA_TIMEOUT)
        except Exception as error:
            if not _is_kafka_error(error):
                raise
            self._producer.poll(0)
            self._report(spool.trouble or describe(error.args[0]))
            self._stop.wait(_IDLE)
            return False
        found, topic = metadata.cluster_id, metadata.topics.get(self._topic)
        if topic is not None and topic.error is not None:
            # librdkafka waits for the topic, and reports it only after `topic.metadata.propagation.max.ms`.
            spool.trouble = describe(topic.error)
        if found and spool.cluster_id and found != spool.cluster_id:
            if (spool.found_pending or self._cluster_known) and not spool.redirected and spool.destination:
                self.refused = OtherClusterError(
                    spool.directory, spool.pending, spool.destination, spool.cluster_id, found
                )
                self._report(str(self.refused))
                self._stop.wait(_LONGEST_PAUSE)
                return False
            message = (
                "the spool %s was for the cluster with the id %s; its records now go to the cluster with the id %s"
            )
            log_later(logging.WARNING, message, spool.directory, spool.cluster_id, found)
        spool.cluster_id = found or spool.cluster_id
        self.refused = None
        self._cluster_checked = self._cluster_known = True
        return True

    def _deliver(self, blocks: list[Block]) -> None:
        """Sends until all records are acknowledged or rejected, then settles the blocks; a stop settles none."""
        groups = [[RecordRange(block, block.first, block.records) for block in blocks]]
        rejections: dict[int, list[Rejection]] = defaultdict(list)
        pause = 0.0
        while groups:
            group = groups.pop()
            if not self._send(group):
                return
            if not self._faults:
                continue
            result = sort_refused(group, self._faults)
            groups += result.split
            if result.rejection is not None:
                rejections[group[0].block.block_id].append(result.rejection)
            if result.trouble is not None:
                self._report(describe(result.trouble))
                groups.append(result.retry)
                pause = min(_LONGEST_PAUSE, pause * 2 + _IDLE)
                if self._stop.wait(pause):
                    return
        self._settle(blocks, rejections)

    def _send(self, group: Sequence[RecordRange]) -> bool:
        """Whether all records of the group have an answer; those not acknowledged are in `_faults`."""
        self._faults.clear()
        produce, topic, on_delivery = self._producer.produce, self._topic, self._on_delivery
        for block, first, records in group:
            key = block.source.encode()
            for sequence, record in enumerate(records, first):
                headers = [(SEQUENCE_HEADER, b"%b/%d" % (key, sequence))]
                while True:
                    try:
                        produce(topic, record, key, headers=headers, on_delivery=on_delivery)
                        break
                    except BufferError:
                        if self._stop.is_set():
                            return False
                        self._producer.poll(_IDLE)
                    except Exception as error:
                        # librdkafka rejected it before queueing it, for example because it is too large.
                        if not _is_kafka_error(error):
                            raise
                        self._store_fault(record, error.args[0])
                        break
        return self._flushed()

    def _flushed(self) -> bool:
        """Whether all records have an answer; False if they cannot get one."""
        least = math.inf
        while waiting := self._producer.flush(_IDLE):
            if self._stop.is_set() or self._broken:
                return False
            if self._delays is None or waiting < least:
                least, self._delays = waiting, self._find_delay(self._producer, self._topic)
            delay = next(self._delays)
            if delay.reason and (delay.is_certain or self._spool.trouble in ("", self._delay.reason)):
                self._delay, self._spool.trouble = delay, delay.reason
            if self._spool.trouble:
                self._report(self._spool.trouble)
        self._delays = None
        return not self._broken

    def _settle(self, blocks: list[Block], rejections: dict[int, list[Rejection]]) -> None:
        for block in blocks:
            self._spool.settled(block, rejections.get(block.block_id, ()))
            self._position = block.block_id
        self._spool.trouble, self._delay = "", Delay()
        self._all_down = self._reached = False
        if self._outage_since is not None:
            lasted, self._outage_since = time.monotonic() - self._outage_since, None
            log_later(logging.INFO, "delivery resumed after %.0f s; %d records wait", lasted, self._spool.pending)
        for one in sorted(chain.from_iterable(rejections.values()), key=lambda one: one.sequence):
            log_later(logging.WARNING, "record %s/%d was rejected: %s", one.source, one.sequence, one.reason)
            if self._on_rejected is not None:
                try:
                    self._on_rejected(one)
                except Exception as error:  # noqa: BLE001 - the callback belongs to the application
                    log_later(logging.ERROR, "the callback for rejected records failed: %r", error)

    def _on_delivery(self, fault: KafkaFault | None, message: Any) -> None:
        if fault is not None:
            self._store_fault(message.value(), fault)

    def _store_fault(self, record: bytes, fault: KafkaFault) -> None:
        """Stores the error of a record; a fatal one also ends the use of this producer."""
        self._faults[record] = fault
        self._broken |= fault.fatal()

    def _client_error(self, fault: KafkaFault) -> None:
        """Stores an error of the client, mostly of one connection; it is reported only while records wait."""
        self._broken |= fault.fatal()
        if fault.name() == "_ALL_BROKERS_DOWN":
            self._all_down, self._delay = True, Delay()
        else:
            self._last_failure = describe(fault)
            self._reached |= fault.name() in REACHED
        all_down = "no broker can be reached, the last error is: " if self._all_down and not self._reached else ""
        self._spool.trouble = self._delay.reason if self._delay.is_certain else all_down + self._last_failure

    def _report(self, trouble: str) -> None:
        """Reports a new problem at once, then once a minute, because librdkafka repeats it."""
        self._spool.trouble = trouble
        now = time.monotonic()
        if self._outage_since is None or now >= self._next_report:
            self._outage_since = self._outage_since or now
            self._next_report = now + _REPORT_EVERY
            spool = self._spool
            log_later(logging.WARNING, "records for %s wait in the spool %s: %s", self._topic, spool.directory, trouble)

    def _renew(self) -> None:
        self._close_producer()
        self._producer = self._open_producer(self._client_error)
        self._broken = self._cluster_checked = False

    def _close_producer(self) -> None:
        """Does not wait for records in flight: they stay in the spool."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(1)
            self._producer = self._delays = None
