"""The router's nftables file as it stands in a snapshot."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from brokernat.render import HostNat, nftables_router


def test_file(snapshot: SnapshotAssertion) -> None:
    nats = [HostNat("10.99.1.23", "192.168.1.23"), HostNat("10.99.1.24", "192.168.1.24")]
    assert nftables_router(nats) == snapshot
