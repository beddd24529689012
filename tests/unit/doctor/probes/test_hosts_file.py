"""Which line of a hosts file decides a name."""

import asyncio
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.doctor.client_side import ClientSide
from brokernat.doctor.evidence import Look
from brokernat.doctor.probes import hosts_file, walk
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


def test_a_look_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolved(host: str, port: int, patience: float) -> tuple[tuple[str, ...], None]:
        return ("127.0.0.1",), None

    (tmp_path / "hosts").write_text("127.0.0.1 kafka-1.hq.invalid\n")
    monkeypatch.setattr(hosts_file, "HOSTS", tmp_path / "hosts")
    monkeypatch.setattr(walk, "resolve", resolved)
    one = walk.Walk(ClientSide(), 5, Look("kafka-1.hq.invalid:1", "kafka-1.hq.invalid"))
    asyncio.run(one.reach(Endpoint("kafka-1.hq.invalid", 1)))
    assert one.seen.hosts_entry == "127.0.0.1 kafka-1.hq.invalid"
    assert one.seen.attempts[0].outcome == "refused"
