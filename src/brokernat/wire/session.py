"""One client connection and its broker connection: frames, requests in flight, allowed versions.

Bytes arrive in chunks of any size and leave as slices of these chunks. Only the first bytes of a frame are parsed: a
frame is forwarded while it arrives, except for the few that are rewritten, which are buffered until complete. A length
is checked before buffering, and memory is used only for bytes that have arrived.

A response has no API key, so requests are queued and responses matched in order; brokers answer the requests of a
connection in order. The correlation id is checked. Four requests are special:

- `ApiVersions` may be answered from memory if it is the first request; the broker's response is then compared.
- `Produce` with `acks=0` has no response, so it is not queued; `acks` follows the client id and the transactional id.
- `ApiVersions` of an unknown version is sent as version 0, and the response is UNSUPPORTED_VERSION, as from a broker
  (KIP-511). Otherwise newer clients could not learn the allowed versions.
- `SaslHandshake` 0 is followed by tokens without Kafka's header. Their number depends on the mechanism. The first frame
  is always a token; a later one that begins with a zero byte is a request, because keys are small.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections import deque
from typing import Final

from brokernat.wire import api
from brokernat.wire.api import HIGHEST, refusal_reason, request_name
from brokernat.wire.fields import (
    Cursor,
    DownstreamProtocolError,
    MessageError,
    OutdatedAnswerError,
    UpstreamProtocolError,
)
from brokernat.wire.protocols import protocol_of_client, protocol_of_server
from brokernat.wire.rewriting import REWRITERS, UNSUPPORTED, Offer, Offers, Translate, offer

Chunk = bytes | bytearray | memoryview

_REQUEST: Final = struct.Struct(">ihhi")
_RESPONSE: Final = struct.Struct(">ii")
_LENGTH: Final = struct.Struct(">i")
_I16: Final = struct.Struct(">h")
_FIRST_FLEXIBLE_PRODUCE: Final = 9
_FIRST_TRANSACTIONAL_PRODUCE: Final = 3
_TOKEN: Final = -1
"""Stands for the API key of a SASL token, which has no header."""
_TOKENS: Final = {"PLAIN": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2, "OAUTHBEARER": 2}
_MOST_TOKENS: Final = 4
_READ: Final = REWRITERS.keys() | {api.API_VERSIONS}
"""The requests whose responses do not pass unchanged."""
_LONGEST_REMEMBERED: Final = 256
"""The most bytes before `acks` that a connection remembers; client ids may have 32 KiB."""
_LONGEST_FIRST: Final = 1 << 10
"""The size of the largest ApiVersions request that is read; that of kafka-clients has about 60 bytes."""
_LONGEST_HEADER: Final = 64 << 10
"""The most bytes of a request that are buffered: a client that has not logged in must not fill the memory."""


class _Frames(ABC):
    """One direction. `feed` forwards frames; `_begin_frame` decides by the first bytes of each what is sent."""

    def __init__(self) -> None:
        self._remaining = 0
        self._buffered = bytearray()
        self._bytes_needed = 0
        self._replacement: bytes | None = None
        self.had_frame = False
        """Whether the peer has sent a header of Kafka's."""

    @property
    def between_frames(self) -> bool:
        """Whether the last frame is complete and no byte of the next one has arrived."""
        return not self._remaining and not self._buffered

    @property
    def first_bytes(self) -> bytes:
        """The buffered bytes of a frame."""
        return bytes(self._buffered[:16])

    def feed(self, data: memoryview) -> list[Chunk]:
        """The bytes for the other side, including slices of `data`.

        Raises:
            WireError: the connection must be closed. Bytes before the fault are not sent, either.
        """
        end = len(data)
        if 0 < end <= self._remaining:
            # The middle of a forwarded frame: the most frequent case for a large frame.
            self._remaining -= end
            return [data]
        out: list[Chunk] = []
        at = start = 0
        while self._buffered:
            # A frame whose first bytes arrived with the last chunk, or a frame that is buffered until complete.
            step = min(self._bytes_needed - len(self._buffered), end - at)
            self._buffered += data[at : at + step]
            at = start = at + step
            if len(self._buffered) < self._bytes_needed:
                return out
            frame = self._buffered
            size = self._begin_frame(memoryview(frame), 0)
            if size < 0:
                # A copy, because a bytearray with an exported view cannot be resized.
                self._buffered, self._bytes_needed = bytearray(frame), -size
                continue
            replacement = self._replacement
            self._buffered, self._replacement = bytearray(), None
            if replacement != b"":
                out.append(frame[:size] if replacement is None else replacement)
            if size < len(frame):
                # A SASL token, which is shorter than the header of the expected message.
                return out + self.feed(memoryview(bytes(frame[size:]) + bytes(data[at:])))
            self._remaining = size - len(frame)
        if self._remaining:
            step = min(self._remaining, end - at)
            at += step
            self._remaining -= step
        while at < end:
            size = self._begin_frame(data, at)
            if size < 0:
                self._bytes_needed = -size
                self._buffered += data[at:]
                break
            if self._replacement is not None:
                if at > start:
                    out.append(data[start:at])
                if self._replacement:
                    out.append(self._replacement)
                self._replacement = None
                at = start = at + size
            else:
                step = min(size, end - at)
                at += step
                self._remaining = size - step
        if at > start:
            out.append(data[start:at])
        return out

    @abstractmethod
    def _begin_frame(self, data: memoryview, at: int) -> int:
        """Decide what is sent for the frame that begins at this position.

        Returns:
            The size of the frame including the length field; or, if more bytes are needed to decide, the number of
            needed bytes as a negative value. If other bytes, or none, are sent instead of the frame, `_replacement` is
            set, and the frame is complete.
        """


class Session:
    """Both directions of one connection, and the requests in flight.

    Args:
        translate: returns the endpoint that the client receives for a broker.
        max_frame: the largest request, and the largest response that is rewritten, in bytes.
        offers: what this broker has answered to earlier clients; without it each waits for its own answer.
        had_request: whether the client has already sent requests, as on a connection from another process.
    """

    def __init__(
        self, translate: Translate, max_frame: int, offers: Offers | None = None, *, had_request: bool = False
    ) -> None:
        self._in_flight: deque[tuple[int, int, int]] = deque()
        self._sasl = _Sasl()
        self._first = _FirstRequest(offers)
        self._requests = _Requests(self._in_flight, self._sasl, self._first, max_frame)
        self._responses = _Responses(self._in_flight, self._sasl, self._first, translate, max_frame)
        self._requests.had_frame = self._responses.had_frame = had_request
        self._requests.only_asked = not had_request
        self.requests = self._requests.feed
        """Bytes from the client -> bytes for the broker. Raises DownstreamProtocolError."""
        self.responses = self._responses.feed
        """Bytes from the broker -> bytes for the client. Raises UpstreamProtocolError, OutdatedAnswerError."""

    @property
    def early_response(self) -> bytes:
        """The response to the first request, if it is known before the broker's."""
        return self._first.response

    @property
    def in_flight(self) -> int:
        """The number of requests whose response has not begun."""
        return len(self._in_flight)

    @property
    def had_request(self) -> bool:
        """Whether the client has sent a request."""
        return self._requests.had_frame

    @property
    def only_asked(self) -> bool:
        """Whether the client has sent nothing but requests whose responses are read here: they leave no state."""
        return self._requests.only_asked

    @property
    def between_requests(self) -> bool:
        return self._requests.between_frames

    @property
    def idle(self) -> bool:
        """Whether the connection can be closed without loss: every request has its complete response."""
        return not self._in_flight and self._requests.between_frames and self._responses.between_frames

    @property
    def transferable(self) -> bool:
        """Whether another process can continue this connection: it is idle, and no login is in progress."""
        return self.had_request and self.idle and not self._sasl.tokens_left

    @property
    def first_bytes(self) -> bytes:
        """The client's bytes that do not contain a complete request header yet."""
        return self._requests.first_bytes


class _Sasl:
    """The exchange of SASL tokens without a header: counts the tokens that the client may still send."""

    def __init__(self) -> None:
        self.mechanism = ""
        self.tokens_left = 0
        self.first = False

    def begin(self) -> None:
        self.tokens_left, self.first = _TOKENS.get(self.mechanism, _MOST_TOKENS), True


class _FirstRequest:
    """The first request of a connection if it is ApiVersions, and what the client is told before the broker answers."""

    def __init__(self, offers: Offers | None) -> None:
        self._offers = offers
        self._request: tuple[int, bytes] | None = None
        self._told: Offer | None = None
        self.response = b""

    def asked(self, frame: memoryview, version: int, correlation: int) -> None:
        """The client has sent this request."""
        if self._offers is None:
            return
        cursor = Cursor(frame, _REQUEST.size)
        try:
            cursor.text(compact=False)  # client id
        except MessageError:
            # The broker will close the connection.
            return
        self._request = version, bytes(frame[cursor.at :])
        self._told = self._offers.known(self._request)
        if self._told is not None:
            self.response = _response(correlation, self._told.body())

    def answered(self, answer: Offer) -> bool:
        """The broker has sent this response to its first request; returns whether the client has already been told."""
        if self._offers is None or self._request is None:
            return False
        told, request = self._told, self._request
        self._request = None
        if not self._offers.heard(request, answer, told):
            raise OutdatedAnswerError("the broker offers other versions than before")
        return told is not None


class _Requests(_Frames):
    def __init__(
        self, in_flight: deque[tuple[int, int, int]], sasl: _Sasl, first: _FirstRequest, max_frame: int
    ) -> None:
        super().__init__()
        self._in_flight = in_flight
        self._sasl = sasl
        self._first = first
        self._max_frame = max_frame
        self.only_asked = True
        self._before_acks = b""
        self._produce_version = -1

    def _begin_frame(self, data: memoryview, at: int) -> int:
        if self._sasl.tokens_left and (token := self._token(data[at:])):
            return token
        available = len(data) - at
        if available < _LENGTH.size:
            return -_LENGTH.size
        length: int = _LENGTH.unpack_from(data, at)[0]
        size = length + _LENGTH.size
        if not _REQUEST.size <= size <= self._max_frame:
            raise self._invalid_request(data[at:], f"a request of {length} bytes")
        if available < _REQUEST.size:
            return -_REQUEST.size
        _, key, version, correlation = _REQUEST.unpack_from(data, at)
        if not 0 <= version <= HIGHEST.get(key, -1):
            if key == api.API_VERSIONS and version > 0:
                return self._unsupported(data[at:], size, correlation)
            raise self._invalid_request(data[at:], f"{request_name(key, version)}: {refusal_reason(key)}")
        if key not in _READ:
            self.only_asked = False
        if key == api.PRODUCE:
            try:
                if not self._acks(data, at, size, version):
                    return size
            except MessageError as error:
                return self._need_more(data[at:], size, error)
        elif key == api.SASL_HANDSHAKE and version == 0:
            try:
                self._sasl.mechanism = _mechanism(data[at : at + size])
            except MessageError as error:
                return self._need_more(data[at:], size, error)
        elif key == api.API_VERSIONS and not self.had_frame and size <= _LONGEST_FIRST:
            if available < size:
                return -size
            self._first.asked(data[at : at + size], version, correlation)
        self.had_frame = True
        self._in_flight.append((correlation, key, version))
        return size

    def _acks(self, data: memoryview, at: int, size: int, version: int) -> int:
        """The `acks` of the request at this position. What stands before it is the same in each request of a client."""
        start = at + _REQUEST.size
        end = start + len(self._before_acks)
        if (
            version == self._produce_version
            and data[start:end] == self._before_acks
            and end + 2 <= min(at + size, len(data))
        ):
            known: int = _I16.unpack_from(data, end)[0]
            return known
        request = data[at : at + size]
        cursor = Cursor(request, _REQUEST.size)
        cursor.text(compact=False)  # client id: never compact (KIP-482)
        flexible = version >= _FIRST_FLEXIBLE_PRODUCE
        if flexible:
            cursor.tags()
        if version >= _FIRST_TRANSACTIONAL_PRODUCE:
            cursor.text(compact=flexible)
        if cursor.at <= _LONGEST_REMEMBERED:
            self._before_acks, self._produce_version = bytes(request[_REQUEST.size : cursor.at]), version
        return cursor.i16()

    def _token(self, data: memoryview) -> int:
        """As `_begin_frame` for a SASL token; returns 0 if this is a request."""
        if len(data) < _LENGTH.size:
            return -_LENGTH.size
        length: int = _LENGTH.unpack_from(data)[0]
        if not 0 <= length <= self._max_frame - _LENGTH.size:
            raise self._invalid_request(data, f"a SASL token of {length} bytes")
        if length and not self._sasl.first:
            if len(data) == _LENGTH.size:
                return -_LENGTH.size - 1
            if data[_LENGTH.size] == 0:
                self._sasl.tokens_left = 0
                # The last token of Kerberos has no response.
                self._in_flight.clear()
                return 0
        self._sasl.first = False
        self._sasl.tokens_left -= 1
        self._in_flight.append((0, _TOKEN, 0))
        return _LENGTH.size + length

    def _unsupported(self, data: memoryview, size: int, correlation: int) -> int:
        if size > _LONGEST_HEADER:
            raise self._invalid_request(data, f"an ApiVersions request of {size - _LENGTH.size} bytes")
        cursor = Cursor(data[:size], _REQUEST.size)
        try:
            cursor.text(compact=False)  # client id
        except MessageError as error:
            return self._need_more(data, size, error)
        if len(data) < size:
            return -size
        header = struct.pack(">ihhi", cursor.at - _LENGTH.size, api.API_VERSIONS, 0, correlation)
        self._replacement = header + bytes(data[_REQUEST.size : cursor.at])
        self.had_frame = True
        self._in_flight.append((correlation, api.API_VERSIONS, UNSUPPORTED))
        return size

    def _need_more(self, data: memoryview, size: int, error: MessageError) -> int:
        """As `_begin_frame` for an incomplete header: twice the bytes are needed, so that it is parsed few times."""
        if not error.short or len(data) >= min(size, _LONGEST_HEADER):
            raise self._invalid_request(data, f"an unreadable request: {error}")
        return -min(size, 2 * len(data))

    def _invalid_request(self, data: memoryview, fault: str) -> DownstreamProtocolError:
        protocol = "" if self.had_frame else protocol_of_client(bytes(data[:16]))
        return DownstreamProtocolError(f"{protocol} instead of Kafka" if protocol else fault)


class _Responses(_Frames):
    def __init__(
        self,
        in_flight: deque[tuple[int, int, int]],
        sasl: _Sasl,
        first: _FirstRequest,
        translate: Translate,
        max_frame: int,
    ) -> None:
        super().__init__()
        self._in_flight = in_flight
        self._sasl = sasl
        self._first = first
        self._translate = translate
        self._max_frame = max_frame

    def _begin_frame(self, data: memoryview, at: int) -> int:
        expected, key, version = self._in_flight[0] if self._in_flight else (0, 0, 0)
        if key == _TOKEN:
            return self._token(data[at:])
        available = len(data) - at
        if available < _RESPONSE.size:
            # The alert of a TLS broker, its whole response to plain bytes, has seven bytes.
            if not self.had_frame and protocol_of_server(bytes(data[at:])):
                raise self._invalid_response(data[at:], "")
            return -available - 1
        length, correlation = _RESPONSE.unpack_from(data, at)
        if not self._in_flight:
            raise self._invalid_response(data[at:], "a response without a request")
        size: int = length + _LENGTH.size
        if size < _RESPONSE.size:
            raise self._invalid_response(data[at:], f"a response of {length} bytes")
        if correlation != expected:
            raise self._invalid_response(data[at:], f"a response to request {correlation}, expected {expected}")
        body = at + _RESPONSE.size
        if key in _READ:
            if size > self._max_frame:
                raise self._invalid_response(data[at:], f"a response of {length} bytes to {request_name(key, version)}")
            if available < size:
                return -size
            self._rewrite(data[body : at + size], expected, key, version)
        elif key == api.SASL_HANDSHAKE and version == 0:
            if available < _RESPONSE.size + 2:
                return -_RESPONSE.size - 2
            if not any(data[body : body + 2]):
                self._sasl.begin()
        self._in_flight.popleft()
        self.had_frame = True
        return size

    def _token(self, data: memoryview) -> int:
        if len(data) < _LENGTH.size:
            return -_LENGTH.size
        length: int = _LENGTH.unpack_from(data)[0]
        if length < 0:
            raise self._invalid_response(data, f"a SASL token of {length} bytes")
        self._in_flight.popleft()
        return _LENGTH.size + length

    def _rewrite(self, body: memoryview, correlation: int, key: int, version: int) -> None:
        try:
            if key == api.API_VERSIONS:
                answer = offer(body, version)
                written = b"" if self._first.answered(answer) else answer.body()
            else:
                written = REWRITERS[key](body, version, self._translate)
        except MessageError as error:
            raise UpstreamProtocolError(f"an unreadable response to {request_name(key, version)}: {error}") from None
        self._replacement = _response(correlation, written) if written else b""

    def _invalid_response(self, data: memoryview, fault: str) -> UpstreamProtocolError:
        protocol = "" if self.had_frame else protocol_of_server(bytes(data[:16]))
        return UpstreamProtocolError(f"{protocol} instead of Kafka" if protocol else fault)


def _response(correlation: int, body: bytes) -> bytes:
    return _RESPONSE.pack(_LENGTH.size + len(body), correlation) + body


def _mechanism(request: memoryview) -> str:
    cursor = Cursor(request, _REQUEST.size)
    cursor.text(compact=False)  # client id
    return (cursor.text(compact=False) or b"").decode("utf-8", "replace")
