"""What a new client waits for: connect, ApiVersions, Metadata, by plain sockets and the bytes of kafka-clients 4.3."""

from __future__ import annotations

import socket
import struct
import time

from brokernat.address import Endpoint

_TIMEOUT = 30
_METADATA, _API_VERSIONS = 3, 18


def connect(at: Endpoint, topic: str, times: int) -> float:
    """Seconds for `times` connections, one after the other."""
    versions = _request(_API_VERSIONS, 4, _text("apache-kafka-java") + _text("4.3.1") + b"\0")
    # One topic by its name, not to be created, without authorized operations.
    metadata = _request(_METADATA, 13, b"\x02" + bytes(16) + _text(topic) + b"\0" + b"\0\0" + b"\0")
    began = time.perf_counter()
    for _ in range(times):
        with socket.create_connection((at.host, at.port), _TIMEOUT) as connection:
            for request in (versions, metadata):
                connection.sendall(request)
                _response(connection)
    return time.perf_counter() - began


def _text(value: str) -> bytes:
    """A compact string (KIP-482)."""
    return bytes([len(value) + 1]) + value.encode()


def _request(api: int, version: int, body: bytes) -> bytes:
    head = struct.pack(">hhih", api, version, 1, 5) + b"bench" + b"\0"
    return struct.pack(">i", len(head + body)) + head + body


def _response(connection: socket.socket) -> None:
    received = bytearray()
    while len(received) < 4 or len(received) < 4 + struct.unpack_from(">i", received)[0]:
        data = connection.recv(1 << 16)
        if not data:
            raise ConnectionError("the connection ended within a response")
        received += data
