"""Rewrites four responses: the versions that a broker offers, and the brokers' endpoints.

Only the endpoints are parsed; all other bytes pass unchanged. So unknown error codes and tagged fields reach the
client, and the cost of a Metadata response does not grow with its topics. `body` starts after the correlation id, with
the tagged fields of the response header if there are any.

A node without an id, a host or a port means "not available yet" and passes unchanged. A node without a port of the
proxy is removed from the list, as a broker omits nodes without the listener; as a coordinator it becomes
COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from brokernat.address import Endpoint
from brokernat.wire import api
from brokernat.wire.api import HIDDEN_FEATURES, HIGHEST
from brokernat.wire.fields import Cursor, put_count, put_text, put_uvarint

Translate = Callable[[int, str, int], Endpoint | None]
"""Node id, advertised host and port -> the endpoint for the client; None if it has none."""

UNSUPPORTED: Final = -1
"""The version of an ApiVersions request that gets UNSUPPORTED_VERSION in a response of version 0 (KIP-511)."""

_Body = bytes | bytearray | memoryview
_COORDINATOR_NOT_AVAILABLE: Final = 15
_UNSUPPORTED_VERSION: Final = 35
_CONTROLLERS: Final = 2
_FEATURE_TAGS: Final = frozenset({0, 2})
_KNOWN_TAGS: Final = frozenset({0, 1, 2, 3})
_LARGEST_CACHED: Final = 8 << 10
"""The largest cached ApiVersions response, in bytes; those of Kafka 4.3 have 700."""


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


def _api_versions(body: _Body, version: int, translate: Translate) -> bytes:  # noqa: ARG001
    # Cached, because a broker sends the same response to every client, and it is the most expensive one to parse.
    return (_cached_allowed_versions if len(body) <= _LARGEST_CACHED else _allowed_versions)(bytes(body), version)


def _allowed_versions(body: bytes, version: int) -> bytes:
    """The versions that both the broker and the table allow. The response header never has tagged fields."""
    cursor = Cursor(body)
    error = cursor.i16()
    if version == UNSUPPORTED:
        error = _UNSUPPORTED_VERSION
    if error == _UNSUPPORTED_VERSION:
        version = 0
    flexible = version >= 3
    allowed: list[bytes] = []
    for _ in range(cursor.count(compact=flexible)):
        key, oldest, newest = cursor.i16(), cursor.i16(), cursor.i16()
        if flexible:
            cursor.tags()
        newest = min(newest, HIGHEST.get(key, -1))
        if oldest <= newest:
            allowed.append(struct.pack(">hhh", key, oldest, newest) + (b"\0" if flexible else b""))
    pieces = [struct.pack(">h", error), put_count(len(allowed), compact=flexible), *allowed]
    if version >= 1:
        start = cursor.skip(4)  # throttle time
        pieces.append(bytes(cursor.data[start : cursor.at]))
    if flexible:
        pieces.append(_known_tags(cursor))
    return b"".join(pieces)


_cached_allowed_versions: Final = lru_cache(maxsize=32)(_allowed_versions)


def _known_tags(cursor: Cursor) -> bytes:
    """The tagged fields of ApiVersions: supported and finalized features, their epoch, ZooKeeper migration."""
    kept: list[bytes] = []
    for _ in range(cursor.uvarint()):
        tag, size = cursor.uvarint(), cursor.uvarint()
        start = cursor.skip(size)
        value = bytes(cursor.data[start : cursor.at])
        if tag in _FEATURE_TAGS:
            value = _features(value)
        if tag in _KNOWN_TAGS:
            kept.append(put_uvarint(tag) + put_uvarint(len(value)) + value)
    return put_uvarint(len(kept)) + b"".join(kept)


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


REWRITERS: Final[Mapping[int, Callable[[_Body, int, Translate], bytes]]] = MappingProxyType({
    api.METADATA: _metadata,
    api.FIND_COORDINATOR: _find_coordinator,
    api.API_VERSIONS: _api_versions,
    api.DESCRIBE_CLUSTER: _describe_cluster,
})  # fmt: skip
"""By key: body, version, translate -> the body for the client. Raise MessageError."""
