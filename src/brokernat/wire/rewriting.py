"""Rewrites four responses: the versions that a broker offers, and the brokers' endpoints.

Only the endpoints are parsed; all other bytes pass unchanged. So unknown error codes and tagged fields reach the
client, and the cost of a Metadata response does not grow with its topics. `body` starts after the correlation id, with
the tagged fields of the response header if there are any.

A node without an id, a host or a port means "not available yet" and passes unchanged. A node without a port of the
proxy is removed from the list, as a broker omits nodes without the listener; as a coordinator it becomes
COORDINATOR_NOT_AVAILABLE.

A broker offers every client the same versions, and a client waits for them before it sends anything else. So the answer
to the first request of a connection is remembered, and the next client is told at once; the broker is asked
nevertheless, and the connection ends if it answers something else. The offset that the features were read at
(`finalized_features_epoch`, KIP-584) grows twice a second and changes nothing for a client.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from brokernat.address import Endpoint
from brokernat.wire import api
from brokernat.wire.api import HIDDEN_FEATURES, HIGHEST
from brokernat.wire.fields import Cursor, MessageError, put_count, put_text, put_uvarint

Translate = Callable[[int, str, int], Endpoint | None]
"""Node id, advertised host and port -> the endpoint for the client; None if it has none."""

UNSUPPORTED: Final = -1
"""The version of an ApiVersions request that gets UNSUPPORTED_VERSION in a response of version 0 (KIP-511)."""

_Body = bytes | bytearray | memoryview
_COORDINATOR_NOT_AVAILABLE: Final = 15
_CONTROLLERS: Final = 2
_UNSUPPORTED_VERSION: Final = 35
_LASTING: Final = (struct.pack(">h", 0), struct.pack(">h", _UNSUPPORTED_VERSION))
_SUPPORTED_FEATURES, _EPOCH, _FEATURES, _MIGRATION = 0, 1, 2, 3
_FEATURE_TAGS: Final = frozenset({_SUPPORTED_FEATURES, _FEATURES})
_KNOWN_TAGS: Final = frozenset({_SUPPORTED_FEATURES, _EPOCH, _FEATURES, _MIGRATION})
_ENTRY: Final = struct.Struct(">hhh")
_LARGEST_CACHED: Final = 8 << 10
"""The largest cached part of a response, in bytes; the versions of Kafka 4.3 have 550."""
_MOST_REQUESTS: Final = 16
"""As many versions of client libraries are remembered, because clients send their name and version (KIP-511)."""


def _metadata(body: _Body, version: int, translate: Translate) -> bytes:
    flexible = version >= 9
    cursor = Cursor(body)
    if flexible:
        cursor.tags()
    if version >= 3:
        cursor.skip(4)  # throttle time
    return _with_nodes(cursor, translate, flexible=flexible, rack=version >= 1)


def _describe_cluster(body: _Body, version: int, translate: Translate) -> bytes:
    cursor = Cursor(body)
    cursor.tags()
    cursor.skip(4 + 2)  # throttle time, error code
    cursor.text(compact=True)  # error message
    # A controller may have the id of a broker and another endpoint (KIP-919), for which the proxy has no port.
    controllers = version >= 1 and cursor.i8() == _CONTROLLERS
    cursor.text(compact=True)  # cluster id
    cursor.skip(4)  # controller
    remove_all: Translate = lambda *_: None  # noqa: E731
    return _with_nodes(cursor, remove_all if controllers else translate, flexible=True, rack=True, fenced=version >= 2)


def _with_nodes(cursor: Cursor, translate: Translate, *, flexible: bool, rack: bool, fenced: bool = False) -> bytes:
    """The message with the array of nodes at the cursor replaced."""
    data, start = cursor.data, cursor.at
    count = cursor.count(compact=flexible)
    nodes: list[bytes] = []
    for _ in range(count):
        first = cursor.at
        node, after = _node(cursor, translate, flexible=flexible)
        if rack:
            cursor.text(compact=flexible)
        if fenced:
            cursor.skip(1)
        if flexible:
            cursor.tags()
        if after is not None:
            nodes.append((node or bytes(data[first:after])) + bytes(data[after : cursor.at]))
    length = put_count(count if count < 0 else len(nodes), compact=flexible)
    return b"".join((data[:start], length, *nodes, data[cursor.at :]))


def _node(cursor: Cursor, translate: Translate, *, flexible: bool) -> tuple[bytes, int | None]:
    """Reads and rewrites the id, host and port of a node.

    Returns:
        The new bytes, empty if the old ones stay; and the offset after the old ones, None if the node is removed.
    """
    node_id = cursor.i32()
    host = cursor.text(compact=flexible) or b""
    port = cursor.i32()
    if node_id < 0 or not host or port <= 0:
        return b"", cursor.at
    endpoint = translate(node_id, host.decode("utf-8", "replace"), port)
    if endpoint is None:
        return b"", None
    written = put_text(endpoint.host.encode(), compact=flexible)
    return struct.pack(">i", node_id) + written + struct.pack(">i", endpoint.port), cursor.at


def _find_coordinator(body: _Body, version: int, translate: Translate) -> bytes:
    flexible = version >= 3
    cursor = Cursor(body)
    if flexible:
        cursor.tags()
    if version >= 1:
        cursor.skip(4)  # throttle time
    if version >= 4:
        return _with_coordinators(cursor, translate)
    error = cursor.skip(2)
    if version >= 1:
        cursor.text(compact=flexible)  # error message
    first = cursor.at
    node, after = _node(cursor, translate, flexible=flexible)
    if after is None:
        node = _no_node(compact=flexible)
    code = struct.pack(">h", _COORDINATOR_NOT_AVAILABLE) if after is None else body[error : error + 2]
    return b"".join((body[:error], code, body[error + 2 : first], node or body[first : cursor.at], body[cursor.at :]))


def _with_coordinators(cursor: Cursor, translate: Translate) -> bytes:
    data, copied = cursor.data, 0
    pieces: list[_Body] = []
    for _ in range(cursor.count(compact=True)):
        cursor.text(compact=True)  # group or transactional id
        first = cursor.at
        node, after = _node(cursor, translate, flexible=True)
        error = cursor.skip(2)
        cursor.text(compact=True)  # error message
        cursor.tags()
        if after is None:
            pieces += (data[copied:first], _no_node(compact=True), struct.pack(">h", _COORDINATOR_NOT_AVAILABLE))
            copied = error + 2
        elif node:
            pieces += (data[copied:first], node)
            copied = after
    return b"".join((*pieces, data[copied:]))


def _no_node(*, compact: bool) -> bytes:
    """Id, host and port of "no coordinator"."""
    return struct.pack(">i", -1) + put_text(b"", compact=compact) + struct.pack(">i", -1)


REWRITERS: Final[Mapping[int, Callable[[_Body, int, Translate], bytes]]] = MappingProxyType({
    api.METADATA: _metadata,
    api.FIND_COORDINATOR: _find_coordinator,
    api.DESCRIBE_CLUSTER: _describe_cluster,
})  # fmt: skip
"""By key: body, version, translate -> the body for the client. Raise MessageError."""


# The versions.


@dataclass(frozen=True, slots=True)
class Offer:
    """The parts of an ApiVersions response for a client, each as bytes; what its version lacks is empty or None.

    `versions` begins with the error code.
    """

    versions: bytes
    throttle: bytes
    tags: tuple[tuple[int, bytes], ...] | None

    def body(self) -> bytes:
        """The response after the correlation id."""
        if self.tags is None:
            return self.versions + self.throttle
        tags = [put_uvarint(tag) + put_uvarint(len(value)) + value for tag, value in self.tags]
        return b"".join((self.versions, self.throttle, put_uvarint(len(tags)), *tags))

    @property
    def lasting(self) -> bool:
        """Whether the next client will be answered the same: another error depends on the request, or on the moment."""
        return self.versions.startswith(_LASTING)

    def means_the_same(self, other: Offer) -> bool:
        return self.versions == other.versions and _without_epoch(self.tags) == _without_epoch(other.tags)


class Offers:
    """What one broker has answered last to the first request of a connection.

    A request is its version and what follows the client id. A broker that has contradicted itself is asked each time
    from then on: behind its endpoint may be several.
    """

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[int, bytes], Offer] = OrderedDict()
        self._contradicted = False

    def known(self, request: tuple[int, bytes]) -> Offer | None:
        return self._last.get(request)

    def heard(self, request: tuple[int, bytes], answer: Offer, told: Offer | None) -> bool:
        """Remember the broker's answer; returns whether the client was told the same, if it was told anything."""
        if told is not None and not answer.means_the_same(told):
            self._contradicted = True
            self._last.clear()
            return False
        if not self._contradicted and answer.lasting and len(answer.versions) <= _LARGEST_CACHED:
            self._last[request] = replace(answer, throttle=bytes(len(answer.throttle)))
            self._last.move_to_end(request)
            if len(self._last) > _MOST_REQUESTS:
                self._last.popitem(last=False)
        return True


def offer(body: _Body, version: int) -> Offer:
    """What a client is offered. The response header never has tagged fields. Raises MessageError."""
    cursor = Cursor(body)
    error = cursor.i16()
    if version == UNSUPPORTED:
        error = _UNSUPPORTED_VERSION
    if error == _UNSUPPORTED_VERSION:
        version = 0
    flexible = version >= 3
    versions = struct.pack(">h", error) + _allowed_versions(cursor, flexible=flexible)
    throttle = b""
    if version >= 1:
        start = cursor.skip(4)
        throttle = bytes(body[start : cursor.at])
    return Offer(versions, throttle, _known_tags(cursor) if flexible else None)


def _allowed_versions(cursor: Cursor, *, flexible: bool) -> bytes:
    """The array at the cursor, cut to the allowed versions.

    It is the most expensive part of a connection's begin, and the same for every client. Without tagged fields, which
    brokers do not send, its entries are of one size: then it is known by its bytes.
    """
    count = max(0, cursor.count(compact=flexible))
    end = cursor.at + count * (_ENTRY.size + flexible)
    if end <= min(len(cursor.data), _LARGEST_CACHED):
        with suppress(MessageError):
            allowed = _cached_versions(bytes(cursor.data[cursor.at : end]), count, flexible=flexible)
            cursor.at = end
            return allowed
    return _versions(cursor, count, flexible=flexible)


def _versions(cursor: Cursor, count: int, *, flexible: bool) -> bytes:
    allowed: list[bytes] = []
    for _ in range(count):
        key, oldest, newest = _ENTRY.unpack_from(cursor.data, cursor.skip(_ENTRY.size))
        if flexible:
            cursor.tags()
        newest = min(newest, HIGHEST.get(key, -1))
        if oldest <= newest:
            allowed.append(_ENTRY.pack(key, oldest, newest) + (b"\0" if flexible else b""))
    return put_count(len(allowed), compact=flexible) + b"".join(allowed)


@lru_cache(maxsize=32)
def _cached_versions(entries: bytes, count: int, *, flexible: bool) -> bytes:
    return _versions(Cursor(entries), count, flexible=flexible)


def _known_tags(cursor: Cursor) -> tuple[tuple[int, bytes], ...]:
    """The tagged fields: supported and finalized features, their epoch, ZooKeeper migration."""
    kept: list[tuple[int, bytes]] = []
    for _ in range(cursor.uvarint()):
        tag, size = cursor.uvarint(), cursor.uvarint()
        start = cursor.skip(size)
        value = bytes(cursor.data[start : cursor.at])
        if tag in _KNOWN_TAGS:
            kept.append((tag, _allowed_features(value) if tag in _FEATURE_TAGS else value))
    return tuple(kept)


def _allowed_features(value: bytes) -> bytes:
    return (_cached_features if len(value) <= _LARGEST_CACHED else _features)(value)


def _features(value: bytes) -> bytes:
    cursor = Cursor(value)
    kept: list[bytes] = []
    for _ in range(cursor.count(compact=True)):
        start = cursor.at
        name = cursor.text(compact=True)
        cursor.skip(2 + 2)
        cursor.tags()
        if name not in HIDDEN_FEATURES:
            kept.append(value[start : cursor.at])
    return put_count(len(kept), compact=True) + b"".join(kept)


_cached_features: Final = lru_cache(maxsize=32)(_features)


def _without_epoch(tags: tuple[tuple[int, bytes], ...] | None) -> list[tuple[int, bytes]]:
    return [each for each in tags or () if each[0] != _EPOCH]
