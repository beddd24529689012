"""The nftables file as it stands in a snapshot, of IPv4 alone and with every kind of rule."""

from __future__ import annotations

from collections.abc import Callable

from syrupy.assertion import SnapshotAssertion

from brokernat.render import Subject, nftables

EVERY_KIND = (
    "[fd00::1]:9092 = [fd00::40]:9093, 192.168.1.24 = 10.9.0.1, 10.1.0.0/24 = 10.9.1.0/24, fd00:1::/64 = fd00:9::/64"
)
BOOTSTRAP = ("[fd00::40]:9093", "10.9.0.1:9092", "10.9.1.5:9092", "[fd00:9::7]:9092")


def test_situation_1(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    assert nftables(about()) == snapshot


def test_every_kind_of_rule(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    assert nftables(about(EVERY_KIND, *BOOTSTRAP, cluster="hq.v6")) == snapshot
