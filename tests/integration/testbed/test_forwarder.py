"""The user-space gateway behaves towards clients as nginx does: half-close, back-pressure, refusal, large transfers."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.render import Forward
from brokernat.testbed.loopback_gateway import ForwarderGateway
from brokernat.testbed.place import Here, Launcher

pytestmark = pytest.mark.integration


@pytest.fixture
def upstream() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


@pytest.fixture
def gateway(upstream: socket.socket, tmp_path: Path) -> Iterator[Endpoint]:
    # On an address that no outgoing connection has, so that none takes the port before the gateway has it.
    with socket.create_server(("127.8.0.1", 0)) as reserved:
        listen = Endpoint("127.8.0.1", reserved.getsockname()[1])
    launcher = Launcher(tmp_path)
    forward = Forward(listen, Endpoint("127.0.0.1", upstream.getsockname()[1]))
    running = ForwarderGateway([forward], launcher=launcher, place=Here(), log=tmp_path / "log")
    running.start()
    yield listen
    running.stop()
    assert (tmp_path / "log").read_text() == ""


def connected(gateway: Endpoint, upstream: socket.socket) -> tuple[socket.socket, socket.socket]:
    client = socket.create_connection((gateway.host, gateway.port), timeout=20)
    server, _ = upstream.accept()
    server.settimeout(20)
    return client, server


def read_all(source: socket.socket) -> bytes:
    parts = []
    while part := source.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def test_an_end_of_stream_is_passed_on_and_the_answer_still_comes(gateway: Endpoint, upstream: socket.socket) -> None:
    client, server = connected(gateway, upstream)
    with client, server:
        client.sendall(b"question")
        client.shutdown(socket.SHUT_WR)
        assert read_all(server) == b"question"
        server.sendall(b"answer")
        server.close()
        assert read_all(client) == b"answer"


def test_large_transfers_arrive_whole_both_ways_at_once(gateway: Endpoint, upstream: socket.socket) -> None:
    client, server = connected(gateway, upstream)
    data = os.urandom(8 << 20)
    received: dict[str, str] = {}

    def send(end: socket.socket) -> None:
        end.sendall(data)
        end.shutdown(socket.SHUT_WR)

    def exchange(name: str, end: socket.socket) -> None:
        sender = threading.Thread(target=send, args=(end,))
        sender.start()
        received[name] = hashlib.sha256(read_all(end)).hexdigest()
        sender.join()

    with client, server:
        threads = [threading.Thread(target=exchange, args=pair) for pair in (("client", client), ("server", server))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(received.values()) == {hashlib.sha256(data).hexdigest()}


def test_a_slow_reader_slows_its_writer(gateway: Endpoint, upstream: socket.socket) -> None:
    client, server = connected(gateway, upstream)
    with client, server:
        client.settimeout(1)
        assert sent_until_stuck(client) < 64 << 20


def sent_until_stuck(client: socket.socket) -> int:
    """Nobody reads: socket buffers and the gateway's own fill, then the writer has to wait."""
    sent = 0
    try:
        while sent < 1 << 30:
            sent += client.send(b"x" * 65536)
    except TimeoutError:
        return sent
    return sent


def test_an_upstream_that_refuses_ends_the_connection(gateway: Endpoint, upstream: socket.socket) -> None:
    upstream.close()
    with closing(socket.create_connection((gateway.host, gateway.port), timeout=20)) as client:
        assert client.recv(1) == b""


def test_a_reset_on_one_side_ends_the_other(gateway: Endpoint, upstream: socket.socket) -> None:
    client, server = connected(gateway, upstream)
    with client, server:
        server.sendall(b"x")
        assert client.recv(1) == b"x"
        # Linger of zero: close sends a reset.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        client.close()
        with suppress(ConnectionResetError):
            assert server.recv(1) == b""
