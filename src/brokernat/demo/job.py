"""The Spark job of the demo, first without the map, which fails, then with it.

Both use Kafka's client in Spark. The first has shorter timeouts, which do not change its messages.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from brokernat.clients.spark.proof import Proof
from brokernat.demo import Event, EventTable, Heading, Quote, Say, Working
from brokernat.demo.data import ORDERS, Orders
from brokernat.errors import IncompleteError
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.status.board import StatusBoard
from brokernat.pipelines.steps.counting import Counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# By default Spark waits three times a minute for a broker that does not answer; a few seconds give the same messages.
# A busy machine needs more, or the client gives up before it has dialled a broker.
_PATIENCE = (3, 15, 60)


def without_map(spark: SparkSession, prepared: Prepared, log: Path) -> Iterator[Event]:
    """The lines of Spark's `log` about the failure.

    Raises:
        IncompleteError: the job does not fail.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from brokernat.clients.spark import kafka_options
    from brokernat.pipelines.root_cause import root_cause

    yield Heading("2. Without a map: the bootstrap works, then the client fails")
    yield Working("reading the orders with an ordinary Spark job")
    options = {name: value for name, value in kafka_options(prepared.source).items() if "brokernat" not in name}
    for seconds in _PATIENCE:
        reader = spark.read.format("kafka").options(**options, **_giving_up_after(seconds)).option("subscribe", ORDERS)
        try:
            reader.load().count()
        except (PySparkException, Py4JJavaError) as error:
            refusals, cause = _refusals(log), root_cause(error)
        else:
            raise IncompleteError(
                "the job without a map read headquarters' topic: its brokers can be reached from here"
            )
        if refusals:
            break
    yield Quote("Spark's log", (*refusals, cause))


def _giving_up_after(seconds: int) -> dict[str, str]:
    return {
        "kafka.default.api.timeout.ms": str(seconds * 1000),
        "kafka.request.timeout.ms": str(seconds * 500),
        "fetchOffset.numRetries": "1",
    }


def _refusals(log: Path) -> tuple[str, ...]:
    """The client's line for each broker, once."""
    marker = "could not be established"
    lines = [line.partition(" ")[2] for line in log.read_text(errors="replace").splitlines() if marker in line]
    return tuple(sorted(set(lines)))[:3]


def with_map(
    spark: SparkSession, prepared: Prepared, file: Path, orders: Orders, board: StatusBoard, *, once: bool
) -> Generator[Event, None, DemoRun]:
    """Proves the map of `file` and starts the pipeline over all orders; returns the run.

    Args:
        board: the status of the run.
        once: end the run after the last order; else wait for more.

    Raises:
        ProofFailedError: the map does not lead to the right broker.
        IncompleteError: the counts are wrong.
    """
    from brokernat.clients.spark import prove

    yield Heading("3. With the map: the same client, unmodified")
    yield Quote(file.name, _map_lines(file))
    yield Working("checking the node id of every broker, from Spark")
    proof = prove(spark, prepared.clusters, topics={prepared.source.name: prepared.pipeline.source.topics})
    proof.raise_for_failures()
    board.prove(proof)
    yield _proved(proof)
    yield Working("orders + customers -> tags")
    expected = Counts(len(orders.records), orders.expected_tags, orders.expected_dead_letters, 0)
    run = DemoRun(spark, prepared, board, once=once)
    while run.poll() and (once or run.counts.received < expected.received):
        continue
    if run.counts != expected:
        raise IncompleteError(f"the pipeline counted {run.counts}, expected {expected}")
    yield Say(f"{run.counts}: the counts match.")
    return run


class DemoRun:
    """The running pipeline and its status."""

    def __init__(self, spark: SparkSession, prepared: Prepared, board: StatusBoard, *, once: bool) -> None:
        from brokernat.pipelines.pipeline import start

        self._board = board
        self._reports: list[BatchReport] = []
        self._progress = Progress()
        self._run = start(spark, prepared, self._reports.append, once=once)
        board.begin(spark, prepared)

    @property
    def counts(self) -> Counts:
        """The counts of all batches so far."""
        return self._progress.counts

    def poll(self) -> bool:
        """Waits 0.2 s and returns whether the query still runs. Raises the errors of `Run.poll`."""
        alive = self._run.poll()
        self._progress = self._progress.with_reports(self._run.reports(self._progress.committed))
        while self._reports:
            self._progress = self._progress.after(self._reports.pop(0))
        self._board.follow(self._progress, self._run.activity(), 0)
        return alive

    def end(self) -> None:
        """Ends the query after its batch."""
        self._run.stop()
        while self.poll():
            continue


def _map_lines(file: Path) -> tuple[str, ...]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(lines[: lines.index("  local:")])


def _proved(proof: Proof) -> EventTable:
    rows = tuple((row.cluster, str(row.node_id), row.advertised, row.dialled, row.outcome.value) for row in proof.rows)
    return EventTable(("cluster", "broker", "advertised", "dialled", "who answered"), rows)


def end_spark(spark: SparkSession) -> None:
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
