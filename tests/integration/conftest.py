"""The world that most integration tests share: headquarters with three brokers behind dead addresses, and a local
cluster.

Tests share its brokers, so each takes topics of its own (`topic_name`) and stops no node; a test that breaks
something opens a world of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from tests.support.warm_cli import WarmCli

from brokernat.doctor.discovery import sweep as sweeping
from brokernat.doctor.probes import collecting, walk
from brokernat.testbed import LoopbackWorld


@pytest.fixture(scope="package")
def loopback_world() -> Iterator[LoopbackWorld]:
    """Three brokers without TLS or login behind a gateway, and one that is reachable as it is."""
    with LoopbackWorld() as world:
        yield world


@pytest.fixture(scope="package")
def warm_cli() -> Iterator[WarmCli]:
    """Commands that share one JVM of Spark's."""
    with WarmCli() as running:
        yield running


@pytest.fixture
def patient_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of the doctor's is given what a broker may need on a busy machine: how fast it was is not the point."""
    monkeypatch.setattr(walk, "_USUAL", 10.0)
    for module in (collecting, sweeping):
        monkeypatch.setattr(module, "_TOUCH", 10.0)


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses; it says whose it is."""
    return f"{request.node.originalname}-{uuid.uuid4().hex[:8]}"
