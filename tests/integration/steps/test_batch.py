"""One batch that is kept and counted before it is written; the sink is in `tests/integration`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from brokernat.config.model import Reference, Sink
from brokernat.errors import IncompleteError
from brokernat.pipelines import batch as module
from brokernat.pipelines import references
from brokernat.pipelines.batch import Batches, BatchReport
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.references.files import FileSource
from brokernat.pipelines.steps.counting import Counts
from brokernat.pipelines.steps.plan import Plan
from brokernat.pipelines.steps.transform import Transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

COLUMNS = (
    "cast('k' as binary) key",
    'cast(format_string(\'{"id": "%d"}\', id) as binary) value',
    "'orders' topic",
    "0 partition",
    "id offset",
    "timestamp'2026-01-01' timestamp",
    "cast(null as array<struct<key:string,value:binary>>) headers",
)


@pytest.fixture(params=["-1", "10MB"], ids=["sorted join", "broadcast join"])
def large_references(
    spark: SparkSession, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Up to which size a joined reference is sent to every executor; a larger one makes Spark exchange the records."""
    monkeypatch.setattr(references, "hold", lambda *_, **__: None)
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(name)
    spark.conf.set(name, request.param)
    yield
    spark.conf.set(name, str(before))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference of all batches, which is copied with the first: how it is read is tested elsewhere."""
    place = tmp_path_factory.mktemp("names")
    (place / "names.csv").write_text("id,name\n1,One\n2,Two\n")
    return place


def run(spark: SparkSession, folder: Path, records: DataFrame, transform: Transform) -> Counts:
    """What the report of the batch says; nothing is sent."""
    from pyspark.sql.types import StructType

    section = Reference(format="csv", path=str(folder / "names.csv"))
    source = FileSource(section)
    table = ReferenceTable("names", section, key="id", columns=None, folder=str(folder / "state"), source=source)
    schema = StructType.fromDDL("id STRING")
    assert isinstance(schema, StructType)
    plan = Plan("tags", schema, Sink(cluster="local", topic="tags", dead_letters="dead"), transform)
    reports: list[BatchReport] = []
    batches = Batches(plan, "cid", [table], {}, threading.Event(), reports.append)
    batches.query.set_result(Mock())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "rows_read", lambda _: None)
        batches(records, 7)
    (report,) = reports
    assert report.batch_id == 7
    return report.counts


def counted(rows: DataFrame, options: object = None) -> dict[str, int]:
    """What the sink says that it has written."""
    return dict(Counter("filtered" if row["topic"] is None else row["cause"] or "tags" for row in rows.collect()))


TRANSFORMS = {
    "row by row": Transform("m:f", lambda records: records.where("id <> '2'")),
    "counted": Transform("m:f", lambda records: records.where("id <> '2'").union(records.where("false"))),
}


@pytest.mark.usefixtures("large_references")
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize(
    ("records", "expected"),
    [(0, Counts()), (1, Counts(1, 0, 1, 0)), (4, Counts(4, 2, 2, 0))],
)
def test_a_batch_is_counted_also_when_its_offsets_hold_no_record(
    spark: SparkSession,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    records: int,
    expected: Counts,
    transform: Transform,
) -> None:
    """As those of an aborted transaction do: Spark hands over a batch, and there is nothing in it."""
    monkeypatch.setattr(module, "write", counted)
    frame = spark.range(10).where(f"id < {records}").selectExpr(*COLUMNS)
    if expected.tags:
        expected = replace(expected, tags=1, filtered=1)
    found = run(spark, folder, frame, transform)
    assert found == expected
    # Counts are equal whatever the causes are.
    assert found.causes == ({"MissingReference": expected.dead_letters} if expected.dead_letters else {})


@pytest.mark.parametrize("rows", ["rand() > 2", "false", "brokernat_src.offset > 0"])
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_steps_that_lose_records_are_found_out(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, transform: Transform, rows: str
) -> None:
    """Nothing that came out is no proof that nothing came in."""
    steps = Plan.decode_and_enrich
    monkeypatch.setattr(Plan, "decode_and_enrich", lambda *given: steps(*given).where(rows))
    written: list[DataFrame] = []
    monkeypatch.setattr(module, "write", lambda rows, _options: written.append(rows))
    with pytest.raises(IncompleteError, match=r"4 records received, [03] processed") as raised:
        run(spark, folder, spark.range(4).selectExpr(*COLUMNS), transform)
    assert "was not written" in (raised.value.hint or "")
    assert not written


def test_what_is_counted_is_what_is_written_where_a_transform_leaves_it_to_chance(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    calls: list[int] = []

    def write(rows: DataFrame, options: object) -> dict[str, int]:
        calls.append(counted(rows)["tags"])
        return counted(rows)

    @F.udf("boolean", useArrow=False)
    def another_answer_each_time(identifier: str) -> bool:
        import time

        return time.time_ns() // 1_000 % 2 == 0

    monkeypatch.setattr(module, "write", write)
    chance = Transform("m:f", lambda records: records.where(another_answer_each_time.asNondeterministic()("id")))
    records = spark.range(1, 3).crossJoin(spark.range(500).selectExpr("id AS copy")).selectExpr(*COLUMNS)
    assert run(spark, folder, records, chance).tags == calls[0]
