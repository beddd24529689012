"""What stands between a client's words and the log is taken off; the time at the head of a line is found."""

import json

import pytest

from brokernat.doctor.explain.log_text import timestamp, unwrapped


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


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("2026-11-21 18:32:05,123 WARN x", "2026-11-21 18:32:05,123"),
        ("[2026-11-21 18:32:05,123] WARN x", "2026-11-21 18:32:05,123"),
        ("2026-11-21T18:32:05.123Z  WARN 1 --- [main] x", "2026-11-21T18:32:05.123Z"),
        ("2026-11-21T18:32:05.123+01:00 WARN x", "2026-11-21T18:32:05.123+01:00"),
        ("26/11/21 18:32:05 WARN NetworkClient: x", "26/11/21 18:32:05"),
        ("18:32:05.123 [main] WARN x", "18:32:05.123"),
        ("%3|1795286475.332|FAIL|rdkafka#producer-1| x", "1795286475.332"),
        ("app-1  | %3|1795286475.332|FAIL|rdkafka#producer-1| x", "1795286475.332"),
        ("1511418210.136 RDKAFKA-3-FAIL: rdkafka#producer-1: x", "1511418210.136"),
        ("7|2019-07-30 09:34:01.684|rdkafka#producer-1|FAIL| x", "2019-07-30 09:34:01.684"),
        ("2026/11/21 18:32:05 client/metadata x", "2026/11/21 18:32:05"),
        ("Nov  1 18:32:05 host app[1]: x", "Nov  1 18:32:05"),
        ("Jul 17, 2026 1:50:29 PM org.apache.kafka.clients.NetworkClient x", "Jul 17, 2026 1:50:29 PM"),
        ('{"level":"ERROR","timestamp":"2026-11-21T18:41:25.357Z"}', "2026-11-21T18:41:25.357Z"),
        ("Caused by: java.net.UnknownHostException: kafka-1", None),
        ("\tat x(Y.java:1)", None),
        (" " * 100 + "2026-11-21 18:32:05,123", None),
    ],
)
def test_forms_of_times(line: str, time: str | None) -> None:
    assert timestamp(line) == time
