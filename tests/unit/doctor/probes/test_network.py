"""Names, addresses, the hosts file, connections: what is found there, and how it fails."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brokernat.address import Endpoint
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import Attempt, EndpointProbe, NameLookup
from brokernat.doctor.probes import network
from brokernat.doctor.probes.network import (
    HOSTS,
    canonical_name,
    connect,
    deciding_line,
    line_for,
    resolve,
)
from brokernat.doctor.probes.walk import Prober


@pytest.fixture
def stuck() -> Iterator[Callable[..., None]]:
    """A resolver that answers when the test is over."""
    over = threading.Event()

    def wait(*arguments: object, **options: object) -> None:
        over.wait(60)
        raise OSError("too late")

    yield wait
    over.set()


def test_all_addresses_of_a_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 9092)) for address in ("10.0.0.1", "10.0.0.2") * 2]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: entries)
    assert asyncio.run(resolve("kafka", 9092, 5)) == NameLookup("ok", ("10.0.0.1", "10.0.0.2"))


def test_a_name_server_that_answers_by_turns_and_then_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["10.0.0.1", "10.0.0.2"])

    def answer(*arguments: object, **options: object) -> list[tuple[object, ...]]:
        if (address := next(answers, None)) is None:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 9092))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    assert asyncio.run(resolve("kafka", 9092, 5)) == NameLookup("ok", ("10.0.0.1", "10.0.0.2"))


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (socket.gaierror(-2, "Name or service not known"), "unknown", "Name or service not known"),
        (socket.gaierror(-5, "No address associated with hostname"), "unknown", "No address associated with hostname"),
        (
            socket.gaierror(-3, "Temporary failure in name resolution"),
            "no-answer",
            "Temporary failure in name resolution",
        ),
        (UnicodeError(), "not-a-name", "not a host name"),
    ],
)
def test_why_there_is_none(monkeypatch: pytest.MonkeyPatch, error: Exception, outcome: str, reason: str) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert asyncio.run(resolve("kafka", 9092, 5)) == NameLookup(outcome, detail=reason)  # type: ignore[arg-type]


def test_a_resolver_that_hangs_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, stuck: Callable[..., None]) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    monkeypatch.setattr(socket, "getnameinfo", stuck)
    found = asyncio.run(resolve("kafka", 9092, 0.05))
    assert (found.outcome, found.addresses) == ("no-answer", ())
    assert "no answer from the name server" in found.detail
    assert asyncio.run(canonical_name("10.0.0.1", 0.05)) == "10.0.0.1"


@pytest.mark.parametrize(("leads_to", "called"), [("10.0.0.1", "gw.example"), ("10.0.0.2", "10.0.0.1")])
def test_an_address_is_called_by_a_name_that_leads_back_to_it(
    monkeypatch: pytest.MonkeyPatch, leads_to: str, called: str
) -> None:
    monkeypatch.setattr(socket, "getnameinfo", lambda *_: ("gw.example", "0"))
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", (leads_to, 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [entry])
    assert asyncio.run(canonical_name("10.0.0.1", 5)) == called


TEXT = """
127.0.0.1   localhost kafka-self   # kafka-comment
::1 localhost
10.9.0.1\tKafka-1.hq.internal kafka-1
fd00:0::1 kafka-6
nonsense kafka-2
"""


@pytest.mark.parametrize(
    ("host", "address", "line"),
    [
        ("kafka-1", "10.9.0.1", "10.9.0.1 Kafka-1.hq.internal kafka-1"),
        ("KAFKA-1.hq.internal.", "10.9.0.1", "10.9.0.1 Kafka-1.hq.internal kafka-1"),
        ("kafka-6", "fd00::1", "fd00:0::1 kafka-6"),
        ("kafka-1", "10.9.0.2", None),
        ("kafka-comment", "127.0.0.1", None),
        ("kafka-2", "", None),
        ("10.9.0.1", "10.9.0.1", None),
        ("localhost", "127.0.0.1", None),
    ],
)
def test_line(host: str, address: str, line: str | None) -> None:
    assert line_for(TEXT, host, (address,)) == line


@pytest.mark.parametrize(
    ("host", "own"),
    [("Laptop-7", True), ("laptop-7.hq.invalid", True), ("laptop-70", False), ("kafka-1.hq.invalid", False)],
)
@pytest.mark.parametrize("machine", ["laptop-7", "laptop-7.hq.invalid"])
def test_the_own_name_of_the_machine(host: str, machine: str, *, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.1.1", 9092))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [entry])
    monkeypatch.setattr(socket, "gethostname", lambda: machine)
    assert asyncio.run(resolve(host, 9092, 5)).own_name == own


def test_this_machine() -> None:
    assert HOSTS.is_file()
    assert deciding_line("no-such-name.invalid", ()) is None


def test_a_probe_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosts").write_text("127.0.0.1 kafka-1.hq.invalid\n")
    monkeypatch.setattr(network, "HOSTS", tmp_path / "hosts")
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))
    looked_up = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *a, **o: [entry] if "kafka" in str(host) else looked_up(host, *a, **o)
    )

    async def run() -> EndpointProbe:
        prober = Prober(ClientSide(), 5.0, asyncio.get_running_loop().time() + 60, asyncio.Semaphore(1))
        return await prober.touch(Endpoint("kafka-1.hq.invalid", 1))

    probe = asyncio.run(run())
    assert probe.hosts_entry == "127.0.0.1 kafka-1.hq.invalid"
    assert probe.attempts[0].outcome == "refused"


def test_a_port_where_nothing_listens_is_tried_again_and_is_no_firewall() -> None:
    attempt, streams = asyncio.run(connect("127.0.0.1", 1, 20, tries=3))
    assert streams is None
    assert (attempt.outcome, attempt.made, attempt.failed, attempt.icmp, attempt.rejected) == (
        "refused",
        3,
        3,
        "",
        False,
    )


def test_a_connection_comes_from_the_source_that_is_wanted() -> None:
    async def run() -> str:
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            _, streams = await connect("127.0.0.1", port, 20, source="127.0.0.9")
            assert streams is not None
            try:
                return str(streams[1].get_extra_info("sockname")[0])
            finally:
                streams[1].transport.abort()

    assert asyncio.run(run()) == "127.0.0.9"


@pytest.mark.parametrize(("first_that_works", "failed"), [(1, 0), (2, 1), (3, 2)])
def test_of_tries_beside_each_other_only_those_before_the_one_that_works_failed(
    monkeypatch: pytest.MonkeyPatch, first_that_works: int, failed: int
) -> None:
    numbers, all_begun = iter((1, 2, 3)), asyncio.Event()

    async def answer(address: str, port: int, patience: float, source: str | None) -> tuple[Attempt, Any]:
        number = next(numbers)
        if number == 3:
            all_begun.set()
        await (all_begun if number >= first_that_works else asyncio.Event()).wait()
        return Attempt(address, "connected"), (None, StreamsThatClose())

    monkeypatch.setattr(network, "_connect", answer)
    monkeypatch.setattr(network, "_JOINED", 0.01)
    attempt, streams = asyncio.run(connect("10.9.0.1", 9092, 600, tries=3))
    assert streams is not None
    assert (attempt.made, attempt.failed) == (failed + 1, failed)


def test_failed_tries_before_one_that_works_keep_how_they_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter(("refused", "unreachable", "connected"))

    async def answer(address: str, port: int, patience: float, source: str | None) -> tuple[Attempt, Any]:
        attempt = Attempt(address, next(outcomes))  # type: ignore[arg-type]
        return attempt, (None, StreamsThatClose()) if attempt.outcome == "connected" else None

    monkeypatch.setattr(network, "_connect", answer)

    async def run() -> EndpointProbe:
        prober = Prober(ClientSide(), 5.0, asyncio.get_running_loop().time() + 60, asyncio.Semaphore(1))
        return await prober.touch(Endpoint("10.9.0.1", 9092), tries=3)

    (tried,) = (each for each in asyncio.run(run()).tries if each.stage == "connect")
    assert (tried.made, tried.failed, tried.faults) == (3, 2, ("refused", "unreachable"))


@pytest.mark.parametrize(
    ("sender", "icmp"), [("127.0.0.1", ""), ("192.0.2.1", "host-unreachable"), ("127.0.0.9", "host-unreachable")]
)
def test_this_machine_itself_is_no_router_that_reports(monkeypatch: pytest.MonkeyPatch, sender: str, icmp: str) -> None:
    """Linux sends itself ICMP host-unreachable if nothing in its own network has the address."""
    monkeypatch.setattr(network, "_icmp_of", lambda _: ("host-unreachable", sender))
    attempt, _ = asyncio.run(connect("127.0.0.9", 1, 20, source="127.0.0.1"))
    assert (attempt.icmp, attempt.reported_by) == (icmp, sender)


class StreamsThatClose:
    @property
    def transport(self) -> StreamsThatClose:
        return self

    def abort(self) -> None:
        pass
