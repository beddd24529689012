"""Two workers behind one port: the command as a process, in front of simulated brokers."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import cast

import pytest
from tests.support.simulated_brokers import Served, Simulated, serving, serving_as
from tests.unit.proxy.test_server import API_VERSIONS, ask, connected, nodes_at
from tests.unit.proxy.test_tls_and_login import CERTIFICATE, over_tls

from brokernat.address import Endpoint
from brokernat.proxy import Proxy
from brokernat.proxy.metrics import Counters
from brokernat.proxy.workers import Service, _Parent, _SharedDescriptors

_PATIENCE = 30
_GROUP = 50
LISTEN, METRICS = Endpoint("127.10.1.1", 9000), Endpoint("127.10.1.1", 9404)


@pytest.fixture
def brokers() -> Iterator[Served]:
    with serving(2, dead="127.0.78") as served:
        yield served


@pytest.fixture
def rules(brokers: Served, tmp_path: Path) -> Path:
    file = tmp_path / "rules"
    lines = [f"{brokers.cluster.advertised[node]}={end}\n" for node, end in brokers.reachable.items()]
    file.write_text("".join(lines))
    return file


@contextmanager
def started(brokers: Served, rules: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    words = ["proxy", str(brokers.reachable[1]), "--map", f"file:{rules}", "--listen", str(LISTEN), "--workers", "2"]
    environ = {**os.environ, "XDG_STATE_HOME": str(rules.parent)}
    with rules.with_name("log").open("a") as log, ExitStack() as ends:
        process = subprocess.Popen(
            [sys.executable, "-m", "brokernat", *words, *options],
            stdout=subprocess.PIPE, stderr=log, text=True, env=environ,
        )  # fmt: skip
        ends.callback(process.communicate)
        ends.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == f"{LISTEN}\n", rules.with_name("log").read_text()
        yield process


@pytest.fixture
def proxy(brokers: Served, rules: Path) -> Iterator[subprocess.Popen[str]]:
    with started(brokers, rules, "--metrics", str(METRICS)) as process:
        yield process


def workers(process: subprocess.Popen[str]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def metric(name: str) -> int:
    with urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=_PATIENCE) as answer:
        lines: list[str] = answer.read().decode().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"brokernat_proxy_{name} "))


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_workers_share_ports_and_counters_and_are_replaced(
    proxy: subprocess.Popen[str], rules: Path, tmp_path: Path
) -> None:
    nodes = nodes_at(LISTEN)
    assert nodes == {1: Endpoint(LISTEN.host, 9002), 2: Endpoint(LISTEN.host, 9003)}
    with ExitStack() as open_connections:
        for _ in range(16):
            connection = open_connections.enter_context(closing(connected(LISTEN)))
            assert ask(connection, API_VERSIONS)
        until(lambda: metric("connections") == 16)
    until(lambda: metric("connections") == 0)
    assert metric("sent_bytes_total") > metric("received_bytes_total") > 16 * len(API_VERSIONS)

    first, *_ = workers(proxy)
    os.kill(first, signal.SIGKILL)
    until(lambda: len(running := workers(proxy)) == 2 and first not in running)
    assert "exited with -9 and is replaced" in (tmp_path / "log").read_text()
    until(lambda: nodes_at(LISTEN) == nodes)

    rules.write_text("nonsense\n")
    proxy.send_signal(signal.SIGHUP)
    until(lambda: (tmp_path / "log").read_text().count("ERROR: the map is not changed:") == 2)
    assert nodes_at(nodes[2]) == nodes

    running = workers(proxy)
    proxy.send_signal(signal.SIGTERM)
    assert proxy.wait(_PATIENCE) == 143
    assert not any(Path(f"/proc/{pid}").exists() for pid in running)


def test_clients_are_served_while_a_worker_hangs(proxy: subprocess.Popen[str]) -> None:
    """Also if it is the one that all clients came to; the kernel still gives it some."""

    def is_served() -> bool:
        with closing(connected(LISTEN)) as connection:
            connection.settimeout(0.2)
            try:
                return bool(ask(connection, API_VERSIONS))
            except TimeoutError:
                return False

    for pid in workers(proxy):
        os.kill(pid, signal.SIGSTOP)
        try:
            until(is_served)
        finally:
            os.kill(pid, signal.SIGCONT)


def test_a_restart_keeps_the_process_and_its_ports(
    proxy: subprocess.Popen[str], brokers: Served, rules: Path, tmp_path: Path
) -> None:
    nodes, before = nodes_at(LISTEN), workers(proxy)
    rules.write_text("nonsense\n")
    proxy.send_signal(signal.SIGUSR2)
    until(lambda: "ERROR: the proxy is not restarted:" in (tmp_path / "log").read_text())
    assert workers(proxy) == before

    first, second = brokers.cluster.advertised.values()
    rules.write_text(f"{first}={brokers.reachable[1]}\n{second}={brokers.reachable[1]}\n")
    with closing(connected(nodes[1])) as stays, closing(connected(nodes[2])) as moved:
        assert ask(stays, API_VERSIONS)
        assert ask(moved, API_VERSIONS)
        proxy.send_signal(signal.SIGUSR2)
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == f"{LISTEN}\n"
        # The new workers serve when the old ones are told to end.
        assert nodes_at(LISTEN) == nodes_at(nodes[2]) == nodes
        until(lambda: not any(alive(pid) for pid in before))
        assert ask(stays, API_VERSIONS, 2)
        assert moved.recv(1) == b""
    # One that has ended is a child until its parent has looked.
    until(lambda: len(workers(proxy)) == 2)
    until(lambda: metric("connections") == 0)
    proxy.send_signal(signal.SIGTERM)
    assert proxy.wait(_PATIENCE) == 143


def test_a_restart_leaves_no_descriptor_behind(proxy: subprocess.Popen[str]) -> None:
    open_files: list[int] = []
    for _ in range(3):
        before = workers(proxy)
        proxy.send_signal(signal.SIGUSR2)
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == f"{LISTEN}\n"
        until(lambda: not any(alive(pid) for pid in before))  # noqa: B023 - called in this round
        open_files.append(len(list(Path(f"/proc/{proxy.pid}/fd").iterdir())))
    # The first start has no descriptor of a previous program.
    assert len(set(open_files)) == 1
    # Workers of any program end with their parent.
    running = workers(proxy)
    proxy.kill()
    until(lambda: not any(alive(pid) for pid in running))


def test_a_restart_that_fails_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    given: list[dict[str, str]] = []

    def fail(_program: str, _arguments: list[str], environ: dict[str, str]) -> None:
        assert all(map(os.get_inheritable, descriptors))
        given.append(environ)
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(os, "execve", fail)
    with socket.create_server(("127.0.0.1", 0)) as metrics:
        service = Service(cast("Proxy", None), Counters(), lambda: None, lambda: None, metrics)
        shared = _SharedDescriptors([])
        descriptors = [*shared.for_next_program(), metrics.fileno()]
        before = dict(os.environ)
        _Parent(service, 1, shared, set())._restart()
        assert "the proxy is not restarted: " in caplog.text
        assert dict(os.environ) == before != given[0]
        assert not any(map(os.get_inheritable, descriptors))
    with closing(shared.handover._receiver), closing(shared.handover._sender):
        for each in (shared.alive, shared._parent, shared._listeners_ended, shared._listening):
            os.close(each)


class Counting(Simulated):
    """Notes the correlation ids of what it was asked."""

    def __init__(self, advertised: Mapping[int, Endpoint]) -> None:
        super().__init__(advertised)
        self.asked: list[int] = []

    def answer(self, node_id: int, request: bytes) -> bytes | None:
        self.asked.append(struct.unpack_from(">i", request, 4)[0])
        return super().answer(node_id, request)


def test_a_connection_over_tls_ends_behind_its_last_response_at_a_restart(tmp_path: Path) -> None:
    """Its keys cannot be passed on. Of what the client has sent meanwhile, the broker has got what was answered."""
    rules = tmp_path / "rules"
    options = ("--tls-cert", str(CERTIFICATE[0]), "--tls-key", str(CERTIFICATE[1]))
    with serving_as(Counting, 1, dead="127.0.78") as served:
        rules.write_text(f"{served.cluster.advertised[1]}={served.reachable[1]}\n")
        with started(served, rules, *options) as proxy, over_tls(connected(LISTEN)) as client:
            assert ask(client, API_VERSIONS, 0)
            before = workers(proxy)
            proxy.send_signal(signal.SIGUSR2)
            answered = [0, *answered_until_the_end(client)]
            assert isinstance(served.cluster, Counting)
            assert answered == served.cluster.asked == list(range(len(answered)))
            until(lambda: not any(alive(pid) for pid in before))
            assert "the restart closed 1 connection that cannot be handed over (TLS" in (tmp_path / "log").read_text()
            with over_tls(connected(LISTEN)) as another:
                assert ask(another, API_VERSIONS)


def answered_until_the_end(client: ssl.SSLSocket) -> Iterator[int]:
    """The correlation ids of the responses to requests that are sent in groups; the end is none within a response.

    One thread does both: a TLS connection of Python's serves one at a time (CPython 124984).
    """
    with client.makefile("rb") as stream:
        for first in itertools.count(1, _GROUP):
            with suppress(OSError):
                client.sendall(b"".join(request(number) for number in range(first, first + _GROUP)))
            for _ in range(_GROUP):
                head = stream.read(8)
                if not head:
                    return
                length, correlation = struct.unpack(">ii", head)
                assert len(stream.read(length - 4)) == length - 4
                yield correlation


def request(correlation: int) -> bytes:
    packet = API_VERSIONS + struct.pack(">ih", correlation, 2) + b"me"
    return struct.pack(">i", len(packet)) + packet


def test_two_proxies_do_not_share_a_port(proxy: subprocess.Popen[str], brokers: Served, tmp_path: Path) -> None:
    words = ["proxy", str(brokers.reachable[1]), "--listen", str(LISTEN), "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "brokernat", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 2
    assert f"the proxy cannot listen on {LISTEN}: Address already in use" in done.stderr
    assert proxy.poll() is None


def test_workers_end_with_their_parent(proxy: subprocess.Popen[str]) -> None:
    running = workers(proxy)
    assert len(running) == 2
    proxy.kill()
    until(lambda: not any(alive(pid) for pid in running))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
