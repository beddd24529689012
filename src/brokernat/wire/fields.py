"""Reads the types of Kafka's protocol that occur before and between endpoints.

https://kafka.apache.org/protocol#protocol_types. Lengths come from the peer: each is checked against the available
bytes before it is used.

Errors, by the side that sent the bytes::

    WireError
    ├── DownstreamProtocolError   the client sent it
    ├── UpstreamProtocolError     the broker sent it
    ├── OutdatedAnswerError       the client was told what the broker has meanwhile changed
    └── MessageError              a message is truncated or has an impossible length; a session adds the side
"""

from __future__ import annotations

import struct
from typing import Final

_I16: Final = struct.Struct(">h")
_I32: Final = struct.Struct(">i")
_LONGEST_VARINT: Final = 5


class WireError(Exception):
    """The connection must be closed; the text is for the log and contains no data of a client."""


class DownstreamProtocolError(WireError):
    """A client sent an invalid or refused request."""


class UpstreamProtocolError(WireError):
    """A broker sent an invalid response."""


class OutdatedAnswerError(WireError):
    """A broker contradicts the answer that its client has been given from memory."""


class MessageError(WireError):
    """A message cannot be parsed; `short` if more bytes may complete it."""

    def __init__(self, text: str, *, short: bool = False) -> None:
        super().__init__(text)
        self.short = short


class Cursor:
    """A position in a message; each call reads one value and advances.

    Raises MessageError if the message is too short (`short`) or a length is impossible.
    """

    __slots__ = ("at", "data")

    def __init__(self, data: bytes | bytearray | memoryview, at: int = 0) -> None:
        self.data = data
        self.at = at

    def skip(self, size: int) -> int:
        """Returns the start of the skipped bytes."""
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
        """A string, nullable or not, as bytes."""
        length = self.uvarint() - 1 if compact else self.i16()
        if length == -1:
            return None
        start = self.skip(length)
        return bytes(self.data[start : self.at])

    def blob(self) -> bytes:
        """Bytes with a length of four bytes; empty for null."""
        length = self.i32()
        start = self.skip(max(0, length))
        return bytes(self.data[start : self.at])

    def count(self, *, compact: bool) -> int:
        """The length of an array, -1 for null. Each element has at least one byte."""
        count = self.uvarint() - 1 if compact else self.i32()
        if count < -1 or count > len(self.data) - self.at:
            raise MessageError("an array with more elements than bytes")
        return count

    def tags(self) -> None:
        """Skips tagged fields (KIP-482)."""
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
