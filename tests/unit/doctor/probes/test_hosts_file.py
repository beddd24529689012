"""Which line of a hosts file decides a name."""

import pytest

from brokernat.doctor.probes.hosts_file import HOSTS, deciding_line, line_for

TEXT = """
127.0.0.1   localhost kafka-self   # kafka-comment
::1 localhost
10.9.0.1\tKafka-1.hq.internal kafka-1
fd00:0::1 kafka-6
nonsense kafka-2
"""


@pytest.mark.parametrize(
    ("host", "address", "line"),
    [
        ("kafka-1", "10.9.0.1", "10.9.0.1 Kafka-1.hq.internal kafka-1"),
        ("KAFKA-1.hq.internal.", "10.9.0.1", "10.9.0.1 Kafka-1.hq.internal kafka-1"),
        ("kafka-6", "fd00::1", "fd00:0::1 kafka-6"),
        ("kafka-1", "10.9.0.2", None),
        ("kafka-comment", "127.0.0.1", None),
        ("kafka-2", "", None),
        ("10.9.0.1", "10.9.0.1", None),
        ("localhost", "127.0.0.1", None),
    ],
)
def test_line(host: str, address: str, line: str | None) -> None:
    assert line_for(TEXT, host, (address,)) == line


def test_this_machine() -> None:
    assert HOSTS.is_file()
    assert deciding_line("no-such-name.invalid", ()) is None
