from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from brokernat.errors import ConfigError
from brokernat.pipelines.prepared import parse_schema
from brokernat.pipelines.steps.formats import Csv, decode, raw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark

DDL = "s STRING, i INT, m DECIMAL(5,2), b BOOLEAN, d DATE"
NOTHING = (None,) * 5

# value: its columns, or the kind of its fault
CSV: dict[str | bytes | None, tuple[Any, ...] | str] = {
    "a;1;1.50;true;2026-01-05": ("a", 1, Decimal("1.50"), True, dt.date(2026, 1, 5)),
    "a;-1;0;false;2026-01-05\n": ("a", -1, Decimal("0.00"), False, dt.date(2026, 1, 5)),
    ";;;;\r\n": NOTHING,
    '"";;;;': ("", *NOTHING[1:]),
    '"a;""b""\n\\";"2";;;': ('a;"b"\n\\', 2, *NOTHING[2:]),
    "é, 'x';;;;": ("é, 'x'", *NOTHING[1:]),
    " 7 ;;;;": (" 7 ", *NOTHING[1:]),
    None: "Tombstone",
    "": "MalformedValue",
    b"\xff;;;;": "MalformedValue",
    "a;1": "MalformedValue",
    "a;;;;;": "MalformedValue",
    "a;;;;\nb;;;;": "MalformedValue",
    '"a;;;;': "MalformedValue",
    '"a"b;;;;': "MalformedValue",
    'a"b";;;;': "MalformedValue",
    ";1.5;;;": "WrongType",
    "; 1;;;": "WrongType",
    ";01;;;": "WrongType",
    ";+1;;;": "WrongType",
    ";3000000000;;;": "WrongType",
    ";;1.234;;": "WrongType",
    ";;NaN;;": "WrongType",
    ";;;TRUE;": "WrongType",
    ";;;1;": "WrongType",
    ";;;;2026-13-01": "WrongType",
}


def found(frame: DataFrame) -> list[tuple[Any, ...] | str]:
    rows = frame.orderBy("brokernat_src.offset").drop("brokernat_src", "brokernat_value").collect()
    return [fault["kind"] if fault else tuple(columns) for fault, *columns in rows]


def test_csv_is_read_as_strictly_as_json(envelopes: Callable[..., DataFrame]) -> None:
    rows = found(decode(envelopes(list(CSV)), parse_schema(DDL), Csv(";")))
    assert dict(zip(CSV, rows, strict=True)) == CSV


def test_csv_names_the_field(envelopes: Callable[..., DataFrame]) -> None:
    frame = decode(envelopes([";x;;;", "1,2"]), parse_schema(DDL), Csv(";"))
    rows = frame.orderBy("brokernat_src.offset").select("brokernat_fault.message").collect()
    assert [row[0] for row in rows] == [
        'field `i`: expected INT, found STRING "x"',
        "the value has 1 fields, expected 5",
    ]


@pytest.mark.parametrize("ddl", ["a ARRAY<INT>", "a STRUCT<b: INT>", "a MAP<STRING, INT>", "a VARIANT", "a BINARY"])
def test_csv_has_no_parts(envelopes: Callable[..., DataFrame], ddl: str) -> None:
    with pytest.raises(ConfigError, match="field `a`"):
        decode(envelopes([b""]), parse_schema(ddl), Csv())


def test_raw_is_one_column(envelopes: Callable[..., DataFrame]) -> None:
    values = [b"\xff\0", None, b"", "é"]
    assert found(decode(envelopes(values), parse_schema("body BINARY"), raw)) == [
        (bytearray(b"\xff\0"),), "Tombstone", (bytearray(),), (bytearray("é".encode()),),
    ]  # fmt: skip
    assert found(decode(envelopes(values), parse_schema("line STRING"), raw)) == [
        "MalformedValue", "Tombstone", ("",), ("é",),
    ]  # fmt: skip


@pytest.mark.parametrize("ddl", ["a INT", "a STRING, b STRING", "brokernat_x STRING"])
def test_raw_has_no_other_columns(envelopes: Callable[..., DataFrame], ddl: str) -> None:
    with pytest.raises(ConfigError):
        decode(envelopes([b""]), parse_schema(ddl), raw)
