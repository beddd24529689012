"""A reference that executors hold: what a lookup finds is what a join finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from brokernat.clients.spark.functions import FAULT
from brokernat.pipelines.references import held
from brokernat.pipelines.references.held import HeldReference, hold
from brokernat.pipelines.steps.enrich import enrich
from brokernat.testbed.place import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

FAULTS = f"{FAULT} STRUCT<kind: STRING, message: STRING>"
KEYS: dict[str, list[Any]] = {
    "STRING": ["", "c1", "Ünï-ćode", "a key that is longer than the buffer of a row begins with: " + "x" * 200],
    "BIGINT": [0, -1, 2**63 - 1, -(2**63)],
    "INT": [0, 7, -(2**31)],
    "SMALLINT": [0, -7],
    "TINYINT": [1, -128],
}


def reference(spark: SparkSession, key_type: str, keys: Sequence[Any]) -> DataFrame:
    """One row per key; a null, a list and a struct are among its columns."""
    schema = f"`the.key` {key_type}, number INT, names ARRAY<STRING>, inner STRUCT<a: DOUBLE, b: STRING>"
    rows = [(key, None if place == 1 else place, [str(place)], (place / 8, "b")) for place, key in enumerate(keys)]
    return spark.createDataFrame(rows, schema)


def made(spark: SparkSession, frame: DataFrame, rows: int) -> HeldReference:
    lookup = hold(spark, frame, frame.columns[0], version="v1", rows=rows)
    assert lookup
    return lookup


@pytest.mark.parametrize("rows", ["some", "none"])
@pytest.mark.parametrize("key_type", KEYS)
def test_a_lookup_finds_what_a_join_finds(spark: SparkSession, key_type: str, rows: str) -> None:
    known, unknown = KEYS[key_type][:-1] if rows == "some" else [], KEYS[key_type][-1]
    frame = reference(spark, key_type, known)
    keys = [*known, unknown, None, *known]
    faulty = (keys[0], ("WrongType", "it was faulty"))
    records = spark.createDataFrame([*((key, None) for key in keys), faulty], f"k {key_type}, {FAULTS}").repartition(2)

    def joined(lookup: HeldReference | None) -> list[Any]:
        found = enrich(records, frame, name="r", key="k", reference_key="the.key", lookup=lookup)
        return sorted(found.collect(), key=str)

    lookup = made(spark, frame, len(known))
    assert joined(lookup) == joined(None)


def test_a_reference_of_keys_alone_knows_them(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("c1",), ("c2",)], "customer STRING")
    records = spark.createDataFrame([("c1", None), ("c3", None)], f"k STRING, {FAULTS}")
    found = enrich(records, frame, name="r", key="k", reference_key="customer", lookup=made(spark, frame, 2))
    assert {row["k"]: row[FAULT] and row[FAULT]["kind"] for row in found.collect()} == {
        "c1": None,
        "c3": "MissingReference",
    }


def test_what_cannot_be_held_is_joined(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    decimal = reference(spark, "DECIMAL(5,2)", [Decimal("1.00")])
    assert hold(spark, decimal, "the.key", version="v1", rows=1) is None
    some = reference(spark, "STRING", ["c1"])
    size = some._jdf.schema().defaultSize()
    monkeypatch.setattr(held, "_memory", lambda _: 10_000 * size)
    assert hold(spark, some, "the.key", version="v1", rows=1_001) is None
    assert hold(spark, some, "the.key", version="v1", rows=900)


def test_a_table_is_held_until_nobody_has_it(spark: SparkSession) -> None:
    frame = reference(spark, "STRING", ["c1"])
    lookup = made(spark, frame, 1)
    records = spark.createDataFrame([("c1",)], "k STRING")
    found = records.select(lookup(records["k"])["number"].alias("number"))
    later = replace(lookup, table=None)
    del lookup

    def gone() -> bool:
        jvm: Any = spark._jvm
        jvm.System.gc()
        try:
            records.select(later(records["k"]))
        except AnalysisException as error:
            return "lookup" in str(error)
        return False

    wait_until(gone, "the end of the table", timeout=60)
    assert [row["number"] for row in found.collect()] == [0]
