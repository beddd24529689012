"""Upstream addresses in what a client received. Pure: recorded bytes in, hits out.

The whole stream is searched, frame borders or not, so that an address in a field that nobody knows is found as well.
Frames are taken apart only to name the API of the response that holds a hit.

A host is searched as text and as 4 or 16 address bytes, a port as the text `:port`, as a big-endian int32 anywhere, and
as int32 or int16 right behind a host that clients are told: a rewritten host with the upstream's port. The ports of
`upstream.py` are above 43,000, and nothing that a client of these tests counts becomes so large. In random bytes a
needle of four bytes would be hit by chance once in 2**32 positions; `by_chance` is that figure for a recording.
"""

from __future__ import annotations

import ipaddress
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from brokernat.address import Endpoint

DESCRIBE_CONFIGS = 32
"""Returns the text of a broker's own `advertised.listeners`, which nobody dials: listed apart."""
_CONTEXT = 24


@dataclass
class Stream:
    """One connection of a client, as a recorder between it and the proxy saw it."""

    port: int
    """Where the client connected to."""
    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)

    @property
    def client_id(self) -> str:
        """Of the first request; empty without one."""
        for at, length in _frames(self.sent):
            (size,) = struct.unpack_from(">h", self.sent, at + 8) if length >= 10 else (-1,)
            return bytes(self.sent[at + 10 : at + 10 + max(0, size)]).decode(errors="replace")
        return ""

    def requests(self) -> dict[int, tuple[int, int]]:
        """API key and version of each request by its correlation id."""
        found = {}
        for at, length in _frames(self.sent):
            if length >= 8:
                api, version, correlation = struct.unpack_from(">hhi", self.sent, at)
                found[correlation] = (api, version)
        return found

    def responses(self) -> Iterator[tuple[int, int, tuple[int, int] | None]]:
        """Begin and end of each response, with API key and version of its request."""
        requests = self.requests()
        for at, length in _frames(self.received):
            (correlation,) = struct.unpack_from(">i", self.received, at) if length >= 4 else (-1,)
            yield at, at + length, requests.get(correlation)


@dataclass(frozen=True)
class Hit:
    """An upstream address in a stream; `api` is the key and version of the response that holds it."""

    needle: str
    offset: int
    api: tuple[int, int] | None
    context: bytes

    def __str__(self) -> str:
        api = f"API key {self.api[0]} version {self.api[1]}" if self.api else "no response of a known request"
        return f"{self.needle} at byte {self.offset}, {api}: {self.context!r}"


@dataclass(frozen=True)
class Needles:
    """What must not occur, by what it means."""

    patterns: Mapping[str, bytes]

    @classmethod
    def of(cls, upstream: Iterable[Endpoint], advertised: Sequence[str]) -> Needles:
        """Needles for the upstream's endpoints; `advertised` are the hosts that clients are told instead."""
        found: dict[str, bytes] = {}
        for endpoint in upstream:
            host, port = endpoint.host, endpoint.port
            found[f"host {host}"] = host.encode()
            if packed := _packed(host):
                found[f"address bytes of {host}"] = packed
            found[f"text :{port}"] = f":{port}".encode()
            found[f"port {port} as int32"] = struct.pack(">i", port)
            for other in advertised:
                found[f"port {port} as int16 behind {other}"] = other.encode() + struct.pack(">H", port)
        return cls(found)

    def hits(self, stream: Stream) -> list[Hit]:
        """Every needle in what the client received."""
        responses = list(stream.responses())
        received = bytes(stream.received)
        found = []
        for name, needle in self.patterns.items():
            for match in re.finditer(re.escape(needle), received):
                at = match.start()
                api = next((api for begin, end, api in responses if begin <= at < end), None)
                around = received[max(0, at - _CONTEXT) : at + len(needle) + _CONTEXT]
                found.append(Hit(name, at, api, around))
        return found

    def by_chance(self, size: int) -> float:
        """How many hits `size` random bytes would have."""
        return sum(size * 256.0 ** -len(needle) for needle in self.patterns.values())


@dataclass(frozen=True)
class Scan:
    """The outcome for one client."""

    bytes_received: int
    connections: int
    leaks: tuple[Hit, ...]
    settings: tuple[Hit, ...]
    """Hits in DescribeConfigs responses."""
    answered: Mapping[tuple[int, int], int]
    """Responses by API key and version."""
    by_chance: float

    def newest(self, api: int) -> int | None:
        """The newest version of an API that was answered."""
        return max((version for key, version in self.answered if key == api), default=None)


def scanned(streams: Sequence[Stream], needles: Needles) -> Scan:
    """Search all that a client received."""
    hits = [hit for stream in streams for hit in needles.hits(stream)]
    size = sum(len(stream.received) for stream in streams)
    return Scan(
        bytes_received=size,
        connections=len(streams),
        leaks=tuple(hit for hit in hits if not _is_setting(hit)),
        settings=tuple(hit for hit in hits if _is_setting(hit)),
        answered=Counter(api for stream in streams for *_, api in stream.responses() if api),
        by_chance=needles.by_chance(size),
    )


def _is_setting(hit: Hit) -> bool:
    return hit.api is not None and hit.api[0] == DESCRIBE_CONFIGS


def _frames(data: bytearray) -> Iterator[tuple[int, int]]:
    """Begin (behind the length) and length of each whole frame."""
    at = 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from(">i", data, at)
        if length < 0 or at + 4 + length > len(data):
            return
        yield at + 4, length
        at += 4 + length


def _packed(host: str) -> bytes | None:
    try:
        return ipaddress.ip_address(host).packed
    except ValueError:
        return None
