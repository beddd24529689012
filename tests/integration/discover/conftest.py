"""A world of three kinds of broker for this folder, and forwards that lead where a test wants them to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from tests.support.balancers import Switch, switched

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol

Switched = Callable[..., AbstractContextManager[list[Endpoint]]]
Recorder = Callable[[Endpoint], AbstractContextManager[tuple[Endpoint, bytearray]]]


@pytest.fixture(scope="package")
def kinds_world() -> Iterator[LoopbackWorld]:
    """Brokers of 3.9.2, and of 4.4.0 that advertise the same; a broker whose user may ask for nothing but metadata."""
    with LoopbackWorld(
        hq=ClusterOptions(brokers=2, version="3.9.2"),
        second_hq=ClusterOptions(brokers=2, version="4.4.0"),
        local=ClusterOptions(brokers=1, protocol=Protocol.SASL_PLAINTEXT, authorize=True),
    ) as world:
        yield world


@pytest.fixture
def switch() -> Switched:
    """`with switch([a], [a, b]) as ends`: a port that leads to a, and one that leads to a and b in turn, or by
    `choice`."""
    return switched


@pytest.fixture
def recorder() -> Recorder:
    """`with recorder(a) as (end, received)`: a port that leads to a, and all bytes that clients send there."""
    return _recorder


@contextmanager
def _recorder(target: Endpoint) -> Iterator[tuple[Endpoint, bytearray]]:
    with Switch([target]) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield Endpoint(*server.server_address), server.received
        server.shutdown()
