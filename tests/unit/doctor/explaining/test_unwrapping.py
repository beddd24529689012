"""What stands between a client's words and the log is taken off."""

import json

import pytest

from brokernat.doctor.explaining.unwrapping import unwrapped


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("", [""]),
        ("plain\n", ["plain"]),
        ("\x1b[2m18:00\x1b[0;39m \x1b[1;38;5;196mWARN\x1b[m x\n", ["18:00 WARN x"]),
        ("\x1b]0;title\x07x\x1b(B", ["x"]),
        ("app[1]: a#012#011at b#012Caused by: c", ["app[1]: a", "\tat b", "Caused by: c"]),
        (r"C:\new\table", [r"C:\new\table"]),
        (r'stdout F {"message":"a\tb","x":"c\r\n\td"}', ['stdout F {"message":"a\tb","x":"c', "", '\td"}']),
        (r'{"log":"\u001b[31mred\u001b[0m \u003cx\u003e\n"', ['{"log":"red <x>', '"']),
        ('{"log":"cut in the mid\\', ['{"log":"cut in the mid\\']),
    ],
)  # fmt: skip
def test_forms(line: str, lines: list[str]) -> None:
    assert unwrapped(line) == lines


def test_json_in_json_in_json() -> None:
    text = 'Unable connect to "kafka:9092": no'
    for depth in range(1, 4):
        wrapped = text
        for _ in range(depth):
            wrapped = json.dumps({"log": f"{wrapped}\n", "time": "2026-11-21T18:00:00Z"})
        assert any(text in line for line in unwrapped(wrapped)), depth
