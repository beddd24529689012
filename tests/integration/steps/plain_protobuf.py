"""Protobuf's encoding, written to be read and not to be fast: one rule of the specification after the other.

Schemas are those of `tests/support/protobuf_schemas.py`. Values are Python's as Spark's rows have them: dict, list,
str, bytes, int, float, bool, None; Decimal for 64 bits without a sign, datetime and timedelta.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_FLOATS = {"float": "<f", "double": "<d"}
_FIXED = {"fixed32": "<I", "sfixed32": "<i", "fixed64": "<Q", "sfixed64": "<q"} | _FLOATS
_RANGES = {
    "int32": (-(1 << 31), 1 << 31), "sint32": (-(1 << 31), 1 << 31), "uint32": (0, 1 << 32),
    "int64": (-(1 << 63), 1 << 63), "sint64": (-(1 << 63), 1 << 63), "uint64": (0, 1 << 64),
}  # fmt: skip
_MOMENT = {"seconds": "int64", "nanos": "int32"}
_WRAPPED = {
    "google.protobuf.StringValue": "string",
    "google.protobuf.UInt64Value": "uint64",
}
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - rows have no zone
_VARINT, _FIXED64, _DELIMITED, _GROUP, _END, _FIXED32 = range(6)

Schema = Mapping[str, Any]
Value = dict[str, Any]


class MalformedError(Exception):
    """The bytes are not of the schema."""


class MismatchError(Exception):
    """A value is of the schema and does not fit into its column."""


def encode(schema: Schema, value: Value) -> bytes:
    """A value of the schema's message."""
    return _Types(schema).message(schema["message"], value)


def decode(schema: Schema, value: bytes | None) -> str | Value:
    """The kind of a fault, or the columns; the value was written with this schema."""
    if value is None:
        return "Tombstone"
    types = _Types(schema)
    try:
        columns: Value = types.finished(schema["message"], types.read(schema["message"], _Reader(value), {}))
    except MalformedError:
        return "MalformedValue"
    except MismatchError:
        return "WrongType"
    return columns


def varint(number: int) -> bytes:
    """A number below zero has ten bytes."""
    left = number & ((1 << 64) - 1)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def zigzag(number: int) -> bytes:
    """A number with its sign in the last bit."""
    return varint((number << 1) ^ (number >> 63))


@dataclass
class _Types:
    schema: Schema

    def fields(self, message: str) -> list[Mapping[str, Any]]:
        if message in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
            parts: Any = enumerate(_MOMENT.items(), 1)
            return [{"name": name, "number": n, "label": "implicit", "type": kind} for n, (name, kind) in parts]
        if message in _WRAPPED:
            return [{"name": "value", "number": 1, "label": "implicit", "type": _WRAPPED[message]}]
        fields: list[Mapping[str, Any]] = self.schema["messages"][message]
        return fields

    def is_message(self, kind: str) -> bool:
        return kind in self.schema["messages"] or kind.startswith("google.")

    def wire(self, kind: str) -> int:
        if kind in _FIXED:
            return _FIXED64 if struct.calcsize(_FIXED[kind]) == 8 else _FIXED32
        return _DELIMITED if kind in ("string", "bytes") or self.is_message(kind) else _VARINT

    # Writing.

    def message(self, name: str, value: Any) -> bytes:
        if name.endswith("Timestamp"):
            micros = (value - _EPOCH) // dt.timedelta(microseconds=1)
            value = {"seconds": micros // 10**6, "nanos": micros % 10**6 * 1000}
        elif name.endswith("Duration"):
            seconds = int(value / dt.timedelta(seconds=1))
            nanos = (value - dt.timedelta(seconds=seconds)) // dt.timedelta(microseconds=1) * 1000
            value = {"seconds": seconds, "nanos": nanos}
        elif name in _WRAPPED:
            value = {"value": value}
        return b"".join(self.field(field, value.get(field["name"])) for field in self.fields(name))

    def field(self, field: Mapping[str, Any], value: Any) -> bytes:
        if value is None:
            return b""
        kind = field["type"]
        if field["label"] == "map":
            pairs = ({"number": 1, "label": "", "type": field["key"]}, {"number": 2, "label": "", "type": kind})
            entries = [b"".join(map(self.field, pairs, pair)) for pair in value.items()]
            return b"".join(self.tag(field, _DELIMITED) + varint(len(each)) + each for each in entries)
        if field["label"] == "repeated":
            # Half of the numbers packed, the others not.
            half = 0 if self.wire(kind) == _DELIMITED else len(value) // 2
            packed = b"".join(self.scalar(kind, each) for each in value[:half])
            single = (self.tag(field, self.wire(kind)) + self.scalar(kind, each) for each in value[half:])
            return (self.tag(field, _DELIMITED) + varint(len(packed)) + packed if packed else b"") + b"".join(single)
        return self.tag(field, self.wire(kind)) + self.scalar(kind, value)

    def tag(self, field: Mapping[str, Any], wire: int) -> bytes:
        return varint(field["number"] << 3 | wire)

    def scalar(self, kind: str, value: Any) -> bytes:
        if kind in _FIXED:
            return struct.pack(_FIXED[kind], value if kind in _FLOATS else int(value))
        if kind in self.schema["enums"]:
            return varint(self.schema["enums"][kind][value])
        if self.wire(kind) == _DELIMITED:
            data = self.message(kind, value) if self.is_message(kind) else value
            data = data.encode() if isinstance(data, str) else data
            return varint(len(data)) + data
        return zigzag(value) if kind in ("sint32", "sint64") else varint(int(value))

    # Reading.

    def read(self, message: str, reader: _Reader, row: Value) -> Value:
        by_number = {field["number"]: field for field in self.fields(message)}
        for number, wire in reader.tags():
            field = by_number.get(number)
            if field is None:
                reader.skip(number, wire)
                continue
            name = field["name"]
            row[name] = self.read_field(field, wire, reader, row.get(name))
            for other in by_number.values():
                if other is not field and field.get("oneof") and other.get("oneof") == field["oneof"]:
                    row.pop(other["name"], None)
        return row

    def read_field(self, field: Mapping[str, Any], wire: int, reader: _Reader, before: Any) -> Any:
        kind = field["type"]
        match field["label"]:
            case "map":
                self.check(wire, _DELIMITED)
                return (before or {}) | self.entry(field, _Reader(reader.delimited()))
            case "repeated" if wire == _DELIMITED != self.wire(kind):
                packed = _Reader(reader.delimited())
                found = before or []
                while packed.data:
                    found.append(self.value(kind, packed, None))
                return found
            case "repeated":
                self.check(wire, self.wire(kind))
                return [*(before or []), self.finished(kind, self.value(kind, reader, None))]
        self.check(wire, self.wire(kind))
        return self.value(kind, reader, before)

    def check(self, found: int, expected: int) -> None:
        if found != expected:
            raise MalformedError

    def entry(self, field: Mapping[str, Any], reader: _Reader) -> Value:
        kinds = {1: field["key"], 2: field["type"]}
        found: dict[int, Any] = {}
        for number, wire in reader.tags():
            if number not in kinds:
                reader.skip(number, wire)
                continue
            self.check(wire, self.wire(kinds[number]))
            found[number] = self.value(kinds[number], reader, found.get(number) if number == 2 else None)
        key, value = (
            self.finished(kind, found[number]) if number in found else self.zero(kind) for number, kind in kinds.items()
        )
        return {key: value}

    def value(self, kind: str, reader: _Reader, before: Any) -> Any:
        if self.is_message(kind):
            return self.read(kind, _Reader(reader.delimited()), before or {})
        if kind in _FIXED:
            return struct.unpack(_FIXED[kind], reader.take(struct.calcsize(_FIXED[kind])))[0]
        if kind in ("string", "bytes"):
            data = reader.delimited()
            try:
                return data.decode() if kind == "string" else data
            except UnicodeDecodeError:
                raise MismatchError from None
        return self.number(kind, reader.varint())

    def number(self, kind: str, number: int) -> Any:
        if kind in self.schema["enums"]:
            cut = number & 0xFFFFFFFF
            symbols = self.schema["enums"][kind].items()
            return next((name for name, value in symbols if value & 0xFFFFFFFF == cut), None) or self.mismatch()
        if kind == "bool":
            return bool(number) if number < 2 else self.mismatch()
        if kind in ("sint32", "sint64"):
            number = (number >> 1) ^ -(number & 1)
        elif kind in ("int32", "int64", "uint32") and number >> 63:
            number -= 1 << 64
        least, most = _RANGES[kind]
        return number if least <= number < most else self.mismatch()

    def mismatch(self) -> Any:
        raise MismatchError

    def zero(self, kind: str) -> Any:
        if self.is_message(kind):
            return self.finished(kind, {})
        if kind in self.schema["enums"]:
            return next(iter(self.schema["enums"][kind]))
        zeros = {"string": "", "bytes": b"", "bool": False, "float": 0.0, "double": 0.0}
        return self.finished(kind, zeros.get(kind, 0))

    def finished(self, kind: str, found: Any) -> Any:
        """What was read as the column has it."""
        if kind in ("uint64", "fixed64"):
            return Decimal(found)
        if not self.is_message(kind):
            return found
        row = {field["name"]: self.column(field, found.get(field["name"])) for field in self.fields(kind)}
        if kind in _WRAPPED:
            return row["value"]
        if not kind.startswith("google."):
            return row
        seconds, nanos = row["seconds"], row["nanos"]
        if kind.endswith("Timestamp"):
            if not -62135596800 <= seconds <= 253402300799 or not 0 <= nanos < 10**9:
                raise MismatchError
            return _EPOCH + dt.timedelta(seconds=seconds, microseconds=nanos // 1000)
        if abs(seconds) > 315576000000 or abs(nanos) >= 10**9 or seconds * nanos < 0:
            raise MismatchError
        return dt.timedelta(seconds=seconds, microseconds=int(nanos / 1000))

    def column(self, field: Mapping[str, Any], found: Any) -> Any:
        match field["label"]:
            case "map":
                return found or {}
            case "repeated":
                return [self.finished(field["type"], each) if isinstance(each, int) else each for each in found or []]
            case "required" if found is None:
                raise MismatchError
            case "implicit" if found is None:
                return self.zero(field["type"])
        return None if found is None else self.finished(field["type"], found)


@dataclass
class _Reader:
    data: bytes

    def take(self, length: int) -> bytes:
        if length > len(self.data):
            raise MalformedError
        taken, self.data = self.data[:length], self.data[length:]
        return taken

    def varint(self) -> int:
        found = 0
        for shift in range(0, 64, 7):
            (byte,) = self.take(1)
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found & ((1 << 64) - 1)
        raise MalformedError

    def delimited(self) -> bytes:
        return self.take(self.varint())

    def tags(self) -> Iterator[tuple[int, int]]:
        while self.data:
            tag = self.varint()
            if tag >> 32 or not tag >> 3:
                raise MalformedError
            yield tag >> 3, tag & 7

    def skip(self, number: int, wire: int, depth: int = 1) -> None:
        match wire:
            case 0:
                self.varint()
            case 1 | 5:
                self.take(8 if wire == _FIXED64 else 4)
            case 2:
                self.delimited()
            case 3 if depth <= 100:
                for inner, inner_wire in self.tags():
                    if inner_wire == _END:
                        if inner != number:
                            raise MalformedError
                        return
                    self.skip(inner, inner_wire, depth + 1)
                raise MalformedError
            case _:
                raise MalformedError
