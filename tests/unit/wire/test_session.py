"""Frames of both directions as bytes: what is noted, what passes, what ends a connection."""

from __future__ import annotations

import struct

import pytest
from tests.unit.wire.conftest import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    FETCH,
    FIND_COORDINATOR,
    METADATA,
    MOST,
    PRODUCE,
    SASL_HANDSHAKE,
    TOLD,
    Fed,
    frame,
    in_parts,
    request,
    response,
    session,
    whole,
)

from brokernat.address import Endpoint
from brokernat.wire import DownstreamProtocolError, Session, UpstreamProtocolError, WireError
from brokernat.wire import session as module


def node(node_id: int, host: bytes, port: int) -> bytes:
    return struct.pack(">ih", node_id, len(host)) + host + struct.pack(">i", port)


def test_requests_in_flight_are_answered_in_their_order(fed: Fed) -> None:
    it = session()
    asked = request(FETCH, 4, 1, b"x" * 40) + request(METADATA, 0, 2) + request(FETCH, 4, 3)
    assert fed(it.requests, asked) == asked
    assert it.in_flight == 3
    metadata = struct.pack(">i", 1) + node(1, b"kafka-1.hidden", 9092)
    told = struct.pack(">i", 1) + node(1, b"p", 20001)
    came = fed(it.responses, response(1, b"y" * 50) + response(2, metadata + b"topics") + response(3))
    assert came == response(1, b"y" * 50) + response(2, told + b"topics") + response(3)
    assert it.idle


def test_what_passes_is_a_slice_of_what_came() -> None:
    it = session()
    whole(it.requests, request(FETCH, 4, 1) + request(FETCH, 4, 2))
    buffer = memoryview(response(1, b"a" * 100) + response(2, b"b" * 100))
    (chunk,) = it.responses(buffer)
    assert isinstance(chunk, memoryview)
    assert chunk.obj is buffer.obj
    assert len(chunk) == len(buffer)


@pytest.mark.parametrize(
    ("version", "before", "tags"),
    [
        (0, b"", False),
        (2, b"", False),
        (3, b"\xff\xff", False),
        (7, b"\0\x02tx", False),
        (9, b"\0", True),
        (9, b"\x03tx", True),
    ],
)
@pytest.mark.parametrize("acks", [0, 1, -1])
def test_a_produce_request_without_acks_has_no_response(
    fed: Fed, version: int, before: bytes, tags: bool, acks: int
) -> None:
    it = session()
    asked = request(PRODUCE, version, 1, before + struct.pack(">h", acks) + b"records" * 30, tags=tags)
    assert fed(it.requests, asked + request(FETCH, 4, 2)) == asked + request(FETCH, 4, 2)
    assert it.in_flight == (1 if acks == 0 else 2)


def test_each_request_has_its_own_acks_whatever_the_one_before_it_had(fed: Fed) -> None:
    it = session()
    headers = [(9, b"\0", True), (9, b"\x03tx", True), (9, b"\x03ty", True), (7, b"\xff\xff", False), (2, b"", False)]
    waiting = 0
    for number, (version, before, tags) in enumerate(header for header in headers for _ in range(2)):
        for acks in (1, 0, -1, 0):
            asked = request(PRODUCE, version, number, before + struct.pack(">h", acks) + b"records", tags=tags)
            assert fed(it.requests, asked) == asked
            waiting += acks != 0
            assert it.in_flight == waiting


def test_a_request_that_ends_before_its_acks_is_refused_after_one_that_had_them() -> None:
    it = session()
    whole(it.requests, request(PRODUCE, 9, 1, b"\0\0\1", tags=True))
    with pytest.raises(DownstreamProtocolError, match="unreadable request"):
        whole(it.requests, request(PRODUCE, 9, 2, b"\0", tags=True) + request(FETCH, 4, 3))


def test_a_long_client_id_is_held_back_a_little_at_a_time(fed: Fed) -> None:
    it = session()
    name = b"n" * 3000
    asked = frame(struct.pack(">hhih", PRODUCE, 3, 1, len(name)) + name + b"\xff\xff\0\0" + b"r" * 500)
    assert fed(it.requests, asked) == asked
    assert it.in_flight == 0


def test_versions_of_the_future_are_answered_as_a_broker_answers_them(fed: Fed) -> None:
    it = session()
    asked = request(API_VERSIONS, 6, 5, b"\x04new\x05more\0", tags=True)
    assert fed(it.requests, asked) == request(API_VERSIONS, 0, 5)
    offered = struct.pack(">hi", 0, 3) + struct.pack(">9h", FETCH, 4, 18, API_VERSIONS, 0, 6, 999, 0, 1)
    told = struct.pack(">hi", 35, 2) + struct.pack(">6h", FETCH, 4, 15, API_VERSIONS, 0, 5)
    assert fed(it.responses, response(5, offered)) == response(5, told)


def test_an_unsupported_version_is_answered_in_the_form_of_version_0(fed: Fed) -> None:
    it = session()
    fed(it.requests, request(API_VERSIONS, 5, 1, tags=True))
    offered = struct.pack(">hi3h", 35, 1, API_VERSIONS, 0, 3)
    assert fed(it.responses, response(1, offered)) == response(1, offered)


def test_a_key_whose_oldest_version_does_not_pass_is_hidden(fed: Fed) -> None:
    it = session()
    fed(it.requests, request(API_VERSIONS, 0, 1))
    offered = struct.pack(">hi6h", 0, 2, FETCH, 16, 18, PRODUCE, 3, 13)
    assert fed(it.responses, response(1, offered)) == response(1, struct.pack(">hi3h", 0, 1, PRODUCE, 3, 9))


def test_what_a_broker_of_the_future_adds_to_its_versions_is_left_out(fed: Fed) -> None:
    it = session()
    fed(it.requests, request(API_VERSIONS, 3, 1, tags=True))
    offered = struct.pack(">hb", 0, 2) + struct.pack(">3hb", PRODUCE, 3, 9, 0) + struct.pack(">i", 0)
    epoch, unknown = b"\x01\x08" + bytes(8), b"\x09\x06kafka1"
    told = response(1, offered + b"\x01" + epoch)
    assert fed(it.responses, response(1, offered + b"\x02" + epoch + unknown)) == told


def test_features_that_need_a_version_that_is_not_offered_are_not_shown(fed: Fed) -> None:
    def supported(*names: bytes) -> bytes:
        features = [bytes((len(name) + 1,)) + name + struct.pack(">hhb", 0, 1, 0) for name in names]
        value = bytes((len(features) + 1,)) + b"".join(features)
        return bytes((1, 0, len(value))) + value

    it = session()
    fed(it.requests, request(API_VERSIONS, 3, 1, tags=True))
    offered = struct.pack(">hb", 0, 2) + struct.pack(">3hb", PRODUCE, 3, 9, 0) + struct.pack(">i", 0)
    sent = response(1, offered + supported(b"transaction.version", b"group.version", b"share.version"))
    assert fed(it.responses, sent) == response(1, offered + supported(b"group.version"))


@pytest.mark.parametrize(("kind", "told"), [(1, b"\x02" + struct.pack(">i", 1) + b"\x02p"), (2, b"\x01")])
def test_controllers_are_no_brokers(fed: Fed, kind: int, told: bytes) -> None:
    """They may have the ids of brokers and other endpoints (KIP-919)."""
    asked: list[str] = []

    def translate(node_id: int, host: str, port: int) -> Endpoint:
        asked.append(f"{node_id} {host}:{port}")
        return TOLD

    it = Session(translate, MOST)
    fed(it.requests, request(DESCRIBE_CLUSTER, 1, 1, tags=True))
    front = b"\0" + struct.pack(">ihBb", 0, 0, 0, kind) + b"\x03c1" + struct.pack(">i", 1)
    behind = b"\0\0" if kind == 1 else b""
    rest = struct.pack(">i", 0) + b"\0"
    nodes = b"\x02" + struct.pack(">i", 1) + b"\x02k" + struct.pack(">i", 9093) + b"\0\0"
    port = struct.pack(">i", TOLD.port) if kind == 1 else b""
    assert fed(it.responses, response(1, front + nodes + rest)) == response(1, front + told + port + behind + rest)
    assert asked == (["1 k:9093"] if kind == 1 else [])


def test_a_coordinator_without_a_port_of_the_proxy_is_not_available(fed: Fed) -> None:
    """COORDINATOR_NOT_AVAILABLE, which clients try again."""
    it = Session(lambda *_: None, MOST)
    fed(it.requests, request(FIND_COORDINATOR, 2, 1))
    there = struct.pack(">ihh", 0, 0, -1) + node(1, b"kafka-1", 9092)
    nowhere = struct.pack(">ihh", 0, 15, -1) + node(-1, b"", -1)
    assert fed(it.responses, response(1, there)) == response(1, nowhere)
    fed(it.requests, request(FIND_COORDINATOR, 4, 2, tags=True))
    front = b"\0" + struct.pack(">i", 0) + b"\x02\x06group"
    there = front + struct.pack(">i", 1) + b"\x08kafka-1" + struct.pack(">ih", 9092, 0) + b"\0\0\0"
    nowhere = front + struct.pack(">i", -1) + b"\x01" + struct.pack(">ih", -1, 15) + b"\0\0\0"
    assert fed(it.responses, response(2, there)) == response(2, nowhere)


MECHANISMS = {
    "PLAIN": [b"\0user\0password"],
    "SCRAM-SHA-256": [b"n,,n=user,r=abc", b"c=biws,r=abc,p=xyz"],
    "GSSAPI": [b"\x60\x82\x02", b"", b"\x05\x04\x04\xff"],
}


@pytest.mark.parametrize(("mechanism", "tokens"), MECHANISMS.items(), ids=MECHANISMS)
def test_tokens_without_a_header_pass_after_an_old_handshake(fed: Fed, mechanism: str, tokens: list[bytes]) -> None:
    it = session()
    name = struct.pack(">h", len(mechanism)) + mechanism.encode()
    fed(it.requests, request(SASL_HANDSHAKE, 0, 1, name))
    accepted = response(1, struct.pack(">hi", 0, 0))
    assert fed(it.responses, accepted) == accepted
    for token in tokens:
        assert fed(it.requests, frame(token)) == frame(token)
        if token != b"\x05\x04\x04\xff":
            assert fed(it.responses, frame(b"challenge")) == frame(b"challenge")
    # Kerberos' last token has no response; what comes next is a request.
    fed(it.requests, request(METADATA, 0, 2))
    metadata = struct.pack(">i", 1) + node(1, b"hidden", 9092)
    assert b"hidden" not in fed(it.responses, response(2, metadata))
    with pytest.raises(DownstreamProtocolError, match="Fetch v16"):
        fed(it.requests, request(FETCH, 16, 3))


def test_no_token_passes_after_a_handshake_that_was_refused(fed: Fed) -> None:
    it = session()
    fed(it.requests, request(SASL_HANDSHAKE, 0, 1, b"\0\x05PLAIN"))
    fed(it.responses, response(1, struct.pack(">hi", 33, 0)))
    with pytest.raises(DownstreamProtocolError):
        fed(it.requests, frame(b"\0user\0password"))


def test_a_mechanism_has_so_many_tokens_and_no_more(fed: Fed) -> None:
    it = session()
    fed(it.requests, request(SASL_HANDSHAKE, 0, 1, b"\0\x05PLAIN"))
    fed(it.responses, response(1, struct.pack(">hi", 0, 0)))
    fed(it.requests, frame(b"\0user\0password"))
    with pytest.raises(DownstreamProtocolError, match="unknown request 25444 v15730"):
        fed(it.requests, frame(b"cd=r" * 4))


@pytest.mark.parametrize("length", [MOST - 3, 2**31 - 1, -1])
def test_a_token_has_the_limit_of_a_request(fed: Fed, length: int) -> None:
    it = session()
    fed(it.requests, request(SASL_HANDSHAKE, 0, 1, b"\0\x05PLAIN"))
    fed(it.responses, response(1, struct.pack(">hi", 0, 0)))
    with pytest.raises(DownstreamProtocolError, match=f"a SASL token of {length} bytes"):
        fed(it.requests, struct.pack(">i", length))


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (request(FETCH, 16, 1), "Fetch v16: its response carries the endpoints of new leaders"),
        (request(78, 1, 1), "ShareFetch v1: its response"),
        (request(METADATA, 14, 1), "Metadata v14: versions above 13 are not known"),
        (request(METADATA, -1, 1), "Metadata v-1"),
        (request(10_000, 0, 1), "the unknown request 10000 v0"),
        (struct.pack(">ihhi", MOST, METADATA, 0, 1), f"a request of {MOST} bytes"),
        (struct.pack(">ihhi", MOST - 3, METADATA, 0, 1), f"a request of {MOST - 3} bytes"),
        (struct.pack(">ihhi", -5, METADATA, 0, 1), "a request of -5 bytes"),
        (struct.pack(">i", 3), "a request of 3 bytes"),
        (struct.pack(">i", 2**31 - 1), "a request of 2147483647 bytes"),
        (b"SSH-", "SSH instead of Kafka"),
        (frame(struct.pack(">hhih", PRODUCE, 3, 1, 500)), "an unreadable request"),
        (b"GET /topics HTTP/1.1\r\n", "HTTP instead of Kafka"),
    ],
)
def test_a_request_that_does_not_pass(fed: Fed, sent: bytes, words: str) -> None:
    it = session()
    with pytest.raises(DownstreamProtocolError) as error:
        fed(it.requests, sent)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (response(8), "a response to request 8, expected 7"),
        (struct.pack(">ii", 2, 7), "a response of 2 bytes"),
        (struct.pack(">ii", MOST, 7), f"a response of {MOST} bytes to Metadata v0"),
        (struct.pack(">ii", MOST - 3, 7), f"a response of {MOST - 3} bytes to Metadata v0"),
        (response(7, struct.pack(">i", 2**31 - 1)), "an array with more elements than bytes"),
        (response(7, struct.pack(">i", 1) + node(1, b"kafka", 9)[:-1]), "the message is too short"),
        (b"\x15\x03\x03\0\x02\x02\x46", "TLS instead of Kafka"),
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP instead of Kafka"),
        (b"-ERR unknown command\r\n", "Redis instead of Kafka"),
    ],
)
def test_a_response_that_does_not_pass(fed: Fed, sent: bytes, words: str) -> None:
    it = session()
    fed(it.requests, request(METADATA, 0, 7))
    with pytest.raises(UpstreamProtocolError) as error:
        fed(it.responses, sent)
    assert words in str(error.value)


def test_the_limit_itself_passes_with_its_length_counted(fed: Fed) -> None:
    it = session()
    sent = struct.pack(">ihhi", MOST - 4, METADATA, 0, 7)
    assert fed(it.requests, sent) == sent
    assert fed(it.responses, struct.pack(">ii", MOST - 4, 7)) == b""


def test_a_server_that_greets_is_named_before_a_request(fed: Fed) -> None:
    with pytest.raises(UpstreamProtocolError, match="SMTP or FTP instead of Kafka"):
        fed(session().responses, b"220 mail.example ESMTP\r\n")


def test_a_wrong_response_after_a_right_one_is_of_no_other_protocol(fed: Fed) -> None:
    """Its bytes may be those of any protocol; these are a frame of HTTP/2, too."""
    it = session()
    fed(it.requests, request(FETCH, 4, 1) + request(FETCH, 4, 2))
    with pytest.raises(UpstreamProtocolError, match="a response to request 0, expected 2"):
        fed(it.responses, response(1) + struct.pack(">ii", 0x1204, 0) + bytes(8))


def test_an_answer_to_no_request(fed: Fed) -> None:
    with pytest.raises(WireError, match="a response without a request"):
        fed(session().responses, response(1))


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (request(API_VERSIONS, 99, 1, bytes(1 << 20)), "an ApiVersions request of 1048588 bytes"),
        (request(PRODUCE, 9, 1, b"\x84\x80\x40" + bytes(1 << 20), tags=True), "an unreadable request: .* too short"),
    ],
    ids=["ApiVersions", "a transactional id of 1 MiB"],
)
def test_little_is_buffered_of_a_request(sent: bytes, fault: str) -> None:
    it = Session(lambda *_: TOLD, 100 << 20)
    with pytest.raises(DownstreamProtocolError, match=fault):
        in_parts(it.requests, sent[: 1 << 17])


def test_a_response_that_is_rewritten_is_buffered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    it = session()
    whole(it.requests, request(METADATA, 0, 1))
    bodies: list[memoryview] = []

    def rewrite(body: memoryview, *_: object) -> bytes:
        bodies.append(body)
        return b"rewritten"

    monkeypatch.setattr(module, "REWRITERS", {METADATA: rewrite})
    whole(it.responses, response(1, b"m" * 1000)[:900])
    held = it._responses._buffered
    assert whole(it.responses, b"m" * 108) == response(1, b"rewritten")
    assert [body.obj is held for body in bodies] == [True]


def test_nothing_is_kept_of_a_frame_that_passes() -> None:
    it = session()
    whole(it.requests, request(FETCH, 4, 1))
    head = struct.pack(">ii", 1 << 30, 1)
    assert whole(it.responses, head) == head
    for _ in range(100):
        assert len(whole(it.responses, b"r" * 1000)) == 1000
    assert not it.idle


def test_a_broker_that_answers_a_token_before_it_is_sent() -> None:
    """Found by the fuzz: what was held for the head of a response was longer than the token that it has become."""
    it = session()
    whole(it.requests, request(SASL_HANDSHAKE, 0, 7, struct.pack(">h", 5) + b"PLAIN"))
    whole(it.responses, response(7, b"\0\0"))
    assert whole(it.responses, frame(b"") + b"\0\0") == b""
    whole(it.requests, frame(b"\0me\0secret"))
    with pytest.raises(UpstreamProtocolError, match="a response without a request"):
        whole(it.responses, bytes(8))


def test_another_session_can_go_on_between_requests_and_not_within_a_login() -> None:
    it = session()
    assert not it.transferable
    whole(it.requests, request(METADATA, 1, 5))
    assert not it.transferable
    whole(it.responses, response(5, struct.pack(">iii", 0, 0, 0)))
    assert it.transferable
    assert whole(it.requests, request(METADATA, 1, 6)[:6]) == b""
    assert not it.transferable
    it = session()
    whole(it.requests, request(SASL_HANDSHAKE, 0, 7, struct.pack(">h", 5) + b"PLAIN"))
    whole(it.responses, response(7, b"\0\0"))
    assert it.idle
    assert not it.transferable
    whole(it.requests, frame(b"\0me\0secret"))
    whole(it.responses, frame(b""))
    assert it.transferable
