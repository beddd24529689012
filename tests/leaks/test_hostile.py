"""Giant lengths, slow readers and writers, thousands of idle connections: memory is bounded and others are served."""

from __future__ import annotations

import resource
import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.conftest import Soak
from tests.leaks.hostile import (
    ALL_TOPICS,
    ANSWER,
    FETCH,
    PRODUCE,
    Bent,
    LargeAnswers,
    answered,
    attack,
    connected,
    exactly,
    fronted,
    request,
    serves,
)
from tests.leaks.proxies import RunningProxy, somewhere

from brokernat.address import Endpoint
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration

_MIB = 1 << 20
_PATIENCE = 20
IDLE = 3000
PER_IDLE = 32 << 10
"""Bytes of memory that one idle connection may take, at both of its ends."""
GROWTH = 48 * _MIB
"""What a crowd of slow clients may add."""
READERS, WRITERS, PIPELINED = 20, 100, 20
ROUND = 60
"""Connections of a round of the fuzz."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningProxy]:
    folder = tmp_path_factory.mktemp("hostile")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with fronted(LargeAnswers, folder, somewhere()) as (proxy, _):
        assert serves(proxy)
        yield proxy
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("length", [2**31 - 1, 101 << 20, -1, -(2**31), 0, 3])
def test_a_length_that_cannot_be_right_ends_the_connection(length: int, running: RunningProxy) -> None:
    before = running.processes.resident()
    with connected(running.bootstrap) as connection:
        assert answered(connection, struct.pack(">i", length)) == b""
    assert running.processes.resident() - before < 2 * _MIB
    assert serves(running)


@pytest.mark.parametrize(
    ("greeting", "name"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "HTTP"),
        (b"\x16\x03\x01\x02\x00\x01" + bytes(60), "TLS"),
        (b"SSH-", "SSH"),
    ],
    ids=["HTTP", "TLS", "SSH"],
)
def test_another_protocol_is_named(greeting: bytes, name: str, running: RunningProxy) -> None:
    with connected(running.bootstrap) as connection, suppress(ConnectionError):
        connection.sendall(greeting)
        assert connection.recv(100) == b""
    wait_until(lambda: f" {name} " in running.log.read_text(), f"{name} in the log", timeout=_PATIENCE)


def test_clients_that_do_not_read(running: RunningProxy) -> None:
    """What they asked for waits at the broker, not in the proxy."""
    before = running.processes.resident()
    with ExitStack() as stack:
        for _ in range(READERS):
            slow = stack.enter_context(connected(running.bootstrap))
            slow.sendall(b"".join(request(FETCH, 4, b"", number) for number in range(PIPELINED)))
        assert serves(running)
        assert running.processes.resident() - before < GROWTH, READERS * PIPELINED * ANSWER
        # One of them goes on and gets all of it, in order.
        for number in range(PIPELINED):
            assert struct.unpack(">ii", exactly(slow, 8)) == (ANSWER + 4, number)
            assert exactly(slow, ANSWER) == bytes(ANSWER)


def test_clients_that_send_slowly(running: RunningProxy) -> None:
    """Each has announced 50 MB and sent a mebibyte of it."""
    before = running.processes.resident()
    announced = struct.pack(">ihhi", 50_000_000, PRODUCE, 7, 1) + b"\0\4test" + bytes(_MIB)
    with ExitStack() as stack:
        for _ in range(WRITERS):
            slow = stack.enter_context(connected(running.bootstrap))
            slow.setblocking(False)
            with suppress(BlockingIOError):
                slow.sendall(announced)
        assert serves(running)
        assert running.processes.resident() - before < GROWTH


def test_thousands_of_idle_connections(running: RunningProxy) -> None:
    before = running.processes.resident()
    with ExitStack() as stack:
        for _ in range(IDLE):
            idle = stack.enter_context(connected(running.bootstrap))
            assert answered(idle, ALL_TOPICS)
        assert serves(running)
        assert (running.processes.resident() - before) / IDLE < PER_IDLE
    assert serves(running)


@pytest.mark.soak
def test_nothing_that_clients_and_brokers_send_breaks_it(
    soak: Soak, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random and mutated frames from both sides; afterwards it serves, and its memory has not grown with the rounds."""
    resident = []
    dice = soak.random("proxy")
    monkeypatch.setattr(Bent, "dice", soak.random("brokers"))
    with fronted(Bent, tmp_path, somewhere(1)) as (proxy, served):
        for _ in soak.rounds():
            for _ in range(ROUND):
                node = dice.choice([None, *served.reachable])
                at = proxy.bootstrap
                # A node's port is there as soon as a client was told of it.
                with suppress(ConnectionRefusedError):
                    attack(at if node is None else Endpoint(at.host, at.port + 1 + node), dice)
            resident.append(proxy.processes.resident())
        monkeypatch.setattr(Bent, "share", 0)
        assert serves(proxy)
        assert resident[-1] - resident[0] < GROWTH
