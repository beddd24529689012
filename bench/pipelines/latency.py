"""How long a record takes through a pipeline: `python -m bench.pipelines.latency`. README.md says how to read it.

A producer writes orders at a fixed rate, `brokernat pipeline run` makes tags of them, and a consumer of its own reads
the tags. A latency is the time between the timestamp of the source record (CreateTime) and the moment at which the
consumer has the tag; all three share this machine's clock.
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
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles

from bench.agent.jvms import CLIENT
from bench.report import describe_machine, keep_files_in_memory, say

from brokernat.config import Cluster
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.place import wait_until

ORDERS, TAGS, DEAD = "orders", "tags", "tags-dead"
TIMESTAMP = "brokernat-src-timestamp"
_START_SECONDS = 600
_PAUSE_MS = 50.0
"""A latency from which on a record has met the end of an epoch."""


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines.latency", description=__doc__)
    parser.add_argument("--mode", choices=["micro-batch", "realtime"], default="realtime", help="default %(default)s")
    parser.add_argument("--epoch", help="of realtime; the product's default unless given, for example '30 seconds'")
    parser.add_argument("--rate", type=int, default=2_000, help="records per second; default %(default)s")
    parser.add_argument("--seconds", type=int, default=300, help="measured; default %(default)s")
    parser.add_argument("--warm", type=int, default=30, help="seconds that are not counted; default %(default)s")
    parser.add_argument("--partitions", type=int, default=4, help="default %(default)s")
    parser.add_argument("--customers", type=int, default=100_000, help="rows of the reference; default %(default)s")
    parser.add_argument("--conf", action="append", default=[], help="a setting of Spark's, NAME=VALUE; repeatable")
    wanted = parser.parse_args()
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    with LoopbackWorld() as world, tempfile.TemporaryDirectory(prefix="brokernat-bench-") as place:
        world.hq.create_topic(ORDERS, partitions=wanted.partitions)
        for topic in (TAGS, DEAD):
            world.local.create_topic(topic, partitions=wanted.partitions, replicas=1)
        with _pipeline(Path(place), world.hq.cluster, world.local.cluster, wanted):
            latencies = _measure(world.hq.direct, world.local.cluster, wanted)
    return 0 if latencies and _report(latencies, wanted.mode) else 1


@contextlib.contextmanager
def _pipeline(place: Path, hq: Cluster, local: Cluster, wanted: argparse.Namespace) -> Iterator[None]:
    """`brokernat pipeline run` for the block; what it prints goes to standard error."""
    rows = (f"c{number},Name {number},retail\n" for number in range(wanted.customers))
    (place / "customers.csv").write_text("customer_id,name,segment\n" + "".join(rows))
    pipeline = {
        "source": {"cluster": hq.name, "topics": [ORDERS]},
        "decode": {"format": "json", "schema": "order_id STRING, customer_id STRING, amount DOUBLE, at TIMESTAMP"},
        "enrich": [{"reference": "customers", "key": "customer_id"}],
        "references": {"customers": {"format": "csv", "path": "customers.csv"}},
        "sink": {"cluster": local.name, "topic": TAGS, "key": "customer_id", "dead_letters": DEAD},
        "checkpoint": "state",
        "mode": wanted.mode,
    } | ({"epoch": wanted.epoch} if wanted.epoch else {})
    clusters = {cluster.name: _section(cluster) for cluster in (hq, local)}
    file = place / "brokernat.yaml"
    file.write_text(json.dumps({"clusters": clusters, "pipelines": {"tags": pipeline}}))
    settings = ["spark.ui.enabled=false", "spark.driver.memory=2g", *wanted.conf]
    command = ["pipeline", "run", "tags", "--config", str(file), "--master", f"local[{wanted.partitions},4]"]
    command += [word for setting in settings for word in ("--conf", setting)]
    process = subprocess.Popen(
        [sys.executable, "-m", "brokernat.cli.app", *command], stdout=sys.stderr, start_new_session=True
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _section(cluster: Cluster) -> dict[str, object]:
    rules = [str(rule) for rule in cluster.address_map.rules] if cluster.address_map else None
    return {"bootstrap_servers": ",".join(map(str, cluster.bootstrap_servers))} | (
        {"address_map": rules} if rules else {}
    )


def _measure(hq: Cluster, local: Cluster, wanted: argparse.Namespace) -> list[tuple[float, float]]:
    """Arrival (seconds since 1970) and latency (milliseconds) of each tag after the warm-up."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": _servers(local),
            "group.id": "latency",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 500,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(TAGS, number, 0) for number in range(wanted.partitions)])
    first = Producer({"bootstrap.servers": _servers(hq)})
    first.produce(ORDERS, _order(0, "c0"))
    first.flush()
    wait_until(lambda: consumer.poll(1) is not None, "the first tag", timeout=_START_SECONDS)
    fork = get_context("spawn")
    producing = fork.Process(target=_produce, args=(_servers(hq), wanted.rate, wanted.customers), daemon=True)
    producing.start()
    try:
        begin = time.time() + wanted.warm
        found: list[tuple[float, float]] = []
        while (now := time.time()) < begin + wanted.seconds:
            for record in consumer.consume(10_000, timeout=0.001) if now < begin else [consumer.poll(0.1)]:
                if record is None or record.error() or now < begin:
                    continue
                arrived = time.time()
                headers = dict(record.headers() or ())
                found.append((arrived, arrived * 1000 - int(headers[TIMESTAMP] or 0)))
        return found
    finally:
        producing.terminate()
        producing.join()
        consumer.close()


def _produce(servers: str, rate: int, customers: int) -> None:
    """Orders at a fixed rate until the process is ended, in steps of 5 ms."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0, "acks": "1"})
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
    return json.dumps(order | {"at": "2026-01-05T08:00:00.123456Z", "note": "x" * 70}).encode()


def _servers(cluster: Cluster) -> str:
    return ",".join(map(str, cluster.bootstrap_servers))


def _report(latencies: list[tuple[float, float]], mode: str) -> bool:
    values = [latency for _, latency in latencies]
    cuts = quantiles(values, n=100)
    span = latencies[-1][0] - latencies[0][0]
    say(f"records     {len(values)} in {span:.0f} s ({len(values) / span:.0f}/s)")
    figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(values)}
    say(f"latency ms  {', '.join(f'{name} {value:.0f}' for name, value in figures.items())}")
    if mode == "realtime":
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
