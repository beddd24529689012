"""`brokernat pipeline run` against real brokers behind dead addresses."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter

import pytest
from tests.integration.pipelines.conftest import CUSTOMERS, TIMEOUT, Workplace, order, sources

from brokernat.testbed import Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]

TRANSFORM = """
from pyspark.sql import functions as F
from pyspark.sql.types import StringType


def tag(records):
    kind = F.udf(lambda amount: "big" if amount > 100 else "small", StringType())
    return records.where("order_id <> 'o7'").withColumn("size", kind("amount"))


def plain(records):
    return records.where("order_id <> 'o7'").withColumn("size", F.when(F.col("amount") > 100, "big"))


def twice(records):
    return records.union(records.where("order_id = 'o3'"))
"""


def names_by_order(tags: list[Record]) -> dict[str, str]:
    found = [json.loads(record.value or b"") for record in tags]
    return {tag["order_id"]: tag["name"] for tag in found}


def test_every_record_becomes_a_tag_a_dead_letter_or_is_counted_as_filtered(workplace: Workplace) -> None:
    (workplace.folder / "my_tags.py").write_text(TRANSFORM)
    workplace.pipeline |= {"transform": "my_tags:tag"}
    workplace.pipeline["source"]["max_offsets_per_trigger"] = 90
    good = [order(number) for number in range(200)]
    faulty = [b"{", None, order(1, amount="x"), order(2, customer_id=None), order(3, customer_id="c99")]
    written = workplace.write([*good, *faulty], headers=(("trace", b"t"), ("nothing", None)))
    workplace.write_in_transactions([order(900), order(901)], commit=False)

    batches = workplace.drain()

    totals = {name: sum(batch[name] for batch in batches) for name in ("received", "tags", "dead_letters", "filtered")}
    assert totals == {"received": written, "tags": 199, "dead_letters": 5, "filtered": 1}
    assert all(b["received"] == b["tags"] + b["dead_letters"] + b["filtered"] for b in batches)
    assert len(batches) > 1
    tags, dead = workplace.read_tags(), workplace.read_dead()
    assert (len(tags), len(dead)) == (199, 5)
    everything = sources([*tags, *dead])
    assert len(set(everything)) == 204
    assert all(src.startswith(f"{workplace.world.hq.cluster_id}/{workplace.topic}/") for src in everything)
    value = json.loads(tags[0].value or b"")
    assert (value["segment"], value["size"]) == ("retail", "small")
    assert tags[0].headers[:2] == dead[0].headers[:2] == (("trace", b"t"), ("nothing", None))
    assert tags[0].key == value["customer_id"].encode()
    kinds = Counter((record.header("__connect.errors.exception.class.name") or b"").decode() for record in dead)
    expected = ("MalformedValue", "Tombstone", "WrongType", "NullKey", "MissingReference")
    assert kinds == Counter(f"brokernat.{kind}" for kind in expected)
    assert {record.value for record in dead} == set(faulty)
    assert {record.key for record in dead} == {b"k"}


# Other tests share the process.
NEVER_AGAIN = """
from pathlib import Path

from brokernat.pipelines.one_pass import OnePass

again, mine = OnePass._batch_again, str(Path(__file__).parent)
OnePass._batch_again = lambda one_pass: None if mine in one_pass.checkpoint else again(one_pass)
"""


@pytest.mark.parametrize("function", [None, "plain"])
def test_the_source_is_read_once(workplace: Workplace, function: str | None) -> None:
    """Spark's own reports tell what it has read: with two passes over the source they have each record twice."""
    (workplace.folder / "read_tags.py").write_text(TRANSFORM + NEVER_AGAIN)
    if function:
        workplace.pipeline |= {"transform": f"read_tags:{function}"}
    workplace.write([*(order(number) for number in range(200)), b"{", order(1, amount="x")])
    events = workplace.folder / "events"
    events.mkdir()
    settings = {"enabled": "true", "compress": "false", "dir": f"file:{events}"}
    logged = [word for name, value in settings.items() for word in ("--conf", f"spark.eventLog.{name}={value}")]
    (batch,) = map(json.loads, workplace.run("run", "--once", "--format", "json", *logged).stdout.splitlines())
    filtered = 1 if function == "plain" else 0
    found = [batch[name] for name in ("received", "tags", "dead_letters", "filtered")]
    assert found == [202, 200 - filtered, 2, filtered]
    assert (len(workplace.read_tags()), len(workplace.read_dead())) == (200 - filtered, 2)
    log = "".join(path.read_text() for path in events.rglob("*") if path.is_file())
    assert [int(rows) for rows in re.findall(r'"numInputRows":(\d+),"inputRowsPerSecond', log)] == [202]


# Here, too, others share the process.
LOSES = """
from brokernat.pipelines.steps.plan import Plan


def tag(records):
    return records


def lossy(plan, *given):
    found = steps(plan, *given)
    return found.where("%s") if plan.transform and plan.transform.function is tag else found


steps, Plan.decode_and_enrich = Plan.decode_and_enrich, lossy
"""


@pytest.mark.parametrize(("kept", "left"), [("brokernat_src.key = 'k'", 5), ("false", 0)])
def test_what_does_not_add_up_is_not_committed(workplace: Workplace, kept: str, left: int) -> None:
    """Nothing that came out is no proof that nothing came in: there, Spark drops what counts."""
    module = f"leaves_{left}"
    workplace.pipeline["transform"] = f"{module}:tag"
    (workplace.folder / f"{module}.py").write_text(LOSES % kept)
    workplace.write([order(number) for number in range(5)], key=b"k")
    workplace.write([order(number) for number in range(5, 8)], key=b"other")
    ended = workplace.run("run", "--once", code=6)
    assert f"8 records received, {left} processed" in ended.stderr
    assert "was written but is not committed" in ended.stderr
    assert workplace.offsets() == (0, -1)
    assert len(workplace.read_tags()) == left


def test_an_overwritten_reference_shows_in_the_tags_and_sigterm_finishes_the_batch(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(10)])
    with workplace.running() as run:
        run.until(lambda: len(workplace.read_tags()) >= 10, "the first tags")
        workplace.customers(CUSTOMERS.replace("Name 3", "Renamed 3"))
        workplace.write([order(number) for number in range(10, 20)])
        run.until(lambda: len(workplace.read_tags()) >= 20, "tags with the new reference")
        # A writer that has only begun: the file is there, and it is not whole.
        (workplace.folder / "customers.csv").write_text("customer_id,na")
        workplace.write([order(number) for number in range(20, 30)])
        run.until(lambda: len(workplace.read_tags()) >= 30, "tags with the last good reference")
        run.signal_group(signal.SIGTERM)
        assert run.process.wait(TIMEOUT) == 143, run.log.read_text()
    names = names_by_order(workplace.read_tags())
    assert (names["o3"], names["o13"], names["o23"]) == ("Name 3", "Renamed 3", "Renamed 3")
    assert "stays in use" in run.log.read_text()
    begun, committed = workplace.offsets()
    assert begun == committed
    assert len(workplace.read_tags()) == 30


def test_duplicate_keys_stop_the_run_before_a_record_is_joined(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(10)])
    workplace.customers(CUSTOMERS + "c3,Again,retail\n")
    ended = workplace.run("run", "--once", code=2)
    assert "1 duplicate key (`customer_id`) in" in ended.stderr
    assert "c3 (2 times)" in ended.stderr
    assert "java.lang" not in ended.stderr
    assert workplace.read_tags() == []
    workplace.customers(CUSTOMERS)
    assert sum(batch["tags"] for batch in workplace.drain()) == 10
    assert len(workplace.read_tags()) == 10


def test_what_a_transform_duplicates_is_an_error_and_nothing_is_written(workplace: Workplace) -> None:
    (workplace.folder / "my_twice.py").write_text(TRANSFORM)
    workplace.pipeline |= {"transform": "my_twice:twice"}
    workplace.write([order(number) for number in range(5)])
    ended = workplace.run("run", "--once", code=6)
    assert "transform `my_twice:twice` made 6 rows of 5 records" in ended.stderr
    assert workplace.read_tags() == []


def test_a_tag_that_is_too_large_stops_the_run_and_is_named(workplace: Workplace) -> None:
    workplace.write([order(number) for number in range(5)])
    workplace.write([order(5, order_id="x" * 1_048_350)])
    ended = workplace.run("run", "--once", code=6)
    assert "a record is too large for the sink: RecordTooLargeException" in ended.stderr
    source = f"{workplace.world.hq.cluster_id}/{workplace.topic}/"
    assert f"the largest are {workplace.tags} <- {source}" in ended.stderr
    assert "max.request.size" in ended.stderr
    assert "java.lang" not in ended.stderr
    assert workplace.offsets() == (0, -1)
    # A limit that is raised lets the same batch through.
    large = {"max.request.size": "2000000"}
    workplace.world.local.create_topic(f"{workplace.tags}-large", configs={"max.message.bytes": "2000000"})
    workplace.pipeline["sink"] |= {"topic": f"{workplace.tags}-large"}
    workplace.client["local"] = large
    ended = workplace.run("run", "--once", "--format", "json")
    assert sum(json.loads(batch)["tags"] for batch in ended.stdout.splitlines()) == 6
    assert "the topic or the cluster of the sink has changed since the last start: earlier tags stay" in ended.stderr


def test_a_pipeline_with_swapped_lines_does_not_start(workplace: Workplace) -> None:
    one, other, third = workplace.world.hq.plan.brokers
    leads = ((one, other), (other, one), (third, third))
    workplace.rules["hq"] = [f"{told.advertised} = {dialled.reachable}" for told, dialled in leads]
    workplace.write([order(1)])
    ended = workplace.run("run", "--once", code=5)
    assert "the rule for node 1 leads to node 2" in ended.stderr
    assert workplace.offsets() == (-1, -1)
    assert workplace.read_tags() == []


def test_check_reports_everything_at_once(workplace: Workplace) -> None:
    workplace.pipeline["sink"] |= {"topic": "not-there", "dead_letters": "not-there-either"}
    workplace.customers(CUSTOMERS + "c3,Again,retail\n")
    ended = workplace.run("check", "--format", "json", code=2)
    found = json.loads(ended.stdout)
    wrong = {check["subject"]: check for check in found["checks"] if check["level"] == "error"}
    assert wrong.keys() == {"sink topic not-there", "sink topic not-there-either", "steps"}
    assert "--create --topic not-there" in wrong["sink topic not-there"]["hint"]
    assert {row["outcome"] for row in found["proof"]} == {"proved"}


def test_check_of_a_pipeline_in_order_is_quiet_and_a_foreign_checkpoint_is_not(workplace: Workplace) -> None:
    ended = workplace.run("check")
    assert "error" not in ended.stdout
    assert "warning" not in ended.stdout + ended.stderr
    owner = {"pipeline": "tags", "source_cluster": "another-cluster", "topics": [workplace.topic]}
    (workplace.checkpoint / "_brokernat" / "owner.json").write_text(json.dumps(owner))
    workplace.write([order(1)])
    ended = workplace.run("run", "--once", code=2)
    assert "the checkpoint has offsets of the Kafka cluster another-cluster" in ended.stderr
