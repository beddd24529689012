"""Printable text for terminals, durations and sizes."""

import re

import pytest

from brokernat.text import in_words, inside_sentence, printable, seconds, size_in_bytes


@pytest.mark.parametrize("text", ["", "kafka-1.hq:9092", "[fd00::1]:9092", "bröker.例え", "a  b"])
def test_ordinary_text_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    "char",
    ["\0", "\n", "\x1b", "\x7f", "\x9b", "\u200b", "\u202e", "\u2028", "\u2066", "\ufeff", "\ud800", "\xa0", "\uffff"],
)
def test_what_controls_is_replaced(char: str) -> None:
    assert printable(f"a{char}b") == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "length"), [("1 second", 1), ("90 minutes", 5400), ("1 day", 86_400), ("2 weeks", 1_209_600)]
)
def test_text_to_seconds(text: str, length: int) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0.4, "0 seconds"),
        (1, "1 second"),
        (119, "1 minute"),
        (7200, "2 hours"),
        (200_000, "2 days"),
        (700_000, "1 week"),
    ],
)
def test_seconds_to_text(length: float, text: str) -> None:
    assert in_words(length) == text


@pytest.mark.parametrize(
    ("text", "size"), [("1048576", 1 << 20), ("512M", 1 << 29), ("2 GiB", 1 << 31), ("1.5gb", 3 << 29), ("1k", 1024)]
)
def test_text_to_bytes(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["?", "much", "1X", "M", "1e999", "nan"])
def test_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        size_in_bytes(text)


@pytest.mark.parametrize(
    ("text", "within"),
    [("Another node answers", "another node answers"), ("A port", "a port"), ("TLS fails", "TLS fails"), ("", "")],
)
def test_a_title_inside_a_sentence(text: str, within: str) -> None:
    assert inside_sentence(text) == within
