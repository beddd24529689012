"""The JSON of tags against Spark's own `to_json`, on random schemas and on values that are hard to write."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.integration.steps.test_decode_random import random_record, random_schema

from brokernat.clients.spark import decode
from brokernat.clients.spark.functions import FAULT
from brokernat.config.model import Sink
from brokernat.config.record_schema import quoted
from brokernat.pipelines.steps.envelope import COORDINATES, envelop
from brokernat.pipelines.steps.sink import kafka_records, tag

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.conformance]

SIX_DIGITS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]XXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]",
}
ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "-03:30", "America/St_Johns")
HARD = """
    timestamp_micros(0), timestamp_micros(-1), timestamp_micros(999999), timestamp'0001-01-01 00:00:00',
    timestamp'1900-06-01 12:00:00.000001', timestamp'9999-12-31 23:59:59.999999', timestamp_micros(253402300800000000),
    timestamp_micros(-62167219200000001), timestamp_micros(9223372036854775807), timestamp_micros(-9223372036854775808),
    timestamp'2026-03-29 01:30:00Z', timestamp_ntz'2026-02-28 23:59:59.5', timestamp_ntz'0000-01-01 00:00:00',
    date'2024-02-29', date'0001-01-01', date'9999-12-31', date_from_unix_date(2147483647),
    date_from_unix_date(-2147483648), cast('NaN' as double), cast('-Infinity' as float), double(1e-320), float(0.1),
    double(1e21), double(-0.0), cast(x'ff41c3' as string), 'a"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\\u2028é😀', '',
    cast('1E-38' as decimal(38,38)), cast('-0.00' as decimal(5,2)), cast(null as map<string, int>), map('k"', null),
    array(null, named_struct('a b', 1Y, 'é', true)), named_struct('x', cast(null as string)), array(),
    map('', array(1L))
"""


@pytest.fixture(params=ZONES)
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    before = spark.conf.get("spark.sql.session.timeZone")
    assert before is not None
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


def written(rows: DataFrame) -> tuple[list[str], list[str]]:
    """What our tags hold of each row's columns, and what Spark makes of them."""
    from pyspark.sql import functions as F  # noqa: N812

    sink = Sink(cluster="local", topic="tags", dead_letters="tags.dead")
    key, content = tag(rows, key=None)
    ours = kafka_records(rows, sink, pipeline="p", key=key, tag=content, faults=False)
    own = [quoted(name) for name in rows.columns if name != COORDINATES]
    spark = rows.select(F.to_json(F.struct(*own), SIX_DIGITS))
    return [bytes(row["value"]).decode() for row in ours.collect()], [row[0] for row in spark.collect()]


def source(spark: SparkSession) -> DataFrame:
    """A row with `brokernat_src`."""
    kafka = spark.sql(
        "select x'6b' key, x'76' value, 'orders' topic, 0 partition, 0L offset, timestamp'2026-01-01' timestamp, "
        "array(named_struct('key', 'h', 'value', x'')) headers"
    )
    return envelop(kafka, "cid").select(COORDINATES)


def test_values_that_are_hard_to_write(spark: SparkSession, zone: str) -> None:
    columns = spark.sql(f"select {HARD}").toDF(*(f"c{n}" for n in range(len(spark.sql(f"select {HARD}").columns))))
    ours, theirs = written(source(spark).join(columns))
    assert ours == theirs, zone


@pytest.mark.parametrize("seed", range(8))
def test_random_records_of_random_schemas(spark: SparkSession, seed: int) -> None:
    dice = random.Random(seed)
    schema = random_schema(dice)
    values = [(random_record(dice, schema),) for _ in range(300)]
    frame = spark.createDataFrame(values, "value binary").coalesce(1)
    decoded = frame.select(decode(frame["value"], schema, spark).alias("d")).where(f"d.{FAULT} is null")
    rows = source(spark).join(decoded.select(*(f"d.{quoted(name)}" for name in schema.fieldNames())))
    ours, theirs = written(rows)
    assert ours == theirs
    assert ours


def test_types_that_only_spark_writes(spark: SparkSession) -> None:
    columns = spark.sql("select parse_json('[1, {\"a\": null}]') v, map(1, 'x') m, x'00ff' b, interval '1' day i")
    ours, theirs = written(source(spark).join(columns))
    assert ours == theirs
    assert '"v":[1,{"a":null}]' in ours[0]
