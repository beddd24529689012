"""Lines of a file or a pipe as records. `split_lines` and `LineEncoder` are pure; `Pipe` reads a pipe.

A line ends with a line feed; a carriage return before it belongs to the line end. A line longer than `MAX_LINE` bytes
becomes several records, cut between characters, that hold the number of their part: no line is shortened and none can
fill the memory. A line that is not UTF-8 is in one record twice: readable, with U+FFFD for what could not be read, and
exact, in base 64.

A record is larger than its line: a line feed alone becomes a record of two hundred bytes. So records are bounded and
not the bytes that are read, and the reader passes the rest again. `MAX_LINE` keeps a record below Kafka's default limit
of 1 MB in the worst case: six bytes of JSON for a control character, and base 64 beside it.

A pipe cannot be read twice: what was read and is not in the spool when the process is killed is lost, at most one read.
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
_LONGEST_CHARACTER: Final = 4


class LinePiece(NamedTuple):
    """A line, or a part of one."""

    data: bytes
    end: int
    """Where in the bytes that were given the next piece begins."""
    part: int = 0
    """Counts from 1; 0 is a whole line."""
    continued: bool = False
    """Whether more of the line follows."""


def split_lines(data: bytes, pieces: int = 0, *, final: bool = False) -> Iterator[LinePiece]:
    """Split off whole lines; what is behind the last piece needs more bytes.

    Args:
        data: from where the last piece ended.
        pieces: how many were cut off the line that `data` begins in.
        final: nothing will follow, so that the rest is a line too.
    """
    start = 0
    while start < len(data):
        line_feed = data.find(b"\n", start)
        end = len(data) if line_feed < 0 else line_feed
        while end - start > MAX_LINE:
            between = _between_characters(data, start + MAX_LINE)
            pieces += 1
            yield LinePiece(data[start:between], between, pieces, continued=True)
            start = between
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
    """Bytes that they were made of."""
    pieces: int = 0
    """How many were cut off the line that goes on behind these bytes."""


class LineEncoder:
    """Turns bytes into bodies, as `record.RecordEncoder` does records. The time is that of reading."""

    def __init__(self) -> None:
        self._host = encode_basestring(socket.gethostname())

    def encode(self, data: bytes, file: str, pieces: int = 0, *, final: bool = False) -> Encoded:
        """For each line `"time":…,"host":…,["file":…,]"message":…[,"base64":…][,"part":…,"continued":…]}`.

        Args:
            data, pieces, final: see `split_lines`; of `data` as much is used as goes into one block.
            file: where it was read, empty for a pipe.
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
    place = f',"part":{part},"continued":{"true" if continued else "false"}' if part else ""
    # A file name that is not UTF-8 has lone surrogates: their backslash escape is JSON's.
    return f"{start}{encode_basestring(text)}{exact}{place}}}".encode("utf-8", "backslashreplace")


def _between_characters(data: bytes, at: int) -> int:
    """The last place up to `at` that does not split a character of UTF-8; `at` where the bytes are not UTF-8."""
    for place in range(at, at - _LONGEST_CHARACTER, -1):
        if data[place] & 0xC0 != 0x80:
            return place
    return at


_READ = 64 << 10
_WAIT = 0.2


class Pipe:
    """`read` gives what is new; `ended` when the other side has closed and everything was given."""

    def __init__(self, descriptor: int) -> None:
        self.ended = False
        self._descriptor = descriptor
        self._closed = False
        self._rest = b""
        self._pieces = 0
        self._encoder = LineEncoder()

    def read(self) -> LineBatch:
        """Up to a block of records; waits for a moment where there is nothing."""
        batch = self._encode()
        if batch or self._closed:
            # What was read at once may be more than a block takes.
            self.ended = not batch
            return batch
        if not select.select([self._descriptor], [], [], _WAIT)[0]:
            return batch
        data = os.read(self._descriptor, _READ)
        self._rest += data
        self._closed = not data
        return self._encode()

    def rest(self) -> Iterator[LineBatch]:
        """What was read already and not given yet, a rest without a line feed too; nothing more is read."""
        self._closed = True
        while batch := self.read():
            yield batch

    def _encode(self) -> LineBatch:
        bodies, used, self._pieces = self._encoder.encode(self._rest, "", self._pieces, final=self._closed)
        self._rest = self._rest[used:]
        return LineBatch(bodies)
