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
        ('{"level":"ERROR","timestamp":"2026-11-21T18:41:25.357Z"}', "2026-11-21T18:41:25.357Z"),
        ("Caused by: java.net.UnknownHostException: kafka-1", None),
        ("\tat x(Y.java:1)", None),
        (" " * 100 + "2026-11-21 18:32:05,123", None),
    ],
)
def test_known_forms(line: str, time: str | None) -> None:
    assert timestamp(line) == time
