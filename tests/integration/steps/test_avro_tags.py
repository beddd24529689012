"""Tags as Avro: what a plain reader makes of them, and what does not fit its schema."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.steps import plain_avro
from tests.integration.steps.test_avro import EVERYTHING, PRICE, VALUE, record, registry_of

from brokernat.config.avro_schema import avro_columns
from brokernat.config.model import Sink
from brokernat.errors import ConfigError
from brokernat.pipelines.prepared import parse_schema
from brokernat.pipelines.steps.formats import Registry, SchemaTags, SchemaValues, decode
from brokernat.pipelines.steps.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.conformance]


def tags(schema: dict[str, Any], schema_id: int | None = None) -> SchemaTags:
    text = json.dumps(schema)
    return SchemaTags("avro", text, parse_schema(avro_columns(text)), schema_id)


def values(frame: DataFrame, schema: dict[str, Any], schema_id: int | None = None) -> list[bytes]:
    """The values of the tags of decoded records."""
    sink = Sink(cluster="local", topic="tags", dead_letters="tags.dead")
    plan = Plan("p", parse_schema("a INT"), sink, tag_format=tags(schema, schema_id))
    outgoing = plan.outgoing(frame)
    assert outgoing is not None
    return [bytes(row["value"]) for row in outgoing.where("topic = 'tags'").collect()]


def test_what_is_read_is_written_again(envelopes: Callable[..., DataFrame]) -> None:
    text = json.dumps(EVERYTHING)
    well = plain_avro.encode(EVERYTHING, VALUE)
    frame = decode(envelopes([well, b"", well]), parse_schema(avro_columns(text)), SchemaValues("avro", text))
    for value in values(frame, EVERYTHING):
        assert plain_avro.decode(EVERYTHING, value) == VALUE
    with_id = values(frame, EVERYTHING, 259)
    assert [value[:5] for value in with_id] == [b"\0\0\0\1\3"] * 2
    assert plain_avro.decode(EVERYTHING, with_id[0][5:]) == VALUE


def rows(spark: SparkSession, *columns: str) -> DataFrame:
    source = "named_struct('cluster', 'c', 'topic', 'orders', 'partition', 0, 'offset', 0L, "
    source += "'timestamp', timestamp'2026-01-01', 'key', x'6b', 'headers', "
    source += "cast(array() as array<struct<key: string, value: binary>>)) AS brokernat_src"
    nothing = "cast(null as struct<kind: string, message: string>) AS brokernat_fault", "x'' AS brokernat_value"
    return spark.sql(f"SELECT {', '.join((source, *nothing, *columns))}")


def test_times_and_decimals(spark: SparkSession) -> None:
    schema = record(
        d={"type": "int", "logicalType": "date"},
        s=["null", {"type": "long", "logicalType": "timestamp-millis"}],
        u={"type": "long", "logicalType": "timestamp-micros"},
        p=PRICE,
        q={"type": "fixed", "name": "Q", "size": 6, "logicalType": "decimal", "precision": 9, "scale": 0},
    )
    frame = rows(
        spark, "date'2026-01-05' AS d", "timestamp_micros(-1) AS s", "timestamp_micros(-1) AS u",
        "cast(-1.28 as decimal(9,2)) AS p", "cast(-5 as decimal(9,0)) AS q",
    )  # fmt: skip
    (value,) = values(frame, schema)
    days = (dt.date(2026, 1, 5) - dt.date(1970, 1, 1)).days
    assert plain_avro.decode(schema, value) == {
        "d": days, "s": -1, "u": -1, "p": Decimal("-1.28"), "q": Decimal(-5),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("1 AS a", "'x' AS s", "2 AS more"), "`more` is INT, but not there in the schema"),
        (("1 AS a",), "`s` is not there, but STRING in the schema"),
        (("1L AS a", "'x' AS s"), "`a` is BIGINT, but INT in the schema"),
    ],
)
def test_other_columns_are_refused_before_a_record_is_read(
    spark: SparkSession, columns: tuple[str, ...], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        values(rows(spark, *columns), record(a="int", s="string"))


@pytest.mark.parametrize(
    ("column", "declared", "words"),
    [
        ("cast(null as int) AS a", "int", "field `a`: it is null"),
        ("'C' AS a", {"type": "enum", "name": "E", "symbols": ["A"]}, "field `a`: `C` is none of its symbols"),
        ("array(1, null) AS a", {"type": "array", "items": "int"}, "field `a.*`: it is null"),
        ("x'00' AS a", {"type": "fixed", "name": "F", "size": 2}, "field `a`: it has 1 bytes, expected 2"),
    ],
)
def test_a_tag_that_does_not_fit_stops(spark: SparkSession, column: str, declared: Any, words: str) -> None:
    with pytest.raises(Exception, match=words):
        values(rows(spark, column), record(a=declared))


def test_the_id_is_that_of_the_subject(spark: SparkSession) -> None:
    text = json.dumps(record(a="int"))
    asked: list[tuple[str, str | None]] = []
    answers: dict[str, Any] = {"/subjects/a%2Fb-value": {"id": 7, "version": 1}, "/subjects/new/versions": {"id": 8}}
    with registry_of(answers, asked) as url:
        registry = Registry(url)
        assert registry.id_of(text, "a/b-value", spark, register=False) == 7
        assert registry.id_of(text, "new", spark, register=True) == 8
        with pytest.raises(ConfigError, match=r"the subject `new` of the schema registry .* does not have the schema"):
            registry.id_of(text, "new", spark, register=False)
        answers["/subjects/new/versions"] = (409, {"error_code": 409})
        with pytest.raises(ConfigError, match="HTTP status 409"):
            registry.id_of(text, "new", spark, register=True)
    assert [path for path, _ in asked] == [
        "/subjects/a%2Fb-value", "/subjects/new/versions", "/subjects/new", "/subjects/new?normalize=true",
        "/subjects/new/versions",
    ]  # fmt: skip
