"""What is shown is what stands there; what would be obeyed is shown as something that stands there."""

import pytest

from brokernat.text import printable


@pytest.mark.parametrize("text", ["", "kafka-1.hq:9092", "[fd00::1]:9092", "bröker.例え", "a  b"])
def test_ordinary_text_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    "char",
    ["\0", "\n", "\x1b", "\x7f", "\x9b", "\u200b", "\u202e", "\u2028", "\u2066", "\ufeff", "\ud800", "\xa0", "\uffff"],
)
def test_what_controls_is_replaced(char: str) -> None:
    assert printable(f"a{char}b") == "a\ufffdb"
