from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokernat.shipping import lines
from brokernat.shipping.block import Block
from brokernat.shipping.lines import MAX_LINE, LineEncoder, LinePiece, split_lines
from brokernat.shipping.spool import SMALLEST_LIMIT


def all_pieces(data: bytes, chunks: list[int], most: int) -> list[LinePiece]:
    """As a reader does it: bytes come in chunks, what was not taken is given again."""
    found: list[LinePiece] = []
    offset = pieces = 0
    for end in [*sorted(chunks), len(data)]:
        new = list(split_lines(data[offset : min(end, len(data))], pieces, final=end >= len(data)))
        found += new
        if new:
            offset += new[-1].end
            pieces = new[-1].part if new[-1].continued else 0
    assert offset == len(data)
    assert all(len(piece.data) <= most for piece in found)
    return found


@given(st.binary(max_size=80), st.lists(st.integers(0, 80)))
def test_no_byte_is_lost_however_they_come(data: bytes, chunks: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "MAX_LINE", 8)
        found = all_pieces(data.replace(b"\r", b"r"), chunks, 8)
    joined = b"".join(piece.data + (b"" if piece.continued else b"\n") for piece in found)
    wanted = data.replace(b"\r", b"r")
    assert joined == wanted + (b"" if wanted.endswith(b"\n") or not wanted else b"\n")


@given(st.text(alphabet="aé€😀", max_size=60))
def test_long_lines_are_cut_between_characters(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "MAX_LINE", 8)
        pieces = list(split_lines(text.encode(), final=True))
    assert "".join(piece.data.decode() for piece in pieces) == text
    if len(pieces) > 1:
        assert [piece.part for piece in pieces] == list(range(1, len(pieces) + 1))
        assert [piece.continued for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_a_line_that_is_not_whole_waits() -> None:
    assert list(split_lines(b"one\r\ntwo")) == [LinePiece(b"one", 5)]
    assert list(split_lines(b"two", final=True)) == [LinePiece(b"two", 3)]


def test_after_the_last_part_of_a_long_line_a_whole_line_may_follow_at_any_time() -> None:
    encoder, line = LineEncoder(), b"x" * (MAX_LINE + 1)
    begun = encoder.encode(line, "")
    ended = encoder.encode(line[begun.used :] + b"\n", "", begun.pieces)
    next_one = encoder.encode(b"whole\n", "", ended.pieces)
    found = [json.loads(b"{" + body) for each in (begun, ended, next_one) for body in each.bodies]
    assert [(record.get("part"), record.get("continued")) for record in found] == [(1, True), (2, False), (None, None)]


@pytest.mark.parametrize(
    "data",
    [b"\n" * 70_000, b"0123456789\n" * 50_000, b"\x00\xff" * (1 << 20), b"\x01" * (MAX_LINE - 1) + b"\xff\n"],
    ids=["line ends", "short lines", "garbage", "at worst"],
)
def test_what_goes_into_one_block_fits_into_the_smallest_spool_whatever_it_is(data: bytes) -> None:
    """Else it would wait for ever for room that can never be."""
    encoder, left, pieces, records = LineEncoder(), data, 0, 0
    while left:
        bodies, used, pieces = encoder.encode(left, "/var/log/" + "long/" * 20, pieces, final=True)
        assert Block.stamped(1, "h" * 64 + "." + "0" * 16, 1 << 60, bodies).size <= SMALLEST_LIMIT
        left, records = left[used:], records + len(bodies)
    assert records >= data.count(b"\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * MAX_LINE,
        b"\xff\x00" * (MAX_LINE // 2),
        random.Random(1).randbytes(MAX_LINE).replace(b"\n", b"\xff"),
        b"a" * MAX_LINE,
    ],
    ids=["zeros", "not text", "noise", "letters"],
)
def test_any_piece_fits_into_a_message_of_kafka_by_default(data: bytes) -> None:
    (body,) = LineEncoder().encode(data, "/var/log/app.log", final=True).bodies
    assert len(body) < 1_000_000
    json.loads(b"{" + body)


def test_bytes_that_are_not_utf8_are_shipped_readable_and_exact() -> None:
    binary, text = LineEncoder().encode(b"caf\xe9 \xe2\x82\xac\ncaf\xc3\xa9\n", "").bodies
    found = json.loads(b"{" + binary)
    assert found["message"] == "caf\ufffd €"
    assert base64.b64decode(found["base64"]) == b"caf\xe9 \xe2\x82\xac"
    assert "base64" not in json.loads(b"{" + text)
