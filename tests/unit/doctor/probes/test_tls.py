"""Which names a certificate covers."""

import pytest

from brokernat.doctor.probes.tls import covers


@pytest.mark.parametrize(
    ("names", "host", "covered"),
    [
        (("kafka-1.hq",), "KAFKA-1.hq.", True),
        (("*.hq",), "kafka-1.hq", True),
        (("*.hq",), "a.b.hq", False),
        (("*.hq",), "hq", False),
        (("192.168.1.23",), "192.168.1.23", True),
        (("FD00:0:0:0:0:0:0:1",), "fd00::1", True),
        ((), "kafka-1", False),
    ],
)
def test_covers(names: tuple[str, ...], host: str, covered: bool) -> None:
    assert covers(names, host) is covered
