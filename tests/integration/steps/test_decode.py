from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from brokernat.clients.spark import check_schema
from brokernat.errors import ConfigError
from brokernat.pipelines.steps.formats import decode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark

DDL = (
    "s STRING, i INT, l BIGINT, t8 TINYINT, d DOUBLE, f FLOAT, m DECIMAL(5,2), b BOOLEAN, t TIMESTAMP, dt DATE, "
    "o STRUCT<x: INT, y: STRUCT<z: STRING>>, a ARRAY<INT>, ao ARRAY<STRUCT<p: DECIMAL(4,2)>>, mp MAP<STRING, INT>, "
    "v VARIANT, `odd.name` STRING"
)

WELL = [
    "{}",
    '{"s": null, "o": null, "a": null, "unknown": 1}',
    '{"s": "", "i": -0, "b": false}',
    '{"d": 1}',
    '{"d": 1e3}',
    '{"d": 12345678901234567890123}',
    '{"m": 1.50}',
    '{"m": 1e1}',
    '{"t": "2026-01-05"}',
    '{"t": "2026-01-05T08:00:00+02:00"}',
    '{"o": {"x": null}}',
    '{"a": [], "ao": [], "mp": {}}',
    '{"a": [1, null]}',
    '{"v": [1, "x", {"y": null}]}',
    '{"v": {"\\ud83d\\ude00": "\\ud83d\\ude00"}}',
    '{"odd.name": "x"}',
    '{"u": [{"k": 1}, {"k": 2}], "o": {"x": 1, "y": {"z": "x", "x": 1}}, "ao": [{"p": 1}, {"p": 2, "k": {"p": 3}}]}',
    ' {"s": "x"} \n',
]

# value: (kind, what the message holds)
FAULTY: dict[str | bytes | None, tuple[str, str]] = {
    None: ("Tombstone", "no value"),
    "": ("MalformedValue", "empty"),
    "  ": ("MalformedValue", "empty"),
    '{"s": "x"': ("MalformedValue", '{"s": "x"'),
    '{"s": "x"} rest': ("MalformedValue", "rest"),
    '{"s": "x"}{"s": "y"}': ("MalformedValue", ""),
    '{"s": "x"},{"s": "y"}': ("MalformedValue", ""),
    '{"s": "x", "s": "y"}': ("MalformedValue", ""),
    "{'s': 'x'}": ("MalformedValue", ""),
    '{"d": NaN}': ("MalformedValue", ""),
    b'{"s": "\xff"}': ("MalformedValue", "UTF-8"),
    b'\xef\xbb\xbf{"s": "x"}': ("MalformedValue", ""),
    "[]": ("WrongType", "not a JSON object but ARRAY"),
    '"x"': ("WrongType", "not a JSON object but STRING"),
    "null": ("WrongType", "not a JSON object but VOID"),
    "12": ("WrongType", "not a JSON object but BIGINT"),
    '{"s": 1}': ("WrongType", "field `s`: expected STRING, found BIGINT 1"),
    '{"s": true}': ("WrongType", "field `s`"),
    '{"s": {"a": 1}}': ("WrongType", "field `s`"),
    '{"i": "1"}': ("WrongType", 'field `i`: expected INT, found STRING "1"'),
    '{"i": 1.5}': ("WrongType", "field `i`"),
    '{"i": 3000000000}': ("WrongType", "field `i`: expected INT, found BIGINT 3000000000"),
    '{"t8": 128}': ("WrongType", "field `t8`: expected TINYINT"),
    '{"i": true}': ("WrongType", "field `i`"),
    '{"l": 12345678901234567890}': ("WrongType", "field `l`: expected BIGINT"),
    '{"d": "1.5"}': ("WrongType", "field `d`: expected DOUBLE"),
    '{"d": "twelve"}': ("WrongType", 'found STRING "twelve"'),
    '{"d": 1e400}': ("WrongType", "field `d`"),
    '{"d": true}': ("WrongType", "field `d`"),
    '{"f": 1e39}': ("WrongType", "field `f`: expected FLOAT"),
    '{"m": 1.234}': ("WrongType", "field `m`: expected DECIMAL(5,2), found DECIMAL(4,3) 1.234"),
    '{"m": 12345.1}': ("WrongType", "field `m`"),
    '{"m": "1"}': ("WrongType", "field `m`"),
    '{"b": "true"}': ("WrongType", "field `b`"),
    '{"b": 1}': ("WrongType", "field `b`"),
    '{"t": 1500000000000}': ("WrongType", "field `t`: expected TIMESTAMP, found BIGINT"),
    '{"t": "yesterday"}': ("WrongType", "field `t`"),
    '{"t": "12:30"}': ("WrongType", "field `t`"),
    '{"t": "2026"}': ("WrongType", "field `t`"),
    '{"t": "2026-02-30T00:00:00Z"}': ("WrongType", "field `t`"),
    '{"t": "20ab-05-06T07:08:09Z"}': ("WrongType", "field `t`: expected TIMESTAMP"),
    '{"t": "ab26-05-06T07:08:09Z"}': ("WrongType", "field `t`: expected TIMESTAMP"),
    '{"dt": "2026-01"}': ("WrongType", "field `dt`: expected DATE"),
    '{"o": 1}': ("WrongType", "field `o`: expected STRUCT"),
    '{"o": {"x": "1"}}': ("WrongType", "field `o.x`: expected INT"),
    '{"o": {"y": {"z": 2}}}': ("WrongType", "field `o.y.z`: expected STRING"),
    '{"a": 1}': ("WrongType", "field `a`: expected ARRAY"),
    '{"a": [1, "x"]}': ("WrongType", "field `a[]`: expected INT"),
    '{"ao": [{"p": 1}, {"p": 100}]}': ("WrongType", "field `ao[].p`: expected DECIMAL(4,2)"),
    '{"ao": [3]}': ("WrongType", "field `ao[]`: expected STRUCT"),
    '{"mp": {"k": "1"}}': ("WrongType", "field `mp[]`: expected INT"),
    '{"mp": [1]}': ("WrongType", "field `mp`: expected MAP"),
    '{"odd.name": 1}': ("WrongType", "field `odd.name`: expected STRING"),
    '{"v": "\\ud83d"}': ("WrongType", "field `v`: expected VARIANT, found STRING"),
    '{"v": [1, {"x": ["\\ude00"], "y": 1}, 2], "s": "x"}': ("WrongType", "field `v`: expected VARIANT, found ARRAY"),
    '{"v": {"a": {"b": "\\ud83d"}}, "s": 1}': ("WrongType", "field `s`: expected STRING"),
    '{"v": {"a": {"b": "\\ud83d"}}, "s": "x", "s": "y"}': ("MalformedValue", ""),
    '{"u": 1, "u": 2}': ("MalformedValue", ""),
    '{"u": {"k": 1, "k": 2}}': ("MalformedValue", ""),
    '{"u": [1, [{"k": [{"k": 1, "k": 2}]}]]}': ("MalformedValue", ""),
    '{"o": {"x": 1, "x": 2}}': ("MalformedValue", ""),
    '{"o": {"u": 1, "y": {"u": {"u": 1, "u": 2}}}}': ("MalformedValue", ""),
    '{"s": {"k": 1, "k": 2}}': ("MalformedValue", ""),
    '{"a": [{"k": 1, "k": 2}]}': ("MalformedValue", ""),
    '{"ao": [{"p": 1}, [{"p": 1, "p": 2}]]}': ("MalformedValue", ""),
    '{"ao": [{"p": 1}, {"p": 2, "p": 3}]}': ("MalformedValue", ""),
    '{"mp": {"k": 1, "k": 2}}': ("MalformedValue", ""),
    '{"mp": {"k": {"k": 1, "k": 2}}}': ("MalformedValue", ""),
    '{"v": {"k": 1, "k": 2}}': ("MalformedValue", ""),
    '{"v": [{"k": [{"k": 1, "k": 2}]}]}': ("MalformedValue", ""),
    '[{"k": 1, "k": 2}]': ("MalformedValue", ""),
}


def schema(ddl: str) -> object:
    from pyspark.sql.types import StructType

    return StructType.fromDDL(ddl)


def faults(frame: DataFrame) -> list[tuple[str, str] | None]:
    rows = frame.orderBy("brokernat_src.offset").select("brokernat_fault").collect()
    return [row[0] and (row[0]["kind"], row[0]["message"]) for row in rows]


def test_what_has_its_types_is_well(envelopes: Callable[..., DataFrame]) -> None:
    assert faults(decode(envelopes(WELL), schema(DDL))) == [None] * len(WELL)  # type: ignore[arg-type]


def test_every_wrong_value_is_a_fault_that_names_the_field(envelopes: Callable[..., DataFrame]) -> None:
    found = faults(decode(envelopes(list(FAULTY)), schema(DDL)))  # type: ignore[arg-type]
    for value, (kind, text), fault in zip(FAULTY, FAULTY.values(), found, strict=True):
        assert fault is not None, value
        assert fault[0] == kind, value
        assert text in fault[1], value


def test_values_are_read_as_their_types(envelopes: Callable[..., DataFrame]) -> None:
    value = (
        '{"s":"é","i":1,"l":9007199254740993,"d":0.1,"m":1.5,"t":"2026-01-01T10:00:00.123456+02:00","dt":"2026-01-01",'
        '"o":{"x":1,"y":{"z":"q"}},"a":[1,2],"ao":[{"p":1.5}],"mp":{"k":1},"odd.name":"n"}'
    )
    row = decode(envelopes([value]), schema(DDL)).first()  # type: ignore[arg-type]
    assert row is not None
    assert (row["s"], row["i"], row["l"], row["d"]) == ("é", 1, 9007199254740993, 0.1)
    assert (row["m"], row["dt"]) == (Decimal("1.50"), dt.date(2026, 1, 1))
    assert row["t"].astimezone(dt.UTC) == dt.datetime(2026, 1, 1, 8, 0, 0, 123456, dt.UTC)
    assert row["o"].asDict(recursive=True) == {"x": 1, "y": {"z": "q"}}
    assert (row["a"], row["ao"][0]["p"], row["mp"], row["odd.name"]) == ([1, 2], Decimal("1.50"), {"k": 1}, "n")


@pytest.mark.parametrize("value", ["{}", '{"s": null}'])
def test_not_null_is_held_to(envelopes: Callable[..., DataFrame], value: str) -> None:
    [fault] = faults(decode(envelopes([value]), schema("s STRING NOT NULL, n INT")))  # type: ignore[arg-type]
    assert fault is not None
    assert "field `s`: expected a value (NOT NULL)" in fault[1]


def test_a_variant_that_is_too_large_is_named_and_what_follows_is_read(envelopes: Callable[..., DataFrame]) -> None:
    large = '{"v": {"a": [1, "' + "x" * (17 << 20) + '", {"b": 2}], "c": 3}, "s": '
    values = [large + end for end in ('"x"}', "1}", '"x"} rest')]
    found = faults(decode(envelopes(values), schema("v VARIANT, s STRING")))  # type: ignore[arg-type]
    assert all(found)
    too_large = "field `v`: expected a value that fits into Spark's VARIANT, found OBJECT"
    assert [(fault or ("", ""))[0] for fault in found] == ["WrongType", "WrongType", "MalformedValue"]
    assert [(fault or ("", ""))[1].startswith(too_large) for fault in found] == [True, True, False]


def test_a_wide_schema_still_decodes(envelopes: Callable[..., DataFrame]) -> None:
    fields = [f"f{n} {kind}" for n, kind in enumerate(["STRING", "DOUBLE", "TIMESTAMP", "DECIMAL(9,2)"] * 20)]
    [well, wrong] = faults(decode(envelopes(['{"f0": "x"}', '{"f77": "x"}']), schema(", ".join(fields))))  # type: ignore[arg-type]
    assert well is None
    assert wrong is not None
    assert "field `f77`" in wrong[1]


@pytest.mark.parametrize("ddl", ["x BINARY", "x STRUCT<y: ARRAY<BINARY>>", "x MAP<INT, INT>", "brokernat_src STRING"])
def test_schemas_that_json_cannot_be_held_against_are_refused(spark: object, ddl: str) -> None:
    with pytest.raises(ConfigError):
        check_schema(schema(ddl))  # type: ignore[arg-type]
