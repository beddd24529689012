"""Metadata requests: any version that a peer offers can be sent."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from kio.serial import entity_writer

from brokernat.doctor.probes.metadata import topics


class OneVersion:
    """A connection to a peer that offers one version, and keeps what it is sent."""

    def __init__(self, version: int) -> None:
        self.offered = {3: (version, version)}
        self.sent: list[bytes] = []

    async def ask(self, request: Any, _answer: type, _most: int) -> Any:
        written = io.BytesIO()
        entity_writer(type(request))(written, request)
        self.sent.append(written.getvalue())
        return SimpleNamespace(topics=())


@pytest.mark.parametrize("version", range(14))
@pytest.mark.parametrize("names", [(), ("audit", "orders")])
def test_topics_can_be_asked_for_in_any_version(version: int, names: Sequence[str]) -> None:
    peer = OneVersion(version)
    assert asyncio.run(topics(peer, names)) == ()  # type: ignore[arg-type]
    assert all(name.encode() in peer.sent[0] for name in names)
