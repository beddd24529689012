"""`mode: realtime` against real brokers behind dead addresses: delivery, a change of the reference, kills, refusals."""

from __future__ import annotations

import itertools
import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from tests.integration.pipelines.conftest import CUSTOMERS, TIMEOUT, Workplace, order, sources
from tests.integration.pipelines.test_status import status_of
from tests.integration.spark.drivers import Driver, described
from tests.unit.pipelines.status.test_server import free_port

from brokernat.testbed import LoopbackWorld, Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]

EPOCH = "5 seconds"
SLOTS = ("--master", "local[4,4]")
CANARY = "canary-4711"
TRANSFORM = """
from pyspark.sql import functions as F
from pyspark.sql.types import StringType


def tag(records):
    # 1 / 0 is an error: a record that the filter has taken out must not meet it.
    return records.where("amount <> 0").withColumn("share", 1 / F.col("amount")).withColumnRenamed("name", "customer")


def python(records):
    return records.withColumn("size", F.udf(lambda amount: "big", StringType())("amount"))


def total(records):
    return records.groupBy("brokernat_src").agg(F.sum("amount").alias("total"))
"""


@pytest.fixture
def place(workplace: Workplace) -> Workplace:
    (workplace.folder / "realtime_tags.py").write_text(TRANSFORM)
    workplace.pipeline |= {"mode": "realtime", "epoch": EPOCH, "transform": "realtime_tags:tag"}
    return workplace


def customers_by_order(place: Workplace) -> dict[str, str]:
    return {tag["order_id"]: tag["customer"] for tag in (json.loads(r.value or b"") for r in place.read_tags())}


def test_kills_repeat_at_most_their_epoch_and_a_changed_reference_starts_the_query_again(place: Workplace) -> None:
    faulty = [b"{", None, order(1, amount="x"), order(2, customer_id=None), order(3, customer_id="c99")]
    place.write([*(order(number) for number in range(90)), *faulty, order(200, amount=0)], headers=(("trace", b"t"),))
    place.write_in_transactions([order(900)], commit=False)
    (place.folder / "events").mkdir()
    # Kafka's clients do not use it here, and Spark holds it like any other secret.
    place.client |= {name: {"ssl.truststore.password": CANARY} for name in ("hq", "local")}
    events = {"enabled": "true", "compress": "false", "dir": f"file:{place.folder}/events"}
    logged = [word for name, value in events.items() for word in ("--conf", f"spark.eventLog.{name}={value}")]
    with place.running(*SLOTS, *logged, "--format", "json") as run:
        run.until(lambda: len(place.read_tags()) >= 90, "the first tags")
        place.customers(CUSTOMERS.replace("Name 3", "Renamed 3"))
        numbers = itertools.count(1000)

        def renamed() -> bool:
            place.write([order(10 * next(numbers) + 3)])
            return "Renamed 3" in customers_by_order(place).values()

        run.until(renamed, "a tag with the new reference")
        run.signal_group(signal.SIGKILL)
        run.process.wait()
    plans = [path.read_text() for path in (place.folder / "events").rglob("*") if path.is_file()]
    assert any("SparkListenerSQLExecutionStart" in plan for plan in plans)
    assert CANARY not in "".join(plans)
    _, committed = place.offsets()
    written = next(numbers) - 1000
    before = Counter(sources([*place.read_tags(), *place.read_dead()]))
    assert max(before.values()) == 1
    lines = [json.loads(line) for line in run.log.read_text().splitlines() if line.startswith("{")]
    assert lines
    assert all(line["received"] == line["tags"] + line["dead_letters"] + line["filtered"] for line in lines)
    # What a crash between Spark's two logs leaves: offsets without a commit.
    newest = place.checkpoint / "offsets" / str(committed)
    newest.with_name(str(committed + 1)).write_text(newest.read_text())
    port = free_port()
    with place.running(*SLOTS, "--status", str(port)) as run:
        run.until(lambda: place.offsets()[1] > committed, "the end of an epoch")
        run.until(lambda: status_of(port)["partitions"], "Spark's report of it")
        status, ends = status_of(port), place.world.hq.end_offsets(place.topic)
        assert {p["partition"]: (p["end"], p["lag"]) for p in status["partitions"]} == {
            n: (e, 0) for n, e in ends.items()
        }
        assert (status["mode"], status["healthy"], status["lag"], status["starts"]) == ("realtime", True, 0, 2)
        place.write([order(300)])
        run.until(lambda: "o300" in customers_by_order(place), "a tag of the new run")
        run.signal_group(signal.SIGTERM)
        assert run.process.wait(TIMEOUT) == 143, run.log.read_text()
    begun, committed = place.offsets()
    assert begun == committed
    tags, dead = place.read_tags(), place.read_dead()
    times = Counter(sources([*tags, *dead]))
    assert len(times) == 90 + len(faulty) + written + 1
    assert max(times.values()) <= 2
    assert {record.value for record in dead} == set(faulty)
    assert tags[0].headers[0] == ("trace", b"t")

    del place.pipeline["epoch"]
    place.pipeline["mode"] = "micro-batch"
    place.write([order(number) for number in range(400, 409)])
    assert sum(batch["tags"] for batch in place.drain()) == 9
    found = json.loads(place.run("reconcile", "--format", "json").stdout)["partitions"]
    assert sum(partition["missing"] for partition in found) == 0


def test_a_query_that_has_just_begun_ends_with_its_first_epoch(loopback_world: LoopbackWorld, tmp_path: Path) -> None:
    """Asked between two epochs, Spark would end at once and leave tasks behind that write for nobody."""
    hq, topic = loopback_world.hq, f"orders-{tmp_path.name}"
    for name in (topic, f"{topic}-stream"):
        hq.create_topic(name)
    values = [f"order {number}".encode() for number in range(30)]
    hq.write(topic, [Record(value=value) for value in values])
    found = Driver(tmp_path).run("ended_with_their_epochs", [described(hq.cluster)], master="local[4]", topic=topic)
    assert found["running"] == []
    assert [path.name for path in sorted((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))] == ["0", "1"]
    assert sorted(record.value or b"" for record in hq.read(f"{topic}-stream")) == sorted(values)


def test_what_does_not_fit_is_refused_before_the_start(place: Workplace) -> None:
    place.pipeline["transform"] = "realtime_tags:python"
    checked = place.run("check", code=2)
    assert "the source has 3 partitions, Spark runs 2 tasks at once" in checked.stderr
    assert "--master 'local[3]'" in checked.stderr
    assert "transform `realtime_tags:python` holds the Python function `<lambda>`" in checked.stderr
    place.pipeline["transform"] = "realtime_tags:total"
    assert "holds an aggregation, which `mode: realtime` does not run" in place.run("run", code=2).stderr
    assert not (place.checkpoint / "offsets").exists()
