"""Lines of a file or a pipe as records. `split_lines` and `LineEncoder` are pure; `Pipe` reads a pipe.

A line ends with a line feed; a carriage return before it belongs to the line end. A line longer than `MAX_LINE` bytes
becomes several records with part numbers, split between characters: no line is truncated, and the memory is bounded.
The record of a line that is not UTF-8 contains it twice: as text, with U+FFFD for invalid bytes, and exactly, in
base64.

A record is larger than its line: an empty line becomes a record of two hundred bytes. So the limit of a block applies
to records, not to the bytes read, and the reader passes the rest again. `MAX_LINE` keeps a record below Kafka's default
limit of 1 MB in the worst case: six bytes of JSON for each control character, and base64 in addition.

A pipe cannot be read twice: a kill loses the bytes that were read and are not in the spool, at most one read.
"""

from __future__ import annotations

import base64
import os
import select
import socket
import time
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Final, NamedTuple

from brokernat.shipping.block import BLOCK_BYTES, BLOCK_RECORDS
from brokernat.shipping.positions import LineBatch

MAX_LINE: Final = 128 << 10
_UTF8_MAX_BYTES: Final = 4


class LinePiece(NamedTuple):
    """A line, or a part of one."""

    data: bytes
    end: int
    """The offset of the next piece in the given bytes."""
    part: int = 0
    """Counts from 1; 0 for a whole line."""
    continued: bool = False
    """Whether another part follows."""


def split_lines(data: bytes, pieces: int = 0, *, final: bool = False) -> Iterator[LinePiece]:
    """Split into whole lines; the bytes after the last piece are an incomplete line.

    Args:
        data: the bytes after the last piece.
        pieces: the number of pieces already taken from the first line of `data`.
        final: whether no bytes follow, so that the rest is a line, too.
    """
    start = 0
    while start < len(data):
        line_feed = data.find(b"\n", start)
        end = len(data) if line_feed < 0 else line_feed
        while end - start > MAX_LINE:
            boundary = _character_boundary(data, start + MAX_LINE)
            pieces += 1
            yield LinePiece(data[start:boundary], boundary, pieces, continued=True)
            start = boundary
        if line_feed < 0 and not final:
            return
        line = data[start:end].removesuffix(b"\r")
        start = end + (line_feed >= 0)
        yield LinePiece(line, start, pieces + 1 if pieces else 0)
        pieces = 0


class Encoded(NamedTuple):
    """Records for one block."""

    bodies: list[bytes]
    used: int = 0
    """The number of bytes used for the records."""
    pieces: int = 0
    """The number of pieces taken from the line that continues after these bytes."""


class LineEncoder:
    """Converts bytes to record bodies, as `record.RecordEncoder` converts log records. The time is that of reading."""

    def __init__(self) -> None:
        self._host = encode_basestring(socket.gethostname())

    def encode(self, data: bytes, file: str, pieces: int = 0, *, final: bool = False) -> Encoded:
        """For each line `"time":…,"host":…,["file":…,]"message":…[,"base64":…][,"part":…,"continued":…]}`.

        Args:
            data, pieces, final: see `split_lines`; uses as much of `data` as fits into one block.
            file: the source file, empty for a pipe.
        """
        seconds, nanos = divmod(time.time_ns(), 1_000_000_000)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        of_file = f'"file":{encode_basestring(file)},' if file else ""
        start = f'"time":"{stamp}.{nanos // 1000:06d}Z","host":{self._host},{of_file}"message":'
        bodies: list[bytes] = []
        used, room = 0, BLOCK_BYTES
        for piece in split_lines(data, pieces, final=final):
            body = _encode(start, piece)
            room -= len(body)
            if bodies and (room < 0 or len(bodies) == BLOCK_RECORDS):
                break
            bodies.append(body)
            used, pieces = piece.end, piece.part if piece.continued else 0
        return Encoded(bodies, used, pieces)


def _encode(start: str, piece: LinePiece) -> bytes:
    data, _, part, continued = piece
    try:
        text, exact = data.decode(), ""
    except UnicodeDecodeError:
        text, exact = data.decode(errors="replace"), f',"base64":"{base64.b64encode(data).decode()}"'
    part_fields = f',"part":{part},"continued":{"true" if continued else "false"}' if part else ""
    # A file name that is not UTF-8 has lone surrogates; their backslash escape is valid JSON.
    return f"{start}{encode_basestring(text)}{exact}{part_fields}}}".encode("utf-8", "backslashreplace")


def _character_boundary(data: bytes, at: int) -> int:
    """The last offset up to `at` that does not split a UTF-8 character; `at` if the bytes are not UTF-8."""
    for offset in range(at, at - _UTF8_MAX_BYTES, -1):
        if data[offset] & 0xC0 != 0x80:
            return offset
    return at


_READ_BYTES = 64 << 10
_WAIT_SECONDS = 0.2


class Pipe:
    """`read` returns new lines; `ended` is set when the writer has closed the pipe and all lines were returned."""

    def __init__(self, descriptor: int) -> None:
        self.ended = False
        self._descriptor = descriptor
        self._closed = False
        self._buffer = b""
        self._pieces = 0
        self._encoder = LineEncoder()

    def read(self) -> LineBatch:
        """Up to a block of records; waits briefly if there are none."""
        batch = self._encode()
        if batch or self._closed:
            # One read may contain more than a block.
            self.ended = not batch
            return batch
        if not select.select([self._descriptor], [], [], _WAIT_SECONDS)[0]:
            return batch
        data = os.read(self._descriptor, _READ_BYTES)
        self._buffer += data
        self._closed = not data
        return self._encode()

    def rest(self) -> Iterator[LineBatch]:
        """The lines already read but not yet returned, including a last one without a line feed; reads nothing more."""
        self._closed = True
        while batch := self.read():
            yield batch

    def _encode(self) -> LineBatch:
        bodies, used, self._pieces = self._encoder.encode(self._buffer, "", self._pieces, final=self._closed)
        self._buffer = self._buffer[used:]
        return LineBatch(bodies)
