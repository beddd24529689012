"""Verifies the lengths in an answer against the received bytes before anything is allocated; pure.

kio allocates as many elements as an array declares, and an untrusted peer may declare two thousand million. So this
module first walks the answer with the same schema and allocates nothing: every length must fit into the remaining
bytes, and an element takes at least the size of its fixed parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin

from kio.serial.errors import BufferUnderflow, DecodeError
from kio.serial.readers import (
    read_compact_array_length,
    read_int16,
    read_int32,
    read_legacy_array_length,
    read_unsigned_varint,
)
from kio.static.protocol import Entity

Walker = Callable[[bytes, int], int]

_FIXED = {
    **dict.fromkeys(("int8", "uint8", "bool"), 1),
    **dict.fromkeys(("int16", "uint16", "error_code"), 2),
    **dict.fromkeys(("int32", "uint32", "timedelta_i32"), 4),
    **dict.fromkeys(("int64", "float64", "timedelta_i64", "datetime_i64"), 8),
    "uuid": 16,
}
_LENGTHS = {"string": (read_int16, 2), "bytes": (read_int32, 4)}


def require_whole(answer: type[Entity], data: bytes, offset: int = 0) -> None:
    """Walk through an answer.

    Raises:
        BufferUnderflow: a length is more than the remaining bytes.
        DecodeError: bytes remain after its end.
    """
    try:
        end = _entity(answer)[0](data, offset)
    except ValueError:
        raise BufferUnderflow("a length that does not end") from None
    if end != len(data):
        raise DecodeError(f"{len(data)} bytes came and the answer ends after {end}")


@cache
def _entity(entity: type[Any]) -> tuple[Walker, int]:
    """The walker over an entity, and the fewest bytes of one."""
    flexible = bool(entity.__flexible__)
    steps: list[Walker] = []
    smallest = int(flexible)
    for field in fields(entity):
        if "tag" in field.metadata:
            continue
        walker, size = _field(field.type, field.metadata.get("kafka_type"), flexible)
        steps.append(walker)
        smallest += size
    if flexible:
        steps.append(_tags)

    def walk(data: bytes, at: int) -> int:
        for step in steps:
            at = step(data, at)
        return at

    return walk, smallest


def _field(kind: Any, name: str | None, flexible: bool) -> tuple[Walker, int]:
    inner = [each for each in get_args(kind) if each not in (NoneType, Ellipsis)]
    if get_origin(kind) is tuple:
        return _array(_field(inner[0], name, flexible), flexible), 1 if flexible else 4
    if inner:
        return _field(inner[0], name, flexible)
    if name is None:
        return _entity(kind)
    if name in _FIXED:
        size = _FIXED[name]
        return (lambda data, at: _within(data, at + size)), size
    if name not in _LENGTHS:
        raise NotImplementedError(f"a field of {name}")
    read, size = (read_unsigned_varint, 1) if flexible else _LENGTHS[name]

    def walk(data: bytes, at: int) -> int:
        length, prefix = read(data, at)
        # Compact lengths are one more, so that 0 is null; without, -1 is null.
        return _within(data, at + prefix + max(0, length - flexible))

    return walk, size


def _array(element: tuple[Walker, int], flexible: bool) -> Walker:
    step, smallest = element
    read = read_compact_array_length if flexible else read_legacy_array_length

    def walk(data: bytes, at: int) -> int:
        length, size = read(data, at)
        count, at = max(0, length or 0), at + size
        _within(data, at + count * max(1, smallest))
        for _ in range(count):
            at = step(data, at)
        return at

    return walk


def _tags(data: bytes, at: int) -> int:
    count, size = read_unsigned_varint(data, at)
    at += size
    for _ in range(count):
        at += read_unsigned_varint(data, at)[1]
        length, size = read_unsigned_varint(data, at)
        at = _within(data, at + size + length)
    return at


def _within(data: bytes, at: int) -> int:
    if at > len(data):
        raise BufferUnderflow(f"{at} bytes are announced and {len(data)} came")
    return at
