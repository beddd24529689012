import pytest

from brokernat.config.durations import in_words, seconds


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
