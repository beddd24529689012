"""The sender thread: sends blocks in rounds, in order, and settles a block when all its records have an answer.

A round is produced and flushed: when librdkafka's queues are empty, every record without an error report is
acknowledged by all in-sync replicas (`acks=all`, reports for errors only). So a delivered record needs no Python call,
and application and writer continue during the flush.

A broker that rejects a batch because of one record rejects all of its records. So rejected groups are halved until each
record is sent alone (`sort_refused`, pure). After an error that is not about the record, it is sent again.

Before sending, the id of the connected cluster is compared with the id that the spool's records are for, because the
bootstrap servers in the file may have changed.

After a fatal error of the idempotent producer, the producer is replaced, and records without an answer are sent again.
That can create duplicates, recognisable by the sequence number, but never a gap.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from brokernat.shipping.block import SEQUENCE_HEADER, Block, Rejection
from brokernat.shipping.errors import OtherClusterError
from brokernat.shipping.producer import KafkaFault, describe, rejects
from brokernat.shipping.spool import Spool
from brokernat.shipping.threads import log_later


class RecordRange(NamedTuple):
    """Consecutive records of a block in flight, from the sequence number `first` on."""

    block: Block
    first: int
    records: Sequence[bytes]


class SendResult(NamedTuple):
    """The records of a group that are not acknowledged yet."""

    apart: list[list[RecordRange]]
    """Rejected in a batch: groups, to be sent separately; the later one is first."""
    again: list[RecordRange]
    """Not delivered, but not because of the record."""
    trouble: KafkaFault | None
    """Why these were not delivered."""
    rejection: Rejection | None
    """Rejected when sent alone."""


def sort_refused(group: Sequence[RecordRange], faults: Mapping[bytes, KafkaFault]) -> SendResult:
    """The result of a sent group.

    Args:
        group: the records that were sent together.
        faults: the error reports, by record.
    """
    faulty = list(_faulty(group, faults))
    refused = [run for run, fault in faulty if rejects(fault)]
    if refused and sum(len(run.records) for run in group) == 1:
        (((block, sequence, (record,)), fault),) = faulty
        return SendResult([], [], None, Rejection(block.source, sequence, describe(fault), record))
    half = len(refused) // 2
    return SendResult(
        apart=[part for part in (refused[half:], refused[:half]) if part],
        again=[run for run, fault in faulty if not rejects(fault)],
        trouble=next((fault for _, fault in faulty if not rejects(fault)), None),
        rejection=None,
    )


def _faulty(
    group: Sequence[RecordRange], faults: Mapping[bytes, KafkaFault]
) -> Iterator[tuple[RecordRange, KafkaFault]]:
    """The records that were not acknowledged, each as its own range."""
    for block, first, records in group:
        for sequence, record in enumerate(records, first):
            if fault := faults.get(record):
                yield RecordRange(block, sequence, (record,)), fault


def _is_of_kafka(error: Exception) -> bool:
    """Whether it is a `KafkaException` with a KafkaError."""
    return bool(error.args) and hasattr(error.args[0], "fatal")


_ROUND_BYTES: Final = 8 << 20
_ANSWER: Final = 2.0
_IDLE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0
_TELL_EVERY: Final = 60.0


class Sender:
    """Runs from `start` until `stop`."""

    def __init__(
        self,
        spool: Spool,
        topic: str,
        open_producer: Callable[[Callable[[KafkaFault], None]], Any],
        on_rejected: Callable[[Rejection], None] | None = None,
    ) -> None:
        """Does not start the thread.

        Args:
            spool: the spool to send.
            topic: the topic for the records.
            open_producer: creates a producer that calls the given function with its errors.
            on_rejected: called in the sender's thread with each record that the brokers reject permanently.
        """
        self._spool = spool
        self._topic = topic
        self._open_producer = open_producer
        self._on_rejected = on_rejected
        self._stop = threading.Event()
        self._position = 0
        self._broken = False
        self._all_down = False
        self._last_failure = ""
        self._right_cluster = self._knows_cluster = False
        self.refused: OtherClusterError | None = None
        """The error that stops sending for ever."""
        self._outage_since: float | None = None
        self._tell_at = 0.0
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
        """Stop; records without an answer stay in the spool."""
        self._stop.set()
        self._spool.arrived.set()
        self._thread.join()

    def abandon(self) -> object:
        """In a forked child: returns the objects that must never be closed there."""
        return self._producer

    def _run(self) -> None:
        self.ident = threading.get_ident()
        pause = 0.0
        while not self._stop.wait(pause):
            begun = self._position
            try:
                if self._producer is None or self._broken:
                    self._renew()
                self._send_all()
            except Exception as error:  # noqa: BLE001 - whatever it is, records stay in the spool and are sent again
                self._report(f"{type(error).__name__}: {error}")
                self._broken = True
            # A producer that fails each time, such as for a missing ACL, is replaced after growing pauses.
            pause = 0.0 if self._position > begun else min(_LONGEST_PAUSE, pause * 2 + _IDLE)
        self._close_producer()

    def _send_all(self) -> None:
        while not self._stop.is_set() and not self._broken:
            self._spool.arrived.clear()
            blocks = self._spool.blocks_after(self._position, _ROUND_BYTES)
            if blocks and (self._right_cluster or self._finds_right_cluster()):
                self._deliver(blocks)
            else:
                self._producer.poll(0)
                self._spool.arrived.wait(_IDLE)

    def _finds_right_cluster(self) -> bool:
        """Compares the cluster id once for each producer, as soon as brokers answer."""
        spool = self._spool
        try:
            found = self._producer.list_topics(self._topic, timeout=_ANSWER).cluster_id
        except Exception as error:
            if not _is_of_kafka(error):
                raise
            self._producer.poll(0)
            self._report(spool.trouble or describe(error.args[0]))
            self._stop.wait(_IDLE)
            return False
        if found and spool.cluster_id and found != spool.cluster_id:
            if (spool.found_pending or self._knows_cluster) and not spool.redirected and spool.destination:
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
        self._right_cluster = self._knows_cluster = True
        return True

    def _deliver(self, blocks: list[Block]) -> None:
        """Sends until all records are acknowledged or rejected, then settles; on a stop nothing is settled."""
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
            groups += result.apart
            if result.rejection is not None:
                rejections[group[0].block.block_id].append(result.rejection)
            if result.trouble is not None:
                self._report(describe(result.trouble))
                groups.append(result.again)
                pause = min(_LONGEST_PAUSE, pause * 2 + _IDLE)
                if self._stop.wait(pause):
                    return
        self._settle(blocks, rejections)

    def _send(self, group: Sequence[RecordRange]) -> bool:
        """Whether all records of the group have an answer; those not acknowledged are in `_faults`."""
        self._faults.clear()
        produce, topic, failed = self._producer.produce, self._topic, self._failed
        for block, first, records in group:
            key = block.source.encode()
            for sequence, record in enumerate(records, first):
                headers = [(SEQUENCE_HEADER, b"%b/%d" % (key, sequence))]
                while True:
                    try:
                        produce(topic, record, key, headers=headers, on_delivery=failed)
                        break
                    except BufferError:
                        if self._stop.is_set():
                            return False
                        self._producer.poll(_IDLE)
                    except Exception as error:
                        # Rejected before it was queued.
                        if not _is_of_kafka(error):
                            raise
                        self._note(record, error.args[0])
                        break
        return self._flushed()

    def _flushed(self) -> bool:
        """Whether all records have an answer; False if they cannot get one."""
        while self._producer.flush(_IDLE):
            if self._stop.is_set() or self._broken:
                return False
            if self._spool.trouble:
                self._report(self._spool.trouble)
        return not self._broken

    def _settle(self, blocks: list[Block], rejections: dict[int, list[Rejection]]) -> None:
        for block in blocks:
            self._spool.settled(block, rejections.get(block.block_id, ()))
            self._position = block.block_id
        self._spool.trouble = ""
        self._all_down = False
        if self._outage_since is not None:
            lasted, self._outage_since = time.monotonic() - self._outage_since, None
            log_later(logging.INFO, "delivery resumed after %.0f s; %d records wait", lasted, self._spool.pending)
        for one in sorted(chain.from_iterable(rejections.values()), key=lambda one: one.sequence):
            log_later(logging.WARNING, "record %s/%d was rejected: %s", one.source, one.sequence, one.reason)
            if self._on_rejected is not None:
                try:
                    self._on_rejected(one)
                except Exception as error:  # noqa: BLE001 - the application's
                    log_later(logging.ERROR, "the callback for rejected records failed: %r", error)

    def _failed(self, fault: KafkaFault | None, message: Any) -> None:
        if fault is not None:
            self._note(message.value(), fault)

    def _note(self, record: bytes, fault: KafkaFault) -> None:
        self._faults[record] = fault
        self._broken |= fault.fatal()

    def _client_error(self, fault: KafkaFault) -> None:
        """Handles a client error, mostly of one connection; reports it only if records wait for it."""
        self._broken |= fault.fatal()
        if fault.name() == "_ALL_BROKERS_DOWN":
            self._all_down = True
        else:
            self._last_failure = describe(fault)
        all_down = "no broker can be reached, the last error is: " if self._all_down else ""
        self._spool.trouble = all_down + self._last_failure

    def _report(self, trouble: str) -> None:
        """Reports a new problem at once, then once a minute, because librdkafka repeats it."""
        self._spool.trouble = trouble
        now = time.monotonic()
        if self._outage_since is None or now >= self._tell_at:
            self._outage_since = self._outage_since or now
            self._tell_at = now + _TELL_EVERY
            log_later(logging.WARNING, "records wait in the spool: %s", trouble)

    def _renew(self) -> None:
        self._close_producer()
        self._producer = self._open_producer(self._client_error)
        self._broken = self._right_cluster = False

    def _close_producer(self) -> None:
        """Does not wait for records in flight: they stay in the spool."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(1)
            self._producer = None
