"""Requests and responses as bytes, fed whole or byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from brokernat.address import Endpoint
from brokernat.wire import Session
from brokernat.wire.session import Chunk

PRODUCE, FETCH, METADATA, FIND_COORDINATOR, SASL_HANDSHAKE, API_VERSIONS, DESCRIBE_CLUSTER = 0, 1, 3, 10, 17, 18, 60
MOST = 1 << 16
TOLD = Endpoint("p", 20001)

Feed = Callable[[memoryview], list[Chunk]]


def session() -> Session:
    return Session(lambda *_: TOLD, MOST)


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def request(key: int, version: int, correlation: int, body: bytes = b"", *, tags: bool = False) -> bytes:
    header = struct.pack(">hhih", key, version, correlation, 2) + b"me"
    return frame(header + (b"\0" if tags else b"") + body)


def response(correlation: int, body: bytes = b"") -> bytes:
    return frame(struct.pack(">i", correlation) + body)


def whole(feed: Feed, sent: bytes) -> bytes:
    return b"".join(bytes(chunk) for chunk in feed(memoryview(sent)))


def byte_by_byte(feed: Feed, sent: bytes) -> bytes:
    return b"".join(whole(feed, sent[at : at + 1]) for at in range(len(sent)))


def in_parts(feed: Feed, sent: bytes) -> bytes:
    return b"".join(whole(feed, sent[at : at + 1000]) for at in range(0, len(sent), 1000))


@pytest.fixture(params=[whole, byte_by_byte])
def fed(request: pytest.FixtureRequest) -> Callable[[Feed, bytes], bytes]:
    feeding: Callable[[Feed, bytes], bytes] = request.param
    return feeding


Fed = Callable[[Feed, bytes], bytes]
