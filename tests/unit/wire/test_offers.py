"""What a broker offers, told to the next client before the broker answers."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from tests.unit.wire.conftest import API_VERSIONS, FETCH, METADATA, MOST, TOLD, Fed, request, response, whole

from brokernat.wire import Offers, OutdatedAnswerError, Session

ASKED = b"\x04app\x021\0"


def session(offers: Offers) -> Session:
    return Session(lambda *_: TOLD, MOST, offers)


def offering(newest_fetch: int = 12, *, throttle: int = 0, epoch: int = 5, level: int = 3) -> bytes:
    """An ApiVersions response of version 3 with a feature and the epoch at which it was read."""
    entries = b"\x03" + struct.pack(">hhhb", FETCH, 4, newest_fetch, 0) + struct.pack(">hhhb", API_VERSIONS, 0, 4, 0)
    feature = b"\x02" + b"\x11metadata.version" + struct.pack(">hhb", level, level, 0)
    tags = b"\x02" + b"\x01\x08" + struct.pack(">q", epoch) + b"\x02" + bytes([len(feature)]) + feature
    return struct.pack(">h", 0) + entries + struct.pack(">i", throttle) + tags


def asking(correlation: int = 1, *, client: bytes = b"me", version: int = 3, body: bytes = ASKED) -> bytes:
    packet = struct.pack(">hhih", API_VERSIONS, version, correlation, len(client)) + client + b"\0" + body
    return struct.pack(">i", len(packet)) + packet


@pytest.fixture(params=[{}, {"epoch": 9}, {"throttle": 70}], ids=["the same", "a later epoch", "throttled"])
def lasting(request: pytest.FixtureRequest) -> bytes:
    return offering(**request.param)


@pytest.fixture
def offers() -> Offers:
    """Those of a broker that a first client has asked."""
    known = Offers()
    answered(session(known), offering())
    return known


def answered(it: Session, offered: bytes, asked: bytes | None = None) -> bytes:
    whole(it.requests, asked or asking())
    return whole(it.responses, response(1, offered))


def test_the_first_client_waits_for_the_broker(fed: Fed) -> None:
    it = session(Offers())
    fed(it.requests, asking())
    assert it.early_response == b""
    assert fed(it.responses, response(1, offering())) == response(1, offering())


def test_the_next_client_is_told_at_once_and_the_broker_is_asked(fed: Fed, offers: Offers, lasting: bytes) -> None:
    it = session(offers)
    assert fed(it.requests, asking(7, client=b"another")) == asking(7, client=b"another")
    assert it.early_response == response(7, offering())
    assert not it.idle
    fed(it.requests, request(METADATA, 0, 8))
    nobody = response(8, struct.pack(">i", 0))
    assert fed(it.responses, response(7, lasting) + nobody) == nobody
    assert it.idle


def test_what_a_client_was_throttled_by_is_not_told_to_the_next() -> None:
    offers = Offers()
    answered(session(offers), offering(throttle=70))
    it = session(offers)
    whole(it.requests, asking(7))
    assert it.early_response == response(7, offering())


def test_the_newest_epoch_is_told(offers: Offers) -> None:
    answered(session(offers), offering(epoch=9))
    it = session(offers)
    whole(it.requests, asking(7))
    assert it.early_response == response(7, offering(epoch=9))


@pytest.mark.parametrize(
    "changed",
    [offering(11), offering(level=4), struct.pack(">h", 42) + offering()[2:]],
    ids=["versions", "a feature", "an error"],
)
def test_a_client_that_was_told_something_else_has_to_connect_again(fed: Fed, offers: Offers, changed: bytes) -> None:
    it = session(offers)
    fed(it.requests, asking())
    with pytest.raises(OutdatedAnswerError, match="other versions than before"):
        fed(it.responses, response(1, changed))
    for _ in range(2):
        later = session(offers)
        whole(later.requests, asking())
        assert later.early_response == b"", "a broker that contradicts itself is asked each time"
        assert whole(later.responses, response(1, changed)) == response(1, changed)


@pytest.mark.parametrize(
    "asked",
    [asking(version=4), asking(body=b"\x04app\x022\0"), asking(version=5), asking(version=9)],
    ids=["another version", "another library", "with an identity", "a version that is not known"],
)
def test_each_kind_of_request_has_its_own_answer(offers: Offers, asked: bytes) -> None:
    it = session(offers)
    whole(it.requests, asked)
    assert it.early_response == b""


@pytest.mark.parametrize("error", [42, 129], ids=["INVALID_REQUEST", "REBOOTSTRAP_REQUIRED"])
def test_an_error_is_answered_by_the_broker_each_time(error: int) -> None:
    offers = Offers()
    refused = struct.pack(">h", error) + b"\x01" + struct.pack(">i", 0) + b"\0"
    answered(session(offers), refused)
    it = session(offers)
    assert answered(it, refused) == response(1, refused)
    assert it.early_response == b""


def test_the_answer_of_a_broker_that_lacks_the_version_is_told(fed: Fed) -> None:
    """Its response is one of version 0 (KIP-511), and the client asks again on the same connection."""
    offers = Offers()
    old = struct.pack(">hi3h", 35, 1, API_VERSIONS, 0, 2)
    answered(session(offers), old)
    it = session(offers)
    fed(it.requests, asking(1))
    assert it.early_response == response(1, old)
    fed(it.requests, request(API_VERSIONS, 2, 2))
    second = struct.pack(">hi3hi", 0, 1, API_VERSIONS, 0, 2, 0)
    assert fed(it.responses, response(1, old) + response(2, second)) == response(2, second)


def test_only_the_first_request_is_answered_early(offers: Offers) -> None:
    """An admin client that changes features asks on its connection what they are now."""
    it = session(offers)
    whole(it.requests, asking(1))
    first = it.early_response
    whole(it.responses, response(1, offering()))
    whole(it.requests, asking(2))
    assert it.early_response == first
    assert whole(it.responses, response(2, offering(level=4))) == response(2, offering(level=4))


@pytest.mark.parametrize("of", [request(METADATA, 0, 1), request(FETCH, 4, 1)])
def test_a_connection_that_begins_otherwise_is_not_answered(offers: Offers, of: bytes) -> None:
    it = session(offers)
    whole(it.requests, of + asking(2))
    assert it.early_response == b""


@pytest.mark.parametrize(
    "asked",
    [struct.pack(">ihhi", 1 << 15, API_VERSIONS, 3, 1), asking()[:12] + struct.pack(">h", 500) + asking()[14:]],
    ids=["a long one is not buffered", "an unreadable one is the broker's to refuse"],
)
def test_a_request_that_is_not_read_passes(offers: Offers, asked: bytes) -> None:
    it = session(offers)
    assert whole(it.requests, asked) == asked
    assert it.early_response == b""


def test_nothing_is_sent_for_a_response_that_was_told(fed: Fed, offers: Offers) -> None:
    it = session(offers)
    fed(it.requests, asking(1))
    late = response(1, offering())
    assert [chunk for at in range(len(late)) for chunk in it.responses(memoryview(late)[at : at + 1])] == []


def test_entries_with_tagged_fields_are_read(fed: Fed) -> None:
    entries = b"\x03" + struct.pack(">hhh", FETCH, 4, 99) + b"\x01\x05\x02xx" + struct.pack(">hhhb", 999, 0, 1, 0)
    it = session(Offers())
    fed(it.requests, asking())
    told = b"\x02" + struct.pack(">hhhb", FETCH, 4, 15, 0)
    tail = struct.pack(">i", 0) + b"\0"
    assert fed(it.responses, response(1, b"\0\0" + entries + tail)) == response(1, b"\0\0" + told + tail)


def test_only_so_many_kinds_of_requests_are_remembered() -> None:
    offers = Offers()
    kinds = [asking(body=b"\x04app\x04%d\0" % number) for number in range(100, 200)]
    for asked in kinds:
        answered(session(offers), offering(), asked)

    def early(asked: bytes) -> bytes:
        it = session(offers)
        whole(it.requests, asked)
        return it.early_response

    told: Callable[[bytes], bool] = lambda asked: bool(early(asked))  # noqa: E731
    assert sum(map(told, kinds)) == 16
    assert told(kinds[-1])
