from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brokernat.config.avro_schema import avro_columns, read_avro_schema
from brokernat.errors import ConfigError


def record(*fields: Any, **more: Any) -> str:
    listed = [{"name": f"f{number}", "type": declared} for number, declared in enumerate(fields)]
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": listed} | more)


def columns(*fields: Any) -> list[str]:
    return [each.split("` ", 1)[1] for each in avro_columns(record(*fields)).split(", `f")]


@pytest.mark.parametrize(
    ("declared", "column"),
    [
        ("boolean", "BOOLEAN NOT NULL"),
        ("int", "INT NOT NULL"),
        ("long", "BIGINT NOT NULL"),
        ("float", "FLOAT NOT NULL"),
        ("double", "DOUBLE NOT NULL"),
        ("bytes", "BINARY NOT NULL"),
        ("string", "STRING NOT NULL"),
        ({"type": "string", "avro.java.string": "String"}, "STRING NOT NULL"),
        ({"type": {"type": "string"}}, "STRING NOT NULL"),
        (["null", "string"], "STRING"),
        (["string", "null"], "STRING"),
        (["string"], "STRING NOT NULL"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "STRING NOT NULL"),
        ({"type": "fixed", "name": "F", "size": 4}, "BINARY NOT NULL"),
        ({"type": "int", "logicalType": "date"}, "DATE NOT NULL"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "TIMESTAMP NOT NULL"),
        (["null", {"type": "long", "logicalType": "timestamp-micros"}], "TIMESTAMP"),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, "TIMESTAMP_NTZ NOT NULL"),
        ({"type": "long", "logicalType": "time-micros"}, "BIGINT NOT NULL"),
        ({"type": "string", "logicalType": "uuid"}, "STRING NOT NULL"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "DECIMAL(9,2) NOT NULL"),
        ({"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "precision": 9}, "DECIMAL(9,0) NOT NULL"),
        ({"type": "array", "items": ["null", "int"]}, "ARRAY<INT> NOT NULL"),
        ({"type": "map", "values": "long"}, "MAP<STRING, BIGINT> NOT NULL"),
        (
            {"type": "record", "name": "R", "fields": [{"name": "x.y", "type": ["null", "int"]}]},
            "STRUCT<`x.y`: INT> NOT NULL",
        ),
    ],
)
def test_each_type_has_a_column_type(declared: Any, column: str) -> None:
    assert columns(declared) == [column]


def test_a_type_is_named_once_and_used_again_in_its_namespace() -> None:
    price = {"type": "record", "name": "Price", "fields": [{"name": "amount", "type": "Unit"}]}
    unit = {"type": "enum", "name": "Unit", "symbols": ["KG"]}
    elsewhere = {"type": "record", "name": "other.R", "fields": [{"name": "p", "type": "shop.Price"}]}
    expected = "STRUCT<`amount`: STRING NOT NULL> NOT NULL"
    assert columns(unit, price, "Price", "shop.Price")[1:] == [expected] * 3
    assert columns(unit, price, elsewhere)[2] == f"STRUCT<`p`: {expected}> NOT NULL"


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("null", "null alone"),
        (["null"], "null alone"),
        (["int", "string"], "a union of 2 types"),
        (["null", "int", "string"], "a union of 2 types"),
        ("Order", "record `Order` is recursive"),
        ({"type": "array", "items": ["null", "shop.Order"]}, "field `f0[]`: record `shop.Order` is recursive"),
        ("Elsewhere", "the schema has no type `Elsewhere`"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 39, "scale": 0}, "39 digits"),
        ({"type": "bytes", "logicalType": "decimal", "scale": 2}, "needs a precision"),
        ({"type": "record", "name": "Empty", "fields": []}, "record `Empty` has no fields"),
        ({"type": "array"}, "not one of Avro's"),
        (7, "not one of Avro's"),
    ],
)
def test_what_has_no_column_type_is_refused_by_name(declared: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        avro_columns(record("int", declared).replace("f1", "f0"))
    (problem,) = caught.value.problems
    assert problem.message.startswith("field `f0")
    assert words in problem.message
    assert "leave the field out" in (problem.hint or "")


def test_every_field_is_refused_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        avro_columns(record("null", "int", ["int", "string"]))
    assert [problem.message.split(":")[0] for problem in caught.value.problems] == ["field `f0`", "field `f2`"]


@pytest.mark.parametrize(
    "text",
    ["", "{", '"string"', "[]", '{"type": "record"}', record(), record("int", fields=[{"name": "x"}]), record(name=1)],
)
def test_what_is_no_schema_of_a_record_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        avro_columns(text)
    assert [problem.code for problem in caught.value.problems] == ["bad-schema"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"orders\.avsc"):
        read_avro_schema(str(tmp_path / "orders.avsc"))
