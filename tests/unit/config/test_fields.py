import re
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from brokernat.config.fields import DataPath, Endpoints, FunctionName, Interval, Topic, in_words, seconds, size_in_bytes


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        (Topic, ["a", "A.b_c-1", "a" * 249], ["", ".", "..", "a b", "a" * 250, "\u00e9"]),
        (FunctionName, ["m:f", "a.b:f", "m\u00fc:f_1"], ["m", "m.f", ":f", "m:", "m:f:g", "1m:f", "m-x:f", "m:f.g"]),
        (
            Interval,
            ["1 second", "10 seconds", "500 milliseconds", "2 hours"],
            ["10", "10s", "0 seconds", "-1 minutes", "1 day"],
        ),
    ],
)
def test_shapes(field: Any, right: list[str], wrong: list[str]) -> None:
    adapter: TypeAdapter[str] = TypeAdapter(field)
    assert [adapter.validate_python(text) for text in right] == right
    for text in wrong:
        with pytest.raises(ValidationError):
            adapter.validate_python(text)


@pytest.mark.parametrize("value", ["gw:1, [::1]:2,", ["gw:1", "[::1]:2"]])
def test_endpoints_are_a_text_or_a_list(value: object) -> None:
    assert list(map(str, TypeAdapter(Endpoints).validate_python(value))) == ["gw:1", "[::1]:2"]


def test_paths_are_left_alone_without_a_folder() -> None:
    assert TypeAdapter(DataPath).validate_python("a/b") == "a/b"


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
