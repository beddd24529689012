"""The few types of Kafka's protocol that lie before and between endpoints, read from a position on.

https://kafka.apache.org/protocol#protocol_types. Lengths come from a peer: each is held against the bytes that are
there before anything is taken.
"""

from __future__ import annotations

import struct
from typing import Final

from brokernat.wire.errors import MessageError

_I16: Final = struct.Struct(">h")
_I32: Final = struct.Struct(">i")
_LONGEST_VARINT: Final = 5


class Cursor:
    """A position in a message; each call reads one value and moves behind it.

    Raises MessageError where the message is too short (`short`) or a length cannot be.
    """

    __slots__ = ("at", "data")

    def __init__(self, data: bytes | bytearray | memoryview, at: int = 0) -> None:
        self.data = data
        self.at = at

    def skip(self, size: int) -> int:
        """Returns where the skipped bytes begin."""
        start = self.at
        if size < 0:
            raise MessageError("a negative length")
        if start + size > len(self.data):
            raise MessageError("the message is too short", short=True)
        self.at = start + size
        return start

    def i8(self) -> int:
        return self.data[self.skip(1)]

    def i16(self) -> int:
        start = self.skip(2)
        value: int = _I16.unpack_from(self.data, start)[0]
        return value

    def i32(self) -> int:
        start = self.skip(4)
        value: int = _I32.unpack_from(self.data, start)[0]
        return value

    def uvarint(self) -> int:
        value = 0
        for step in range(_LONGEST_VARINT):
            byte = self.i8()
            value |= (byte & 0x7F) << (7 * step)
            if byte < 0x80:
                return value
        raise MessageError("a varint of more than five bytes")

    def text(self, *, compact: bool) -> bytes | None:
        """A string, nullable or not, as the bytes that it is."""
        length = self.uvarint() - 1 if compact else self.i16()
        if length == -1:
            return None
        start = self.skip(length)
        return bytes(self.data[start : self.at])

    def blob(self) -> bytes:
        """Bytes behind a length of four bytes; none for null."""
        length = self.i32()
        start = self.skip(max(0, length))
        return bytes(self.data[start : self.at])

    def count(self, *, compact: bool) -> int:
        """The length of an array, -1 for a null one. Each element takes a byte or more."""
        count = self.uvarint() - 1 if compact else self.i32()
        if count < -1 or count > len(self.data) - self.at:
            raise MessageError("an array with more elements than bytes")
        return count

    def tags(self) -> None:
        """Tagged fields (KIP-482), passed over."""
        for _ in range(self.uvarint()):
            self.uvarint()
            self.skip(self.uvarint())


def put_uvarint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    return bytes((value & 0x7F | 0x80,)) + put_uvarint(value >> 7)


def put_text(value: bytes, *, compact: bool) -> bytes:
    return (put_uvarint(len(value) + 1) if compact else _I16.pack(len(value))) + value


def put_count(count: int, *, compact: bool) -> bytes:
    return put_uvarint(count + 1) if compact else _I32.pack(count)
