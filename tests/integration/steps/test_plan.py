"""Steps on frames made by hand: what leaves for which record."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from brokernat.config.model import Sink
from brokernat.errors import ConfigError, IncompleteError
from brokernat.pipelines.steps.counting import check_received, count_transformed
from brokernat.pipelines.steps.plan import Join, Plan, without_fault
from brokernat.pipelines.steps.row_by_row import is_row_by_row
from brokernat.pipelines.steps.sink import with_source_headers
from brokernat.pipelines.steps.transform import Transform, TransformError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

DDL = "order_id STRING, customer_id STRING, amount DOUBLE, at TIMESTAMP"


def order(number: int, customer: str | None = "c1", **more: object) -> str:
    fields = {"order_id": f"o{number}", "customer_id": customer, "amount": 1.5, "at": "2026-01-05T08:00:00.123456Z"}
    return json.dumps(fields | more)


def plan(transform: Callable[[DataFrame], object] | None = None, key: str | None = "customer_id") -> Plan:
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL(DDL)
    assert isinstance(schema, StructType)
    sink = Sink(cluster="local", topic="tags", key=key, dead_letters="tags.dead")
    return Plan("tags", schema, sink, Transform("m:f", transform) if transform else None)


def customers(spark: SparkSession) -> Join:
    rows = [("c1", "One", "retail"), ("c2", "Two", None)]
    return Join(
        "customers", "customer_id", spark.createDataFrame(rows, "customer_id STRING, name STRING, segment STRING")
    )


def leaving(frame: DataFrame) -> list[dict[str, Any]]:
    rows = [row.asDict(recursive=True) for row in with_source_headers(frame).collect()]
    return [row | {"headers": [(h["key"], _text(h["value"])) for h in row["headers"]]} for row in rows]


def _text(value: bytes | None) -> str | None:
    return None if value is None else bytes(value).decode()


def run(steps: Plan, envelope: DataFrame, *joins: Join) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    records = steps.decode_and_enrich(envelope, joins)
    in_one_pass = steps.outgoing(records)
    rows = leaving(in_one_pass.where("topic IS NOT NULL")) if in_one_pass else []
    if steps.transform:
        apart = leaving(steps.tags(steps.transformed(records)).unionByName(steps.dead_letters(records)))
        assert not in_one_pass or sorted(rows, key=str) == sorted(apart, key=str)
        rows = apart
    return [r for r in rows if r["topic"] == "tags"], [r for r in rows if r["topic"] == "tags.dead"]


def test_a_tag_holds_record_and_reference_and_says_where_it_came_from(
    spark: SparkSession, envelopes: Callable[..., DataFrame]
) -> None:
    [tag], dead = run(plan(), envelopes([order(1)], headers=[("trace", b"t1")]), customers(spark))
    assert dead == []
    assert json.loads(tag["value"]) == {
        "order_id": "o1",
        "customer_id": "c1",
        "amount": 1.5,
        "at": "2026-01-05T08:00:00.123456Z",
        "name": "One",
        "segment": "retail",
    }
    assert bytes(tag["key"]) == b"c1"
    assert tag["headers"] == [
        ("trace", "t1"),
        ("brokernat-src", "cid/orders/0/0"),
        ("brokernat-src-timestamp", "1767225600000"),
    ]


def test_a_variant_passes_through_a_batch_that_is_kept(envelopes: Callable[..., DataFrame]) -> None:
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL("anything VARIANT, m MAP<STRING, INT>")
    assert isinstance(schema, StructType)
    steps = Plan("tags", schema, Sink(cluster="local", topic="tags", dead_letters="tags.dead"))
    records = steps.decode_and_enrich(envelopes(['{"anything": [1, {"x": "y"}], "m": {"k": 2}}']), ()).persist()
    try:
        [tag] = leaving(steps.tags(steps.transformed(records)))
    finally:
        records.unpersist()
    assert json.loads(tag["value"]) == {"anything": [1, {"x": "y"}], "m": {"k": 2}}


def test_nulls_of_the_reference_are_written_as_nulls(spark: SparkSession, envelopes: Callable[..., DataFrame]) -> None:
    [tag], _ = run(plan(), envelopes([order(1, "c2")]), customers(spark))
    assert json.loads(tag["value"])["segment"] is None


@pytest.mark.parametrize("original", [b"\x00\xff", b"", None])
def test_without_a_key_column_the_key_stays_byte_for_byte(
    envelopes: Callable[..., DataFrame], original: bytes | None
) -> None:
    [tag], _ = run(plan(key=None), envelopes([order(1)], key=original))
    assert (None if tag["key"] is None else bytes(tag["key"])) == original


def test_every_kind_of_fault_becomes_a_dead_letter_with_original_bytes_cause_and_coordinates(
    spark: SparkSession, envelopes: Callable[..., DataFrame]
) -> None:
    values = [None, "{", order(2, amount="x"), order(3, None), order(4, "c9"), order(5)]
    tags, dead = run(plan(), envelopes(values, key=b"\x00k", headers=[("trace", b"t")]), customers(spark))
    assert len(tags) == 1
    by_offset = {dict(row["headers"])["__connect.errors.offset"]: row for row in dead}
    causes = {
        "0": ("VALUE_CONVERTER", "brokernat.Tombstone", "no value"),
        "1": ("VALUE_CONVERTER", "brokernat.MalformedValue", "{"),
        "2": ("VALUE_CONVERTER", "brokernat.WrongType", 'field `amount`: expected DOUBLE, found STRING "x"'),
        "3": ("TRANSFORMATION", "brokernat.NullKey", "reference `customers`: the key `customer_id` is null"),
        "4": ("TRANSFORMATION", "brokernat.MissingReference", "reference `customers` has no `customer_id` c9"),
    }
    assert by_offset.keys() == causes.keys()
    for offset, (stage, kind, text) in causes.items():
        row, value = by_offset[offset], values[int(offset)]
        headers = dict(row["headers"])
        assert (row["value"] and bytes(row["value"])) == (value and value.encode())
        assert bytes(row["key"]) == b"\x00k"
        assert headers["trace"] == "t"
        assert headers["brokernat-src"] == f"cid/orders/0/{offset}"
        assert headers["brokernat-src-timestamp"] == "1767225600000"
        assert headers["__connect.errors.stage"] == stage
        assert headers["__connect.errors.exception.class.name"] == kind
        assert text in headers["__connect.errors.exception.message"]
        assert headers["__connect.errors.topic"] == "orders"
        assert headers["__connect.errors.partition"] == "0"
        assert headers["__connect.errors.connector.name"] == "tags"
        assert headers["__connect.errors.task.id"] == "0"
        assert headers["__connect.errors.class.name"].startswith("brokernat.pipelines.")


def test_coordinates_and_causes_of_an_earlier_round_are_replaced(envelopes: Callable[..., DataFrame]) -> None:
    old = [("brokernat-src", b"old/t/0/0"), ("__connect.errors.stage", b"OLD"), ("trace", b"t")]
    [tag], [dead] = run(plan(), envelopes([order(1), "{"], headers=old))
    assert [value for name, value in tag["headers"] if name == "brokernat-src"] == ["cid/orders/0/0"]
    assert [value for name, value in dead["headers"] if name == "brokernat-src"] == ["cid/orders/0/1"]
    assert [value for name, value in dead["headers"] if name == "__connect.errors.stage"] == ["VALUE_CONVERTER"]


def test_a_hundred_headers_are_kept_in_order_with_empty_null_and_repeated_ones(
    envelopes: Callable[..., DataFrame],
) -> None:
    many = [(f"h{number % 50}", f"v{number}".encode()) for number in range(120)]
    odd: list[tuple[str, bytes | None]] = [("empty", b""), ("null", None), ("", b"no name")]
    tags, dead = run(plan(), envelopes([order(1), "{"], headers=[*many, *odd]))
    expected = [*((name, value.decode()) for name, value in many), ("empty", ""), ("null", None), ("", "no name")]
    for row in (*tags, *dead):
        assert row["headers"][: len(expected)] == expected


def test_a_second_join_may_use_a_column_of_the_first(spark: SparkSession, envelopes: Callable[..., DataFrame]) -> None:
    segments = Join("segments", "segment", spark.createDataFrame([("retail", 0.1)], "segment STRING, discount DOUBLE"))
    [tag], [dead] = run(plan(), envelopes([order(1), order(2, "c2")]), customers(spark), segments)
    assert json.loads(tag["value"])["discount"] == 0.1
    assert dict(dead["headers"])["__connect.errors.exception.class.name"] == "brokernat.NullKey"


def test_a_reference_must_not_hide_a_column_of_the_records(
    spark: SparkSession, envelopes: Callable[..., DataFrame]
) -> None:
    hiding = Join("customers", "customer_id", spark.createDataFrame([("c1", 2.0)], "customer_id STRING, Amount DOUBLE"))
    with pytest.raises(ConfigError, match="reference `customers`: column `Amount` already exists"):
        run(plan(), envelopes([order(1)]), hiding)


def test_a_key_column_that_does_not_exist_is_named(envelopes: Callable[..., DataFrame]) -> None:
    with pytest.raises(ConfigError, match=r"sink\.key: tags have no column `nope`"):
        run(plan(key="nope"), envelopes([order(1)]))


def test_a_transform_adds_columns_drops_records_and_leaves_dead_letters_alone(
    envelopes: Callable[..., DataFrame],
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    def tag(records: DataFrame) -> DataFrame:
        return records.where("order_id <> 'o2'").withColumn("vip", F.col("amount") > 1)

    steps, envelope = plan(tag), envelopes([order(1), order(2), "{"])
    tags, dead = run(steps, envelope)
    assert [json.loads(row["value"])["vip"] for row in tags] == [True]
    assert len(dead) == 1
    assert count_transformed(steps.transformed(steps.decode_and_enrich(envelope, ())), 2, transform="m:f") == 1


def test_what_a_transform_duplicates_is_named(envelopes: Callable[..., DataFrame]) -> None:
    steps = plan(lambda records: records.union(records.where("order_id = 'o1'")))
    records = steps.decode_and_enrich(envelopes([order(0), order(1)]), ())
    with pytest.raises(IncompleteError, match=r"made 3 rows of 2 records: cid/orders/0/1 \(2 times\)"):
        count_transformed(steps.transformed(records), 2, transform="m:f")


def test_duplicates_are_found_where_the_total_is_right(envelopes: Callable[..., DataFrame]) -> None:
    steps = plan(lambda records: records.where("order_id = 'o1'").union(records.where("order_id = 'o1'")))
    with pytest.raises(IncompleteError, match="cid/orders/0/1"):
        count_transformed(
            steps.transformed(steps.decode_and_enrich(envelopes([order(0), order(1)]), ())), 2, transform="m:f"
        )


def test_rows_without_a_record_are_named(envelopes: Callable[..., DataFrame]) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    def orphan(records: DataFrame) -> DataFrame:
        kind = records.schema["brokernat_src"].dataType
        return records.withColumn("brokernat_src", F.lit(None).cast(kind))

    steps = plan(orphan)
    with pytest.raises(IncompleteError, match="returned 1 row without `brokernat_src`, of 1"):
        count_transformed(steps.transformed(steps.decode_and_enrich(envelopes([order(0)]), ())), 1, transform="m:f")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda records: records.drop("brokernat_src"), "lost the column `brokernat_src`"),
        (lambda records: records.withColumn("brokernat_src", records["order_id"]), "lost the column"),
        (lambda records: None, "returned NoneType, not a DataFrame"),
        (lambda records: records.select("brokernat_src"), "returned the columns brokernat_src"),
        (lambda records: records.select("*", "amount"), "several columns amount"),
        (lambda records: 1 / 0, r"raised ZeroDivisionError: division by zero \(test_plan.py line \d+\)"),
        (lambda records: records.select("nope"), r"raised .*nope.* \(test_plan.py line \d+\)"),
    ],
)
def test_a_transform_that_cannot_work_is_refused(
    envelopes: Callable[..., DataFrame], function: Callable[[DataFrame], object], message: str
) -> None:
    with pytest.raises(TransformError, match=message):
        run(plan(function), envelopes([order(1)]))


def _by_python(records: DataFrame) -> DataFrame:
    return records.sparkSession.createDataFrame(records.rdd, records.schema)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda records: records, True),
        (lambda records: records.where("amount > 1").selectExpr("*", "amount * 2 AS twice").drop("at"), True),
        (lambda records: records.alias("r").select("r.brokernat_src", "r.order_id"), True),
        (lambda records: records.union(records), False),
        (lambda records: records.selectExpr("*", "explode(array(1, 2)) AS n"), False),
        (lambda records: records.join(records.select("order_id"), "order_id"), False),
        (lambda records: records.dropDuplicates(["order_id"]), False),
        (lambda records: records.selectExpr("brokernat_src AS other", "*").drop("brokernat_src")
         .withColumnRenamed("other", "brokernat_src"), False),
        (_by_python, False),
    ],
)  # fmt: skip
def test_the_plan_shows_whether_a_transform_makes_one_row_of_a_record(
    envelopes: Callable[..., DataFrame], function: Callable[[DataFrame], DataFrame], expected: bool
) -> None:
    steps = plan(function)
    records = steps.decode_and_enrich(envelopes([order(0)]), ()).persist()
    assert is_row_by_row(without_fault(records), steps.transformed(records)) is expected


def test_a_wrong_first_count_is_believed_only_after_the_second() -> None:
    check_received(3, 2, recount=lambda: 2)
    with pytest.raises(IncompleteError, match="3 records received, 2 processed"):
        check_received(5, 2, recount=lambda: 3)
    with pytest.raises(IncompleteError, match="1 record received, 2 processed"):
        check_received(5, 2, recount=lambda: 1)
