"""What a new client waits for: connect, ApiVersions, Metadata, by plain sockets and bytes that are made beforehand."""

from __future__ import annotations

import socket
import struct
import time

from brokernat.address import Endpoint

_TIMEOUT = 30


def connect(at: Endpoint, topic: str, times: int) -> float:
    """Seconds for `times` connections, one after the other."""
    versions = _request(18, 0, b"")
    metadata = _request(3, 8, struct.pack(">ih", 1, len(topic)) + topic.encode() + b"\0\0\0")
    began = time.perf_counter()
    for _ in range(times):
        with socket.create_connection((at.host, at.port), _TIMEOUT) as connection:
            for request in (versions, metadata):
                connection.sendall(request)
                _response(connection)
    return time.perf_counter() - began


def _request(api: int, version: int, body: bytes) -> bytes:
    head = struct.pack(">hhih", api, version, 1, 5) + b"bench"
    return struct.pack(">i", len(head + body)) + head + body


def _response(connection: socket.socket) -> None:
    received = bytearray()
    while len(received) < 4 or len(received) < 4 + struct.unpack_from(">i", received)[0]:
        data = connection.recv(1 << 16)
        if not data:
            raise ConnectionError("the connection ended within a response")
        received += data
