"""How long a record takes through a pipeline: `python -m bench.pipelines.latency`. README.md says how to read it.

A producer writes orders at a fixed rate, `brokernat pipeline run` makes tags of them, and a consumer of its own reads
the tags. A latency is the time between the moment that an order names, just before it is produced, and the moment at
which the consumer has its tag; all three share this machine's clock. `--side hand` measures the job that is written by
hand, in Spark's micro-batches.
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles

from bench.agent.jvms import CLIENT
from bench.pipelines.job import ORDERS, PIPELINE, TAGS, Work
from bench.pipelines.sides import servers, source_of_pipeline, world_of_orders, write_files
from bench.report import describe_machine, keep_files_in_memory, say

from brokernat.config import Cluster
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.place import wait_until

START_SECONDS = 600
"""The longest time until the first tag."""
_PAUSE_MS = 50.0
"""A latency from which on a record has met the end of an epoch."""


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines.latency", description=__doc__)
    parser.add_argument("--side", choices=["pipeline", "hand"], default="pipeline", help="default %(default)s")
    parser.add_argument("--mode", choices=["micro-batch", "realtime"], default="realtime", help="default %(default)s")
    parser.add_argument("--epoch", help="of realtime; the product's default unless given, for example '30 seconds'")
    parser.add_argument("--rate", type=int, default=2_000, help="records per second; default %(default)s")
    parser.add_argument("--seconds", type=int, default=300, help="measured; default %(default)s")
    parser.add_argument("--warm", type=int, default=30, help="seconds that are not counted; default %(default)s")
    parser.add_argument("--partitions", type=int, default=4, help="default %(default)s")
    parser.add_argument("--customers", type=int, default=100_000, help="rows of the reference; default %(default)s")
    parser.add_argument("--through-gateway", action="store_true", help="the pipeline reads through map and nginx")
    parser.add_argument("--conf", action="append", default=[], help="a setting of Spark's, NAME=VALUE; repeatable")
    wanted = parser.parse_args()
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    with (
        world_of_orders(wanted.partitions) as (world, place),
        source_of_pipeline(world, place, through_nginx=wanted.through_gateway) as source,
    ):
        write_first_order(world.hq.direct)
        mode = {"mode": wanted.mode} | ({"epoch": wanted.epoch} if wanted.epoch else {})
        if wanted.side == "hand":
            words = by_hand(place, world, wanted.partitions, wanted.customers)
        else:
            words = by_pipeline(place, source, world, wanted.partitions, wanted.customers, mode, wanted.conf)
        with running(words):
            latencies = _measure(world.hq.direct, world.local.cluster, wanted)
    goals = wanted.mode == "realtime" and wanted.side == "pipeline"
    return 0 if latencies and _report(latencies, goals=goals) else 1


def by_hand(place: Path, world: LoopbackWorld, partitions: int, customers: int) -> list[str]:
    """The command of the job by hand, with a task slot for each partition; `place` has its files and its state."""
    write_files(place, world.hq.direct, world.local.direct, customers, None, {})
    master, source, sink = _master(partitions), servers(world.hq.direct), servers(world.local.direct)
    work = Work(str(place), master, source, sink, None, transform=False)
    return [str(Path(__file__).with_name("job.py")), "stream", json.dumps(asdict(work))]


def by_pipeline(
    place: Path,
    source: Cluster,
    world: LoopbackWorld,
    partitions: int,
    customers: int,
    mode: dict[str, str],
    settings: Sequence[str] = (),
) -> list[str]:
    """What a user of the pipeline types: the same, with the pipeline's mode and Spark settings (NAME=VALUE)."""
    write_files(place, source, world.local.direct, customers, None, mode)
    run = ["-m", "brokernat", "pipeline", "run", PIPELINE, "--config", str(place / "brokernat.yaml")]
    settings = ["spark.ui.enabled=false", "spark.driver.memory=3g", *settings]
    return [*run, "--master", _master(partitions), *(word for setting in settings for word in ("--conf", setting))]


def _master(partitions: int) -> str:
    return f"local[{partitions},4]"


@contextlib.contextmanager
def running(words: list[str]) -> Iterator[None]:
    """A side for the block; what it prints goes to standard error."""
    process = subprocess.Popen([sys.executable, *words], stdout=sys.stderr, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _measure(hq: Cluster, local: Cluster, wanted: argparse.Namespace) -> list[tuple[float, float]]:
    """Arrival (seconds since 1970) and latency (milliseconds) of each tag after the warm-up."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": servers(local),
            "group.id": "latency",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 500,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(TAGS, number, 0) for number in range(wanted.partitions)])
    wait_until(lambda: consumer.poll(0.1) is not None, "the first tag", timeout=START_SECONDS)
    fork = get_context("spawn")
    producing = fork.Process(target=_produce, args=(servers(hq), wanted.rate, wanted.customers), daemon=True)
    producing.start()
    try:
        begin = time.time() + wanted.warm
        found: list[tuple[float, float]] = []
        while (now := time.time()) < begin + wanted.seconds:
            for record in consumer.consume(10_000, timeout=0.001) if now < begin else [consumer.poll(0.1)]:
                if record is None or record.error() or now < begin:
                    continue
                arrived = time.time()
                written = datetime.fromisoformat(json.loads(record.value() or b"")["at"])
                found.append((arrived, 1000 * (arrived - written.timestamp())))
        return found
    finally:
        producing.terminate()
        producing.join()
        consumer.close()


def write_first_order(hq: Cluster) -> None:
    """What the first tag is made of."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers(hq)})
    producer.produce(ORDERS, _order(0, "c0"))
    producer.flush()


def _produce(bootstrap: str, rate: int, customers: int) -> None:
    """Orders at a fixed rate until the process is ended, in steps of 5 ms."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1, "acks": "1"})
    began, written = time.monotonic(), 0
    draw = random.Random(1)
    for _ in itertools.count():
        due = int((time.monotonic() - began) * rate)
        for number in range(written, due):
            producer.produce(ORDERS, _order(number, f"c{draw.randrange(customers)}"), key=str(number).encode())
        written = max(written, due)
        producer.poll(0.005)


def _order(number: int, customer: str) -> bytes:
    """About 200 bytes of JSON."""
    order = {"order_id": f"order-{number:012}", "customer_id": customer, "amount": number % 1000 / 8}
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return json.dumps(order | {"at": now, "note": "x" * 70}).encode()


def _report(latencies: list[tuple[float, float]], *, goals: bool) -> bool:
    values = [latency for _, latency in latencies]
    cuts = quantiles(values, n=100)
    span = latencies[-1][0] - latencies[0][0]
    say(f"records     {len(values)} in {span:.0f} s ({len(values) / span:.0f}/s)")
    figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(values)}
    say(f"latency ms  {', '.join(f'{name} {value:.1f}' for name, value in figures.items())}")
    if goals:
        longest = _pauses(latencies) or [0.0]
        shown = f"median {median(longest):.0f}, max {max(longest):.0f}"
        say(f"pauses      {len(longest)}, longest latency of each in ms: {shown}")
        return figures["p50"] <= 10 and figures["p95"] <= 20 and figures["p99"] <= 100
    return True


def _pauses(latencies: list[tuple[float, float]]) -> list[float]:
    """The largest latency of each group of late records; a new group begins two seconds after the last late record."""
    pauses: list[float] = []
    last = 0.0
    for arrived, latency in latencies:
        if latency >= _PAUSE_MS:
            if arrived - last > 2:
                pauses.append(latency)
            pauses[-1] = max(pauses[-1], latency)
            last = arrived
    return pauses


if __name__ == "__main__":
    sys.exit(main())
