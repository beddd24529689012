"""What `decode` must do, written to be read and not to be fast: Python's own JSON parser, one rule after the other."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructType

_INTEGERS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2}):(\d{2})(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})?)?", re.ASCII)
_DIGITS = 1_000


class NotJsonError(Exception):
    """The text is not one JSON object or value."""


@dataclass(frozen=True)
class Number:
    """A number as it is written."""

    text: str

    @property
    def is_integer(self) -> bool:
        return re.fullmatch(r"-?\d+", self.text) is not None


@dataclass(frozen=True)
class MismatchError(Exception):
    """A value that has another type than declared."""

    label: str
    expected: str


def decode(value: bytes | None, schema: StructType) -> tuple[str, str] | dict[str, Any]:
    """Kind and beginning of the message of a fault, or the columns."""
    if value is None:
        return "Tombstone", "the record has no value"
    if not value.strip(b" \t\r\n"):
        return "MalformedValue", "the value is empty"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "MalformedValue", "the value is not UTF-8"
    try:
        parsed = _parse(text)
    except (NotJsonError, ValueError, RecursionError):
        return "MalformedValue", "the value is not JSON: "
    if not isinstance(parsed, dict):
        return "WrongType", "the value is not a JSON object but "
    try:
        return _struct(parsed, schema, "")
    except MismatchError as wrong:
        return "WrongType", f"field `{wrong.label}`: expected {wrong.expected}, found "


def _parse(text: str) -> Any:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in found}) != len(found):
            raise NotJsonError
        return dict(found)

    def constant(_: str) -> None:
        raise NotJsonError

    def number(written: str) -> Number:
        if sum(map(str.isdigit, written)) > _DIGITS:
            raise NotJsonError
        return Number(written)

    return json.loads(
        text, object_pairs_hook=pairs, parse_constant=constant, parse_float=number, parse_int=number, strict=True
    )


def _struct(value: Mapping[str, Any], schema: StructType, label: str) -> dict[str, Any]:
    return {
        field.name: _read(value.get(field.name), field.dataType, f"{label}{field.name}", nullable=field.nullable)
        for field in schema
    }


def _read(value: Any, declared: DataType, label: str, *, nullable: bool = True) -> Any:
    if value is None:
        if nullable:
            return None
        raise MismatchError(label, "a value (NOT NULL)")
    read = _typed(value, declared, label)
    if read is None:
        raise MismatchError(label, declared.simpleString().partition("<")[0].upper())
    return read


def _typed(value: Any, declared: DataType, label: str) -> Any:
    """None where the value is of another type."""
    name = declared.typeName()
    match declared:
        case StructType():
            return _struct(value, declared, f"{label}.") if isinstance(value, dict) else None
        case ArrayType():
            return [_read(v, declared.elementType, f"{label}[]") for v in value] if _is_list(value) else None
        case MapType():
            if not isinstance(value, dict) or not all(map(_is_unicode, value)):
                return None
            return {key: _read(v, declared.valueType, f"{label}[]") for key, v in value.items()}
        case DecimalType():
            return _decimal(value, declared) if isinstance(value, Number) else None
    if name == "string":
        return value if isinstance(value, str) and _is_unicode(value) else None
    if name == "boolean":
        return value if isinstance(value, bool) else None
    if name in _INTEGERS:
        bound = 1 << _INTEGERS[name]
        whole = int(value.text) if isinstance(value, Number) and value.is_integer else None
        return whole if whole is not None and -bound <= whole < bound else None
    if name in ("double", "float"):
        return _float(value, name) if isinstance(value, Number) else None
    return _time(value, name) if isinstance(value, str) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _float(value: Number, name: str) -> float | None:
    read = float(value.text)
    # Half of the gap between the largest float and the power of two above it: from there on it rounds to infinity.
    largest = (2 - 2**-24) * 2.0**127
    return None if math.isinf(read) or (name == "float" and abs(read) >= largest) else read


def _decimal(value: Number, declared: DecimalType) -> Decimal | None:
    sign, digits, exponent = Decimal(value.text).as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits)).lstrip("0")
    significant = written.rstrip("0")
    if not significant:
        return Decimal(0)
    exponent += len(written) - len(significant)
    if -exponent > declared.scale or len(significant) + exponent > declared.precision - declared.scale:
        return None
    return (-1 if sign else 1) * Decimal(significant).scaleb(exponent)


def _time(value: str, name: str) -> dt.date | dt.datetime | None:
    found = _TIME.fullmatch(value)
    if not found:
        return None
    try:
        if not found[2]:
            day = dt.date.fromisoformat(value)
            return day if name == "date" else dt.datetime(day.year, day.month, day.day)  # noqa: DTZ001
        moment = dt.datetime.fromisoformat(value)
    except ValueError:
        return None
    if name == "date":
        return moment.date()
    if name == "timestamp_ntz":
        return moment.replace(tzinfo=None)
    return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
