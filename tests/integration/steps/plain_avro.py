"""Avro's binary encoding, written to be read and not to be fast: one rule of the specification after the other.

Schemas are parsed JSON. Values are Python's: dict, list, str, bytes, int, float, bool, Decimal, None.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

_BITS = {"int": 32, "long": 64}
_FLOATS = {"float": "<f", "double": "<d"}


class MalformedError(Exception):
    """The bytes are not of the schema."""


class MismatchError(Exception):
    """A value is of the schema and does not fit into its column."""


def encode(schema: Any, value: Any) -> bytes:
    """A value that has the schema's type."""
    match schema:
        case list():
            branch = next(n for n, member in enumerate(schema) if (member == "null") == (value is None))
            return _varint(branch) + encode(schema[branch], value)
        case {"type": "record", "fields": fields}:
            return b"".join(encode(field["type"], value[field["name"]]) for field in fields)
        case {"type": "array", "items": items}:
            return _blocks([encode(items, each) for each in value])
        case {"type": "map", "values": values}:
            return _blocks([encode("string", key) + encode(values, each) for key, each in value.items()])
        case {"type": "enum", "symbols": symbols}:
            return _varint(symbols.index(value))
        case {"type": kind, "logicalType": "decimal", "scale": scale}:
            unscaled = int(value.scaleb(scale, Context(prec=60)))
            size = schema.get("size") or (unscaled.bit_length() // 8 + 1)
            return (b"" if kind == "fixed" else _varint(size)) + unscaled.to_bytes(size, "big", signed=True)
        case {"type": "fixed"}:
            return bytes(value)
        case {"type": inner}:
            return encode(inner, value)
        case "null":
            return b""
        case "boolean":
            return bytes([value])
        case "int" | "long":
            return _varint(value)
        case "float" | "double":
            return struct.pack(_FLOATS[schema], value)
    data = value.encode() if schema == "string" else value
    return _varint(len(data)) + bytes(data)


def _varint(number: int) -> bytes:
    left = (number << 1) ^ (number >> 63)
    left &= (1 << 64) - 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def _blocks(elements: list[bytes]) -> bytes:
    """One block for each half, the second with its length in bytes in front."""
    half = (len(elements) + 1) // 2
    first, second = elements[:half], b"".join(elements[half:])
    out = _varint(half) + b"".join(first) if first else b""
    if elements[half:]:
        out += _varint(half - len(elements)) + _varint(len(second)) + second
    return out + b"\0"


def decode(schema: Any, value: bytes | None) -> str | dict[str, Any]:
    """The kind of a fault, or the columns; the value was written with this schema."""
    if value is None:
        return "Tombstone"
    reader = _Reader(value)
    try:
        columns = reader.read(schema)
        if reader.place != len(value):
            raise MalformedError
    except MalformedError:
        return "MalformedValue"
    except MismatchError:
        return "WrongType"
    assert isinstance(columns, dict)
    return columns


@dataclass
class _Reader:
    data: bytes
    place: int = 0

    def read(self, schema: Any) -> Any:
        match schema:
            case list():
                return self.read(self.member(schema))
            case {"type": "record", "fields": fields}:
                return {field["name"]: self.read(field["type"]) for field in fields}
            case {"type": "array", "items": items}:
                return [self.read(items) for _ in self.elements()]
            case {"type": "map", "values": values}:
                return self.map(values)
            case {"type": "enum", "symbols": symbols}:
                return self.member(symbols)
            case {"type": "fixed" | "bytes", "logicalType": "decimal"}:
                return self.decimal(schema)
            case {"type": "fixed", "size": size}:
                return self.take(size)
            case {"type": inner}:
                return self.read(inner)
        return self.primitive(schema)

    def primitive(self, schema: str) -> Any:
        match schema:
            case "null":
                return None
            case "boolean":
                (byte,) = self.take(1)
                if byte > 1:
                    raise MalformedError
                return byte == 1
            case "int" | "long":
                return self.number(_BITS[schema])
            case "float" | "double":
                return struct.unpack(_FLOATS[schema], self.take(struct.calcsize(_FLOATS[schema])))[0]
        data = self.take(self.number())
        try:
            return data.decode() if schema == "string" else data
        except UnicodeDecodeError:
            raise MismatchError from None

    def take(self, length: int) -> bytes:
        if not 0 <= length <= len(self.data) - self.place:
            raise MalformedError
        self.place += length
        return self.data[self.place - length : self.place]

    def number(self, bits: int = 64) -> int:
        found = 0
        for shift in range(0, 64, 7):
            (byte,) = self.take(1)
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            raise MalformedError
        found &= (1 << 64) - 1
        number = (found >> 1) ^ -(found & 1)
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise MalformedError
        return number

    def member(self, members: list[Any]) -> Any:
        number = self.number(32)
        if not 0 <= number < len(members):
            raise MalformedError
        return members[number]

    def elements(self) -> Any:
        """Once for each element."""
        while count := self.number():
            if count < 0:
                count = -count
                self.number()
            if count > len(self.data) - self.place:
                raise MalformedError
            for _ in range(count):
                yield

    def map(self, values: Any) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for _ in self.elements():
            key = self.read("string")
            if key in found:
                raise MismatchError
            found[key] = self.read(values)
        return found

    def decimal(self, schema: Mapping[str, Any]) -> Decimal:
        digits = self.take(schema["size"]) if schema["type"] == "fixed" else self.read("bytes")
        unscaled = int.from_bytes(digits, "big", signed=True)
        if not digits or len(str(abs(unscaled))) > schema["precision"]:
            raise MismatchError
        return Decimal(unscaled).scaleb(-schema["scale"], Context(prec=60))
