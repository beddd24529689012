"""The story: brokers that cannot be reached, the failure as users see it, the same job through the map.

Every part is the product's own: the testbed's brokers, the pipeline and its file as a user writes it, Spark's own log.
What the pipeline counted is held against what `data.py` knows must come of the orders; a difference is an error, so the
demo cannot end well by luck.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from brokernat.config import load
from brokernat.demo.data import Orders, make_orders
from brokernat.demo.files import DEAD_LETTERS, ORDERS, PIPELINE, TAGS, write_files
from brokernat.demo.scene import Heading, Quote, Say, Scene, Table, Working
from brokernat.errors import IncompleteError
from brokernat.jvm import find_java
from brokernat.pipelines.accounting import Counts
from brokernat.testbed import LoopbackWorld, Record, Topic

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from pyspark.sql import SparkSession

    from brokernat.address import Endpoint
    from brokernat.clients.spark.proof import Proof
    from brokernat.pipelines.batch import BatchReport
    from brokernat.pipelines.pipeline import Prepared

_GOOD_ORDERS = 5_000
_SAMPLE = 5
_MESSAGE_WIDTH = 60
# Spark waits a minute for a broker that does not answer, three times over: the same words come after some seconds.
_IMPATIENT = {
    "kafka.default.api.timeout.ms": "3000",
    "kafka.request.timeout.ms": "1500",
    "fetchOffset.numRetries": "1",
}
# The driver listens on loopback: a machine's own name may resolve to an address that it does not have any more.
_SPARK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # A JVM that lives for a minute: the second compiler costs more than it gives back (23 s of CPU, 11 s without).
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
_CAUSE = "__connect.errors.exception.class.name"
_MESSAGE = "__connect.errors.exception.message"


def tell(*, good_orders: int = _GOOD_ORDERS) -> Generator[Scene]:
    """Run the demo, scene by scene; closing the iterator early ends everything that was started.

    Args:
        good_orders: how many orders become tags; some broken ones are added.

    Raises:
        MissingToolError: no Java, no agent, or jars that cannot be had.
        IncompleteError: the counts do not add up.
    """
    began = time.monotonic()
    java = find_java()
    yield Heading("1. Headquarters' Kafka, behind addresses that lead nowhere from here")
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
        yield from _with_spark(folder, file, orders, world)
    yield Say(f"Everything is stopped and removed. It took {time.monotonic() - began:.0f} s.")
    yield from _what_next()


def _with_spark(folder: Path, file: Path, orders: Orders, world: LoopbackWorld) -> Iterator[Scene]:
    from brokernat.pipelines.pipeline import Prepared
    from brokernat.pipelines.session import SPARK_LOG, start_session

    yield Working("starting Spark")
    prepared = Prepared.of(load(file), PIPELINE)
    logs = folder / "logs"
    spark = start_session(PIPELINE, prepared.clusters, logs, master="local[2]", settings=_SPARK)
    try:
        yield from _failure(spark, prepared, logs / SPARK_LOG)
        yield from _success(spark, prepared, file, orders)
        yield from _results(world)
    finally:
        _stop(spark)


def _brokers(world: LoopbackWorld) -> Table:
    rows = tuple(
        (str(node), str(advertised), _try(world, advertised), str(world.hq.reachable[node]))
        for node, advertised in world.hq.advertised.items()
    )
    return Table(("broker", "advertises", "tried from here", "reachable at (gateway)"), rows)


def _try(world: LoopbackWorld, endpoint: Endpoint) -> str:
    try:
        world.client.dial(endpoint).close()
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "connected"


def _failure(spark: SparkSession, prepared: Prepared, log: Path) -> Iterator[Scene]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from brokernat.clients.spark import kafka_options
    from brokernat.pipelines.root_cause import root_cause

    yield Heading("2. Without a map: the bootstrap works, then the client fails")
    yield Working("reading the orders as everybody would")
    options = {name: value for name, value in kafka_options(prepared.source).items() if "brokernat" not in name}
    reader = spark.read.format("kafka").options(**options, **_IMPATIENT).option("subscribe", ORDERS)
    try:
        reader.load().count()
    except (PySparkException, Py4JJavaError) as error:
        yield Quote("Spark's log", (*_refusals(log), root_cause(error)))
    else:
        raise IncompleteError("the job without a map read headquarters' topic: its brokers can be reached from here")


def _refusals(log: Path) -> tuple[str, ...]:
    """The client's own line for each broker, once."""
    marker = "could not be established"
    lines = [line.partition(" ")[2] for line in log.read_text(errors="replace").splitlines() if marker in line]
    return tuple(sorted(set(lines)))[:3]


def _success(spark: SparkSession, prepared: Prepared, file: Path, orders: Orders) -> Iterator[Scene]:
    from brokernat.clients.spark import prove

    yield Heading("3. With the map: the same client, unmodified")
    yield Quote(file.name, _map_lines(file))
    yield Working("asking every broker who it is, from inside Spark")
    proof = prove(spark, prepared.clusters, topics={prepared.source.name: prepared.pipeline.source.topics})
    proof.raise_for_failures()
    yield _proved(proof)
    yield Working("orders + customers -> tags")
    counts = _drain(spark, prepared)
    expected = Counts(len(orders.records), orders.expected_tags, orders.expected_dead_letters, 0)
    if counts != expected:
        raise IncompleteError(f"the pipeline counted {counts}, the orders make {expected}")
    yield Say(f"{counts}: it adds up.")


def _map_lines(file: Path) -> tuple[str, ...]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(lines[: lines.index("  local:")])


def _proved(proof: Proof) -> Table:
    rows = tuple((row.cluster, str(row.node_id), row.advertised, row.dialled, row.outcome.value) for row in proof.rows)
    return Table(("cluster", "broker", "advertised", "dialled", "who answered"), rows)


def _drain(spark: SparkSession, prepared: Prepared) -> Counts:
    from brokernat.pipelines.pipeline import start

    reports: list[BatchReport] = []
    run = start(spark, prepared, reports.append, once=True)
    while run.poll():
        continue
    return sum((report.counts for report in reports), Counts())


def _results(world: LoopbackWorld) -> Iterator[Scene]:
    tags, dead = world.local.read(TAGS), world.local.read(DEAD_LETTERS)
    yield Say(f"Some of the {len(tags)} records in topic `{TAGS}` of the local Kafka:")
    yield Quote(f"topic {TAGS}", tuple(_text(record.value) for record in tags[:_SAMPLE]))
    yield Say(f"Why {len(dead)} records went to `{DEAD_LETTERS}`, each with its bytes and where it came from:")
    yield _causes(dead)
    if tags:
        yield Say(f"Each record names its source: brokernat-src: {_header(tags[0], 'brokernat-src')}")


def _causes(dead: Sequence[Record]) -> Table:
    counted = Counter(_header(record, _CAUSE) for record in dead)
    example = {_header(record, _CAUSE): _header(record, _MESSAGE) for record in dead}
    rows = tuple((str(counted[cause]), cause, _cut(example[cause])) for cause in sorted(counted))
    return Table(("records", "cause", "for example"), rows)


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE_WIDTH else f"{text[: _MESSAGE_WIDTH - 2]} …"


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace")


def _header(record: Record, name: str) -> str:
    return _text(record.header(name))


def _stop(spark: SparkSession) -> None:
    """End Spark and its JVM, so that no process outlives the demo."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway  # noqa: SLF001 - PySpark has no public way to end its JVM
    spark.stop()
    if gateway is not None:
        gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            process.stdin.close()
            process.wait(timeout=30)
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001


def _what_next() -> Sequence[Scene]:
    return (
        Heading("Your own cluster"),
        Say("`brokernat init` writes a commented brokernat.yaml; `brokernat config check` reads it."),
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
