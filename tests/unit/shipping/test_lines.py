from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokernat.shipping import lines
from brokernat.shipping.lines import MAX_LINE, LineEncoder, Piece, cut


def all_pieces(data: bytes, chunks: list[int], most: int) -> list[Piece]:
    """As a reader does it: bytes come in chunks, what was not taken is given again."""
    found: list[Piece] = []
    offset = pieces = 0
    for end in [*sorted(chunks), len(data)]:
        new, used, pieces = cut(data[offset : min(end, len(data))], pieces, final=end >= len(data))
        found += new
        offset += used
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
        pieces, _, _ = cut(text.encode(), final=True)
    assert "".join(piece.data.decode() for piece in pieces) == text
    if len(pieces) > 1:
        assert [piece.part for piece in pieces] == list(range(1, len(pieces) + 1))
        assert [piece.continued for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_a_line_that_is_not_whole_waits() -> None:
    assert cut(b"one\r\ntwo") == ([Piece(b"one")], 5, 0)
    assert cut(b"two", final=True) == ([Piece(b"two")], 3, 0)


@pytest.mark.parametrize(
    "data",
    [b"\x00" * MAX_LINE, b"\xff\x00" * (MAX_LINE // 2), random.Random(1).randbytes(MAX_LINE), b"a" * MAX_LINE],
    ids=["zeros", "not text", "noise", "letters"],
)
def test_any_piece_fits_into_a_message_of_kafka_by_default(data: bytes) -> None:
    (tail,) = LineEncoder().encode([Piece(data)], "/var/log/app.log")
    assert len(tail) < 1_000_000
    json.loads(b"{" + tail)


def test_bytes_that_are_not_utf8_are_shipped_readable_and_exact() -> None:
    binary, text = LineEncoder().encode([Piece(b"caf\xe9 \xe2\x82\xac"), Piece("café".encode())], "")
    found = json.loads(b"{" + binary)
    assert found["message"] == "caf\ufffd €"
    assert base64.b64decode(found["base64"]) == b"caf\xe9 \xe2\x82\xac"
    assert "base64" not in json.loads(b"{" + text)
