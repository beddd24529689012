"""The time at the head of a line, in the words of each logger."""

import pytest

from brokernat.doctor.explaining.timestamps import timestamp


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
def test_known_forms(line: str, time: str | None) -> None:
    assert timestamp(line) == time
