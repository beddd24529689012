"""What stands between a client's words and the log is taken off; the time at the head of a line is found."""

import json

import pytest

from brokernat.doctor.explain.log_text import timestamp, unfolded, unwrapped, without_emphasis


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
        (r"Error('a\n\tat b.C.d(C.java:1)\nCaused by: e')", ["Error('a", "\tat b.C.d(C.java:1)", "Caused by: e')"]),
        ("&gt; Caused by: &quot;x&quot; &amp; y", ['Caused by: "x" & y']),
        ("a=1&lt=2;&b", ["a=1&lt=2;&b"]),
        ("Mar 18 05:56:12 host maxwell_1[10802]: java.io.EOFException: null", ["java.io.EOFException: null"]),
        ("api-1 | 2020-01-21T05:46:06.797530903Z   at a.B.c(B.java:1)", ["  at a.B.c(B.java:1)"]),
        ("2020-01-21T05:46:06.797Z ... 12 more", ["... 12 more"]),
        ("Mar 18 05:56:12 host app: at a quarter past", ["Mar 18 05:56:12 host app: at a quarter past"]),
    ],
)  # fmt: skip
def test_forms(line: str, lines: list[str]) -> None:
    assert unwrapped(line) == lines


def test_a_text_that_yaml_folded() -> None:
    assert (
        unfolded('error: "ConfigException: Invalid', "    \\ value x\\\n")
        == 'error: "ConfigException: Invalid value x\\\n'
    )
    assert unfolded("docker run", "    -e X=1 \\\n") is None


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("WARN **Connection to node -1** could not", "WARN Connection to node -1 could not"),
        ("**2026-11-21 18:32:05 WARN x", "2026-11-21 18:32:05 WARN x"),
        ("and its end**", "and its end"),
        ("_sasl_ssl://broker:9093/bootstrap: failed_", "sasl_ssl://broker:9093/bootstrap: failed"),
        ("*the whole line*", "the whole line"),
        ("`Unable to connect`", "Unable to connect"),
        ("```Unable to connect", "Unable to connect"),
        ("Unable to connect```", "Unable to connect"),
        ("> Caused by: x", "Caused by: x"),
        ("> > \tat x(Y.java:1)", "\tat x(Y.java:1)"),
        (">>> **%3|FAIL| x**", "%3|FAIL| x"),
        # What clients write themselves stays.
        ("** Reason for termination ==", "** Reason for termination =="),
        ('password "********"', 'password "********"'),
        ("No `meta.properties` found in ", "No `meta.properties` found in "),
        ("cannot reach channel `orders`", "cannot reach channel `orders`"),
        ("/a/**/b and c/**", "/a/**/b and c/**"),
        ("__consumer_offsets-12 is offline", "__consumer_offsets-12 is offline"),
        ("a -> b", "a -> b"),
    ],
)
def test_marks_of_markdown(line: str, text: str) -> None:
    assert unwrapped(line) == [text]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Connection to node `-1` could not", "Connection to node -1 could not"),
        ("ERROR __Connection__ to _node -1_ could *not*", "ERROR Connection to node -1 could not"),
        ("topic __consumer_offsets of my_app_2", "topic __consumer_offsets of my_app_2"),
    ],
)
def test_emphasis_in_the_middle(line: str, text: str) -> None:
    assert without_emphasis(line) == text


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
