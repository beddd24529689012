"""Kafka's primitive types in the old (not flexible) encoding: what brokers from 2.4 to 4.4 have in common."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def int8(value: int) -> bytes:
    return struct.pack(">b", value)


def int16(value: int) -> bytes:
    return struct.pack(">h", value)


def int32(value: int) -> bytes:
    return struct.pack(">i", value)


def int64(value: int) -> bytes:
    return struct.pack(">q", value)


def string(value: str | None) -> bytes:
    if value is None:
        return int16(-1)
    data = value.encode()
    return int16(len(data)) + data


def sized(value: bytes) -> bytes:
    """Bytes behind their length."""
    return int32(len(value)) + value


def array(elements: Iterable[bytes]) -> bytes:
    """Encoded elements behind their count."""
    items = list(elements)
    return int32(len(items)) + b"".join(items)


def varint(value: int) -> bytes:
    """Zigzag, seven bits a byte: lengths and deltas in a record."""
    left = (value << 1) ^ (value >> 63)
    out = bytearray()
    while left & ~0x7F:
        out.append((left & 0x7F) | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


class Reader:
    """Walks over an answer."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self.position = position

    def left(self) -> int:
        return len(self._data) - self.position

    def raw(self, length: int) -> bytes:
        start, self.position = self.position, self.position + length
        if length < 0 or self.position > len(self._data):
            raise ValueError(f"an answer of {len(self._data)} bytes ends before {self.position}")
        return self._data[start : self.position]

    def int8(self) -> int:
        return self._number(">b", 1)

    def int16(self) -> int:
        return self._number(">h", 2)

    def int32(self) -> int:
        return self._number(">i", 4)

    def int64(self) -> int:
        return self._number(">q", 8)

    def string(self) -> str | None:
        length = self.int16()
        return None if length < 0 else self.raw(length).decode()

    def name(self) -> str:
        """A string that is never null."""
        return self.string() or ""

    def sized(self) -> bytes:
        """Bytes behind their length; null is empty."""
        length = self.int32()
        return b"" if length < 0 else self.raw(length)

    def array(self, each: Callable[[Reader], T]) -> list[T]:
        """The elements; null is empty."""
        return [each(self) for _ in range(max(0, self.int32()))]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def _number(self, layout: str, size: int) -> int:
        return int(struct.unpack(layout, self.raw(size))[0])
