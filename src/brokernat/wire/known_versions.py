"""ApiVersions responses that a broker has sent before: a new connection gets them at once.

A client waits for ApiVersions before it sends anything else, on every connection. The request is forwarded all the
same, and the broker's response must be the known one. If it is not, the broker has been upgraded or configured anew:
the connection is closed, and the client connects again. So a client is never left with versions that do not hold.

A response depends on the version of the request and on what follows the client id in it: the client's name and version
(KIP-511), and the cluster and node that it expects (KIP-1242).
"""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass
from typing import Final

from brokernat.wire.fields import Cursor

_MOST: Final = 64
"""The most responses of a broker that are remembered: clients choose their names and versions."""
_LARGEST: Final = 8 << 10
"""The largest one, in bytes; those of Kafka 4.3 have 700."""
_VERSION: Final = 6
_CLIENT_ID: Final = 12
_I16: Final = struct.Struct(">h")


@dataclass(frozen=True, slots=True)
class KnownResponse:
    """A response after the correlation id, as the broker sends it and as the client gets it."""

    received: bytes
    rewritten: bytes


Known = dict[bytes, KnownResponse]
"""The responses of one broker by `question`."""


class Asked:
    """The ApiVersions requests in flight on a connection, in order, with what the client was told at once."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._in_flight: deque[tuple[bytes, KnownResponse | None]] = deque()

    def add(self, question: bytes, *, alone: bool) -> KnownResponse | None:
        """A request is forwarded. Returns what to tell the client at once: only if no other response is due before."""
        known = self._known.get(question) if alone else None
        self._in_flight.append((question, known))
        return known

    def settle(self, received: bytes) -> bool | None:
        """A response has arrived: whether the client was told the same; None if it was told nothing."""
        question, told = self._in_flight[0]
        if told is None:
            return None
        self._in_flight.popleft()
        if told.received == received:
            return True
        if self._known.get(question) is told:
            del self._known[question]
        return False

    def learn(self, version: int, received: bytes, rewritten: bytes) -> None:
        """A response was rewritten for the client."""
        question, _ = self._in_flight.popleft()
        if question and len(received) <= _LARGEST and _is_lasting(received, version):
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[question] = KnownResponse(received, rewritten)


def question(request: memoryview) -> bytes:
    """What the response to an ApiVersions request depends on; empty if the request is incomplete or unreadable."""
    if len(request) < _CLIENT_ID + _I16.size:
        return b""
    length: int = _I16.unpack_from(request, _CLIENT_ID)[0]
    return bytes(request[_VERSION : _VERSION + 2]) + bytes(request[_CLIENT_ID + _I16.size + max(length, 0) :])


def _is_lasting(response: bytes, version: int) -> bool:
    """Whether a response holds for other connections: no error, and no quota delays it."""
    cursor = Cursor(response)
    if cursor.i16():
        return False
    flexible = version >= 3
    for _ in range(cursor.count(compact=flexible)):
        cursor.skip(6)
        if flexible:
            cursor.tags()
    return version < 1 or not cursor.i32()
