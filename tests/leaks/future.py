"""A broker that does not exist yet: keys and versions nobody knows, each answer full of its own endpoints, and tagged
fields that a later Kafka may define in answers of today.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.support.simulated_brokers import Simulated

API_VERSIONS, METADATA = 18, 3
NEWEST = 99
UNKNOWN_KEYS = (93, 120, 4000, 32767)
_KEYS = (*range(93), *UNKNOWN_KEYS)
_FLEXIBLE_METADATA = 9


@dataclass(frozen=True)
class FutureCluster(Simulated):
    """Speaks every version of every key, and puts `leak` wherever it may."""

    newest_metadata: int = NEWEST

    @property
    def leak(self) -> bytes:
        """All advertised endpoints as text."""
        return ",".join(map(str, self.advertised.values())).encode()

    def answer(self, node_id: int, request: bytes) -> bytes | None:
        """As a broker of today where Metadata is read by one, else bytes that hold endpoints."""
        api, version, correlation = struct.unpack_from(">hhi", request)
        if api == API_VERSIONS:
            body = self._offered(version)
        elif api == METADATA and version < _FLEXIBLE_METADATA:
            return super().answer(node_id, request)
        else:
            body = b"\0" + self.leak
        return struct.pack(">ii", len(body) + 4, correlation) + body

    def _offered(self, version: int) -> bytes:
        if version < 3:
            keys = b"".join(struct.pack(">hhh", key, 0, NEWEST) for key in _KEYS)
            return struct.pack(">hi", 0, len(_KEYS)) + keys + (struct.pack(">i", 0) if version else b"")
        leak = self._tag()
        keys = b"".join(struct.pack(">hhh", key, 0, NEWEST) + leak for key in _KEYS)
        return struct.pack(">h", 0) + _varint(len(_KEYS) + 1) + keys + struct.pack(">i", 0) + leak

    def _tag(self) -> bytes:
        """Tagged fields: one, with a number that no Kafka has given yet."""
        return _varint(1) + _varint(77) + _varint(len(self.leak)) + self.leak


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
