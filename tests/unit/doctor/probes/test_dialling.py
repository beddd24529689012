"""Names and addresses: what the resolver says, or that it does not say anything in time."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from brokernat.doctor.probes.dialling import canonical_name, resolve


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
    assert asyncio.run(resolve("kafka", 9092, 5)) == (("10.0.0.1", "10.0.0.2"), None)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (UnicodeError(), "not a host name"),
    ],
)
def test_why_there_is_none(monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert asyncio.run(resolve("kafka", 9092, 5)) == ((), reason)


def test_a_resolver_that_hangs_holds_nobody_up(monkeypatch: pytest.MonkeyPatch, stuck: Callable[..., None]) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    monkeypatch.setattr(socket, "getnameinfo", stuck)
    addresses, reason = asyncio.run(resolve("kafka", 9092, 0.05))
    assert addresses == ()
    assert "no answer from the name server" in (reason or "")
    assert asyncio.run(canonical_name("10.0.0.1", 0.05)) == "10.0.0.1"


@pytest.mark.parametrize(("leads_to", "called"), [("10.0.0.1", "gw.example"), ("10.0.0.2", "10.0.0.1")])
def test_an_address_is_called_by_a_name_that_leads_back_to_it(
    monkeypatch: pytest.MonkeyPatch, leads_to: str, called: str
) -> None:
    monkeypatch.setattr(socket, "getnameinfo", lambda *_: ("gw.example", "0"))
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", (leads_to, 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [entry])
    assert asyncio.run(canonical_name("10.0.0.1", 5)) == called
