"""Bytes of a file or a pipe to records: one for each line. Pure; knows nothing of files.

A line is what stands before a line feed; a carriage return in front of it belongs to the line end. A line longer than
`MAX_LINE` bytes becomes several records, cut between characters, that say which piece they are: no line is cut short
and none can fill the memory. A line that is not UTF-8 is shipped twice in one record: readable, with U+FFFD for what
could not be read, and exact, in base 64.

What is read grows: a line feed alone becomes a record of two hundred bytes. So it is the records that are bounded and
not the bytes read, and whoever reads gives the rest again.

`MAX_LINE` is chosen so that a record stays below Kafka's default limit of 1 MB at the worst: six bytes of JSON for a
control character, and base 64 beside it.
"""

from __future__ import annotations

import base64
import socket
import time
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Final, NamedTuple

from brokernat.shipping.block import BLOCK_BYTES, BLOCK_RECORDS

MAX_LINE: Final = 128 << 10
_LONGEST_CHARACTER: Final = 4


class Piece(NamedTuple):
    """A line, or a part of one."""

    data: bytes
    end: int
    """Where in the bytes that were given the next piece begins."""
    part: int = 0
    """Counts from 1; 0 is a whole line."""
    continued: bool = False
    """Whether more of the line follows."""


def cut(data: bytes, pieces: int = 0, *, final: bool = False) -> Iterator[Piece]:
    """Cut off what can be told; what stands behind the last piece needs more bytes.

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
            yield Piece(data[start:between], between, pieces, continued=True)
            start = between
        if line_feed < 0 and not final:
            return
        line = data[start:end].removesuffix(b"\r")
        start = end + (line_feed >= 0)
        yield Piece(line, start, pieces + 1 if pieces else 0)
        pieces = 0


class Encoded(NamedTuple):
    """Records for one block."""

    tails: list[bytes]
    used: int = 0
    """Bytes that they were made of."""
    pieces: int = 0
    """How many were cut off the line that goes on behind these bytes."""


class LineEncoder:
    """Turns bytes into tails, as `record.Encoder` does records. The time is that of reading."""

    def __init__(self) -> None:
        self._host = encode_basestring(socket.gethostname())

    def encode(self, data: bytes, file: str, pieces: int = 0, *, final: bool = False) -> Encoded:
        """For each line `"time":…,"host":…,["file":…,]"message":…[,"base64":…][,"part":…,"continued":…]}`.

        Args:
            data, pieces, final: see `cut`; of `data` as much is used as goes into one block.
            file: where it was read, empty for a pipe.
        """
        seconds, nanos = divmod(time.time_ns(), 1_000_000_000)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        of_file = f'"file":{encode_basestring(file)},' if file else ""
        start = f'"time":"{stamp}.{nanos // 1000:06d}Z","host":{self._host},{of_file}"message":'
        tails: list[bytes] = []
        used, room = 0, BLOCK_BYTES
        for piece in cut(data, pieces, final=final):
            tail = _encode(start, piece)
            room -= len(tail)
            if tails and (room < 0 or len(tails) == BLOCK_RECORDS):
                break
            tails.append(tail)
            used, pieces = piece.end, piece.part if piece.continued else 0
        return Encoded(tails, used, pieces)


def _encode(start: str, piece: Piece) -> bytes:
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
