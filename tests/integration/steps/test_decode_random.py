"""The decoder in the JVM against a plain one in Python: random schemas, random records, damaged ones among them."""

from __future__ import annotations

import json
import math
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.steps import plain_decoder

from brokernat.clients.spark import decode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, Row, StructType

pytestmark = [pytest.mark.spark, pytest.mark.conformance]

SCHEMAS, RECORDS = 20, 500
SCALARS = (
    "STRING", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5,2)", "DECIMAL(38,0)",
    "DECIMAL(38,38)", "DECIMAL(10,0)", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ",
)  # fmt: skip
VALUES = (
    "null", "true", "false", '""', '"x"', '"12"', '"é\\u00e9\\ud83d\\ude00"', '"\\ud800"', '"a\\"\\\\\\n"', "0", "-0",
    "1", "127", "128", "-129", "32768", "2147483648", "9223372036854775807", "9223372036854775808", "1.5", "1.50",
    "-0.0", "12.345", "999.99", "1e2", "1E-2", "1e400", "-1e39", "3.4028236e38", "1e-400", "1e999999999", "0e999999999",
    "100e2147483647", "10e2147483648",
    "12345678901234567890123456789012345678901", "0." + "0" * 37 + "1", "0." + "0" * 38 + "1", "1" * 999, "1" * 1001,
    '"2026-01-05"', '"2026-02-30"', '"2026-01-05T08:00:00Z"', '"2026-01-05 08:00:00.123456+02:00"',
    '"2026-01-05T08:00:00"', '"2026-01-05Trubbish"', '"0001-01-02"', '"2026"', '"08:00:00"', "[]", "[1, 2]",
    '["x", null]', "{}", '{"a": 1, "b": "x"}', '{"a": 1, "a": 2}', "[[[[1]]]]", "01", "+1", ".5", "1.", "NaN", "nul",
    "'x'", '"\t"', "[1,]", '{"a":}', "\N{NO-BREAK SPACE}1",
)  # fmt: skip
NAMES = ("a", "b", "A", "odd.name", "back`tick", "qu'ote", "é", " ", "c")


def _type(dice: random.Random, depth: int = 0) -> str:
    kind = dice.random()
    if depth < 3 and kind < 0.12:
        fields = ", ".join(f"`{_quoted(name)}`: {_type(dice, depth + 1)}" for name in _names(dice))
        return f"STRUCT<{fields}>"
    if depth < 3 and kind < 0.22:
        return f"ARRAY<{_type(dice, depth + 1)}>"
    if depth < 3 and kind < 0.3:
        return f"MAP<STRING, {_type(dice, depth + 1)}>"
    return dice.choice(SCALARS)


def _names(dice: random.Random) -> list[str]:
    """Some names, of which no two are one to Spark, which compares without case."""
    drawn = dice.sample(NAMES, dice.randint(1, 5))
    return list({name.lower(): name for name in drawn}.values())


def _quoted(name: str) -> str:
    return name.replace("`", "``")


def random_schema(dice: random.Random) -> StructType:
    from pyspark.sql.types import StructType

    fields = (f"`{_quoted(name)}` {_type(dice)}{' NOT NULL' if dice.random() < 0.15 else ''}" for name in _names(dice))
    schema = StructType.fromDDL(", ".join(fields))
    assert isinstance(schema, StructType)
    return schema


def _value(dice: random.Random, declared: DataType, depth: int = 0) -> str:
    """JSON that may or may not be of a type."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if depth and dice.random() < 0.06:
        return dice.choice(VALUES)
    match declared:
        case StructType():
            parts = [
                f"{json.dumps(field.name)}: {_value(dice, field.dataType, depth + 1)}"
                for field in declared
                if dice.random() < 0.9
            ]
            if dice.random() < 0.2:
                parts.append(f'"unknown": {dice.choice(VALUES)}')
            dice.shuffle(parts)
            return f"{{{', '.join(parts)}}}"
        case ArrayType():
            return f"[{', '.join(_value(dice, declared.elementType, depth + 1) for _ in range(dice.randint(0, 3)))}]"
        case MapType():
            keys = dice.sample(NAMES, dice.randint(0, 3))
            return f"{{{', '.join(f'{json.dumps(k)}: {_value(dice, declared.valueType, depth + 1)}' for k in keys)}}}"
    text = dice.choice(_OF_TYPE[declared.typeName()])
    if text.startswith('"') and dice.random() < 0.1:
        # A letter in a text that is otherwise of the type; Spark's casts take more forms than the plain decoder knows.
        place = dice.randrange(1, len(text) - 1) if len(text) > 2 else 1
        text = f"{text[:place]}{dice.choice('ab')}{text[place + (len(text) > 2) :]}"
    return text


_TIMES = ('"2026-01-05T08:00:00Z"', '"2026-01-05"', '"2026-01-05 08:00:00.5+02:00"', '"1969-12-31T23:59:59"', "null")
_OF_TYPE = {
    "string": ('""', '"x"', '"é"', '"\\u0041"', "null"),
    "boolean": ("true", "false", "null"),
    **dict.fromkeys(("byte", "short", "integer", "long"), ("0", "-0", "127", "-128", "null")),
    **dict.fromkeys(("float", "double"), ("0", "-0.0", "1.5", "1e10", "0.1", "-3.25e-5", "null")),
    "decimal": ("0", "1", "-0.00", "1e0", "100e-2", "null"),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), _TIMES),
}


def random_record(dice: random.Random, schema: StructType) -> bytes | None:
    text = _value(dice, schema).encode()
    damage = dice.random()
    if damage < 0.03:
        return text[: dice.randrange(len(text))]
    if damage < 0.06:
        place = dice.randrange(len(text))
        return text[:place] + bytes([dice.randrange(256)]) + text[place:]
    if damage < 0.08:
        return text + dice.choice([b" ", b"\n", b"x", b"{}", b",", b"\x00"])
    if damage < 0.09:
        return dice.choice(
            [None, b"", b" \t\r\n", b"\xef\xbb\xbf" + text, text.decode().encode("utf-16"), b"1", b"[1]"]
        )
    return text


def _as_plain(value: Any) -> Any:
    from pyspark.sql.types import Row

    match value:
        case Row():
            return {name: _as_plain(value[name]) for name in value.__fields__}
        case list():
            return [_as_plain(one) for one in value]
        case dict():
            return {key: _as_plain(one) for key, one in value.items()}
    return value


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict) and isinstance(found, dict):
        return found.keys() == expected.keys() and all(_same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(_same, found, expected))
    if isinstance(expected, float) and isinstance(found, float):
        # A FLOAT comes back as the double next to it.
        return math.isclose(found, expected, rel_tol=1e-6) or found == expected
    if isinstance(expected, Decimal) and isinstance(found, Decimal):
        return found == expected
    return type(found) is type(expected) and bool(found == expected)


def _agrees(row: Row, expected: tuple[str, str] | dict[str, Any]) -> bool:
    fault, *columns = row
    if isinstance(expected, tuple):
        return fault and fault["kind"] == expected[0] and fault["message"].startswith(expected[1]) and not any(columns)
    return fault is None and _same(dict(zip(row.__fields__[1:], map(_as_plain, columns), strict=True)), expected)


def test_ten_thousand_random_records_decode_as_the_plain_decoder_says(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    dice = random.Random(20)
    faults = 0
    for number in range(SCHEMAS):
        schema = random_schema(dice)
        values = [random_record(dice, schema) for _ in range(RECORDS)]
        frame = spark.createDataFrame(list(enumerate(values)), "place INT, value BINARY").orderBy("place")
        rows = frame.select(decode(F.col("value"), schema).alias("decoded")).select("decoded.*").collect()
        for value, row in zip(values, rows, strict=True):
            expected = plain_decoder.decode(value, schema)
            assert _agrees(row, expected), (number, schema.simpleString(), value, row, expected)
            faults += isinstance(expected, tuple)
    # Neither of the two kinds of records is rare.
    assert SCHEMAS * RECORDS / 10 < faults < SCHEMAS * RECORDS * 9 / 10
