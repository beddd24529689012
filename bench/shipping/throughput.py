"""Shipped messages per second against a bare loop around confluent-kafka's `produce`.

Lines: `brokernat ship` of a file against a loop that reads the same file, makes the same JSON and produces it. Logs:
`logger.info` with KafkaHandler against `logger.info` with a handler of five lines that formats JSON and produces. The
bare sides lose what a kill finds in memory; their producer has the same settings, idempotence among them.
"""

import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.ratios import in_turns, interval
from bench.report import say, verdict
from confluent_kafka import Producer
from tests.support.cluster_admin import delete_topics

from brokernat.shipping import KafkaHandler, Spool
from brokernat.shipping.producer import open_producer
from brokernat.shipping.sender import Sender
from brokernat.shipping.shipment import Shipment
from brokernat.shipping.tail import Tail
from brokernat.testbed import RunningCluster

GOAL = 0.8


class Bench:
    """One broker, one file of lines."""

    def __init__(self, work: Path, cluster: RunningCluster, records: int) -> None:
        self.work, self.running, self.records = work, cluster, records
        self.cluster = cluster.cluster
        self.file = work / "lines.log"
        self.runs = 0
        with self.file.open("w") as file:
            file.writelines(
                f"2026-01-01 12:00:00 INFO orders: order {n} of customer c-{n % 997} was paid, " + "x" * 40 + "\n"
                for n in range(records)
            )

    def timed(self, run: Callable[[str], None]) -> Callable[[], float]:
        """Seconds of a run into a topic of its own."""

        def timed_run() -> float:
            self.runs += 1
            topic = f"bench-{self.runs}"
            self.running.create_topic(topic, partitions=1)
            start = time.perf_counter()
            run(topic)
            seconds = time.perf_counter() - start
            arrived = sum(self.running.end_offsets(topic).values())
            assert arrived == self.records, f"{arrived} of {self.records}"
            delete_topics(self.running, topic)
            return seconds

        return timed_run

    def bare_lines(self, topic: str) -> None:
        producer, host = self._producer(), socket.gethostname()
        with self.file.open("rb") as file:
            for line in file:
                record = {"time": time.time(), "host": host, "file": str(self.file), "message": line[:-1].decode()}
                _produce(producer, topic, json.dumps(record).encode())
        producer.flush()

    def shipped_lines(self, topic: str) -> None:
        spool = Spool(self.work / f"spool-{topic}")
        sender = Sender(spool, topic, lambda on_error: open_producer(self.cluster, on_error, {}))
        tail = Tail([str(self.file)], spool.positions(), from_beginning=True)
        assert Shipment(spool, sender, tail=tail).run(once=True, patience=600) == 0

    def bare_logs(self, topic: str) -> None:
        handler = _Bare(self._producer(), topic)
        self._log(handler)
        handler.producer.flush()

    def shipped_logs(self, topic: str) -> None:
        handler = KafkaHandler(self.cluster, topic, self.work / f"spool-{topic}", on_full="block", close_timeout=600)
        self._log(handler)
        handler.close()

    def _log(self, handler: logging.Handler) -> None:
        log = logging.getLogger("bench.throughput")
        log.propagate = False
        log.setLevel(logging.INFO)
        log.addHandler(handler)
        for number in range(self.records):
            log.info("order %d of customer %s was paid", number, "c-1234")
        log.removeHandler(handler)

    def _producer(self) -> Any:
        return open_producer(self.cluster, lambda _: None, {})


class _Bare(logging.Handler):
    """What one writes in an afternoon."""

    def __init__(self, producer: Producer, topic: str) -> None:
        super().__init__()
        self.producer, self.topic, self.host = producer, topic, socket.gethostname()

    def emit(self, record: logging.LogRecord) -> None:
        content = {
            "time": record.created,
            "host": self.host,
            "process": record.processName,
            "pid": record.process,
            "thread": record.threadName,
            "logger": record.name,
            "level": record.levelname,
            "message": record.getMessage(),
        }
        _produce(self.producer, self.topic, json.dumps(content).encode())


def _produce(producer: Any, topic: str, value: bytes) -> None:
    try:
        producer.produce(topic, value, on_delivery=_delivered)
    except BufferError:
        producer.poll(1)
        producer.produce(topic, value, on_delivery=_delivered)
    producer.poll(0)


def _delivered(error: object, _: object) -> None:
    assert error is None, error


def measure(work: Path, cluster: RunningCluster, rounds: int, records: int) -> Iterator[bool]:
    """Both kinds, as ratios of speed, the lower end of the interval against the goal."""
    bench = Bench(work, cluster, records)
    for name, bare, shipped in (
        ("lines", bench.bare_lines, bench.shipped_lines),
        ("logs", bench.bare_logs, bench.shipped_logs),
    ):
        _, *taken = in_turns([bench.timed(bare), bench.timed(shipped), bench.timed(bare)], rounds + 1)
        control = interval([first / again for first, _, again in taken])
        figure = interval([(first + again) / 2 / seconds for first, seconds, again in taken])
        seconds = sum(seconds for _, seconds, _ in taken) / len(taken)
        say(f"{name}: {records} records, shipped {seconds:.1f} s, {records / seconds:,.0f} records/s")
        say(f"     bare / bare (A/A)  {control.show(3)}")
        yield verdict(f"{name}, shipped / bare", figure.show(3), f">= {GOAL}", figure.mean >= GOAL)
