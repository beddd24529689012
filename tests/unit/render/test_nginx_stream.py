"""The nginx file as it stands in a snapshot, and the one thing that must hold: a port for each broker."""

from __future__ import annotations

import re
from collections.abc import Callable

from syrupy.assertion import SnapshotAssertion

from brokernat.address import Endpoint
from brokernat.render import Forward, Subject, nginx, nginx_stream

_FORWARDS = [
    Forward(Endpoint("172.10.1.40", 9093), Endpoint("192.168.1.23", 9092)),
    Forward(Endpoint("172.10.1.40", 9094), Endpoint("kafka-2.hq.internal", 9092)),
    Forward(Endpoint("fd00::40", 9095), Endpoint("fd00::25", 9092)),
]


def test_file(snapshot: SnapshotAssertion) -> None:
    assert nginx_stream(_FORWARDS) == snapshot


def test_each_broker_has_a_port_and_ipv6_has_brackets() -> None:
    text = nginx_stream(_FORWARDS)
    assert re.findall(r"listen (\S+);\s+proxy_pass (\S+);", text) == [
        ("172.10.1.40:9093", "192.168.1.23:9092"),
        ("172.10.1.40:9094", "kafka-2.hq.internal:9092"),
        ("[fd00::40]:9095", "[fd00::25]:9092"),
    ]


def test_a_whole_file(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    assert nginx(about("kafka-1.hq:9092 = gateway:9093")) == snapshot
