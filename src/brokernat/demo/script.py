"""The script of the demo: unreachable brokers, the failing job, and the same job with the map.

It uses the testbed's brokers, a pipeline and a file as a user would write them, and Spark's real log. It compares the
pipeline's counts with the expected ones in `data.py`; a difference is an error.
"""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.config import load
from brokernat.demo import Event, EventTable, Heading, Quote, Say, Working
from brokernat.demo.data import DEAD_LETTERS, ORDERS, PIPELINE, TAGS, Orders, make_orders, write_files
from brokernat.demo.job import DemoRun, end_spark, with_map, without_map
from brokernat.jvm import find_java
from brokernat.pipelines.session import require_spark
from brokernat.pipelines.status.board import StatusBoard
from brokernat.pipelines.status.server import serving
from brokernat.testbed import LoopbackWorld, Record, Topic
from brokernat.text import counted

_GOOD_ORDERS = 5_000
# The driver listens on loopback: the host name may resolve to an address that the machine no longer has.
_SPARK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # A JVM that lives for a minute: the second compiler costs more than it gives back (23 s of CPU, 11 s without).
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
_SAMPLE = 5
_MESSAGE_WIDTH = 60
_CAUSE = "__connect.errors.exception.class.name"
_MESSAGE = "__connect.errors.exception.message"


def run_demo(*, good_orders: int = _GOOD_ORDERS, status: Endpoint | None = None) -> Generator[Event]:
    """Run the demo, event by event; closing the iterator early ends all processes.

    Args:
        good_orders: the number of orders that become tags; some broken ones are added.
        status: the endpoint of the pipeline's status page; with it the pipeline runs until Ctrl-C.

    Raises:
        MissingToolError: PySpark, Java or the agent is missing, or jars cannot be downloaded.
        ConfigError: `status` cannot be bound.
        IncompleteError: the counts are wrong.
    """
    began = time.monotonic()
    java = find_java()
    require_spark()
    yield Heading("1. Headquarters' Kafka, with advertised addresses that are unreachable from here")
    yield Working(f"starting 3 brokers for headquarters and 1 local one (Java {java.version} from {java.origin})")
    with tempfile.TemporaryDirectory(prefix="brokernat-demo-") as place, LoopbackWorld() as world:
        folder = Path(place)
        orders = make_orders(good_orders)
        world.hq.create_topic(ORDERS)
        world.local.create_topics([Topic(TAGS, 3, 1), Topic(DEAD_LETTERS, 1, 1)])
        world.hq.write(ORDERS, [Record(value=value.encode(), key=key.encode()) for key, value in orders.records])
        yield _brokers(world)
        yield Say(
            f"{len(orders.records)} orders wait in topic `{ORDERS}`, {orders.expected_dead_letters} of them broken."
        )
        file = write_files(folder, world.hq.cluster, world.local.cluster)
        yield from _with_spark(folder, file, orders, world, status)
    yield Say(f"Everything is stopped and removed. It took {time.monotonic() - began:.0f} s.")
    yield from _what_next()


def _with_spark(
    folder: Path, file: Path, orders: Orders, world: LoopbackWorld, status: Endpoint | None
) -> Iterator[Event]:
    from brokernat.pipelines.prepared import Prepared
    from brokernat.pipelines.session import SPARK_LOG, start_session

    yield Working("starting Spark")
    prepared = Prepared.of(load(file), PIPELINE)
    logs = folder / "logs"
    board = StatusBoard(prepared.pipeline)
    with serving(status, board) if status else nullcontext():
        spark = start_session(PIPELINE, prepared.clusters, logs, master="local[2]", settings=_SPARK)
        try:
            yield from without_map(spark, prepared, logs / SPARK_LOG)
            run = yield from with_map(spark, prepared, file, orders, board, once=status is None)
            yield from outcome(world)
            if status:
                yield from _stay(run, status)
        finally:
            end_spark(spark)


def _stay(run: DemoRun, status: Endpoint) -> Iterator[Event]:
    """Shows the run until Ctrl-C, with a handler of its own because PySpark's would cancel every job."""
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield Heading("4. The pipeline keeps running")
        yield Say(f"Its status page: http://{status}/ (end the demo with Ctrl-C)")
        while not interrupted.is_set():
            run.poll()
        run.end()
    finally:
        signal.signal(signal.SIGINT, before)


def _brokers(world: LoopbackWorld) -> EventTable:
    rows = tuple(
        (str(node), str(advertised), _try(world, advertised), str(world.hq.reachable[node]))
        for node, advertised in world.hq.advertised.items()
    )
    return EventTable(("broker", "advertises", "tried from here", "reachable at (gateway)"), rows)


def _try(world: LoopbackWorld, endpoint: Endpoint) -> str:
    try:
        world.client.dial(endpoint).close()
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "connected"


def _what_next() -> Sequence[Event]:
    return (
        Heading("Your own cluster"),
        Say(
            "`brokernat doctor --bootstrap-server HOST:PORT` finds out what is wrong with it; `brokernat init` writes "
            "a "
            "commented brokernat.yaml, and `brokernat config check` checks it. `brokernat demo --status 8088` runs "
            "until Ctrl-C and serves the status page of the pipeline."
        ),
        Quote(
            "in a PySpark job that you have",
            (
                "from brokernat.clients import spark as brokernat",
                "from brokernat.config import load",
                "",
                'hq = load("brokernat.yaml").clusters["hq"]',
                "spark = brokernat.configure(SparkSession.builder, [hq]).getOrCreate()",
                'spark.readStream.format("kafka").options(**brokernat.kafka_options(hq))',
            ),
        ),
    )


def outcome(world: LoopbackWorld) -> Iterator[Event]:
    """Some tags, and all causes of dead letters."""
    tags, dead = world.local.read(TAGS), world.local.read(DEAD_LETTERS)
    yield Say(f"Topic `{TAGS}` of the local Kafka holds {counted(len(tags), 'record')}; some of them:")
    yield Quote(f"topic {TAGS}", tuple(_text(record.value) for record in tags[:_SAMPLE]))
    yield Say(f"Why {len(dead)} records went to `{DEAD_LETTERS}`:")
    yield _causes(dead)
    if tags:
        yield Say(f"Each record names its source: brokernat-src: {_header(tags[0], 'brokernat-src')}")


def _causes(dead: Sequence[Record]) -> EventTable:
    causes = Counter(_header(record, _CAUSE) for record in dead)
    example = {_header(record, _CAUSE): _header(record, _MESSAGE) for record in dead}
    rows = tuple((str(causes[cause]), cause, _cut(example[cause])) for cause in sorted(causes))
    return EventTable(("records", "cause", "for example"), rows)


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE_WIDTH else f"{text[: _MESSAGE_WIDTH - 2]} …"


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace")


def _header(record: Record, name: str) -> str:
    return _text(record.header(name))
