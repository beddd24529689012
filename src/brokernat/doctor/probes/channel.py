"""One Kafka connection: sends a request and reads its answer, as kio types.

Requests are in encodings that brokers from 1.0 to 4.4 share, and none is sent in a version that the peer does not
offer. Answers are untrusted: too large a length is rejected before the buffer is allocated, inner lengths are verified
against the received bytes (bounds.py), and every decoding error becomes a ChannelError with the kind of fault.
"""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import SupportsIndex, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError
from kio.static.protocol import Entity, Payload

from brokernat.doctor.evidence import Fault
from brokernat.doctor.probes.bounds import require_whole
from brokernat.wire.protocols import protocol_of_server

LARGEST_ANSWER = 32 << 20
CLIENT_ID = b"brokernat-doctor"
_HEADER = 8
_KEPT = 64

Answer = TypeVar("Answer", bound=Entity)


class ChannelError(Exception):
    """A request without an answer.

    `fault` is how it ended; `seen` are the first bytes that came instead, `protocol` is their protocol; `received`
    counts the bytes of the answer.
    """

    def __init__(
        self, message: str, seen: bytes = b"", fault: Fault = "unreadable", received: int = 0, protocol: str = ""
    ) -> None:
        super().__init__(message)
        self.seen, self.fault, self.received, self.protocol = seen, fault, received, protocol


class CountingReader(asyncio.StreamReader):
    """A stream that keeps the count and the first bytes of the data since the last mark, even after a reset.

    It is marked after an answer is read, not when a request is sent, because some servers send a greeting first.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.mark()

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        """asyncio calls this with received data."""
        came = bytes(data)
        self.received += len(came)
        self.head += came[: max(0, _KEPT - len(self.head))]
        super().feed_data(came)

    def mark(self) -> None:
        """Starts a new answer."""
        self.received, self.head = 0, b""


@dataclass
class Channel:
    """Owns its streams. `patience` is the time for one answer, in seconds; `offered` is the oldest and the newest
    version of each request that the peer offers, None before ApiVersions.
    """

    reader: CountingReader
    writer: asyncio.StreamWriter
    patience: float
    offered: Mapping[int, tuple[int, int]] | None = None
    received: int = 0
    """The bytes of the last answer."""
    _correlation: int = field(default=0, repr=False)

    def offers(self, api: int, version: int) -> bool:
        """Whether the peer supports this version of a request."""
        oldest, newest = (0, version) if self.offered is None else self.offered.get(api, (0, -1))
        return oldest <= version <= newest

    async def ask(self, request: Payload, answer: type[Answer], most: int = LARGEST_ANSWER) -> Answer:
        """Raises ChannelError."""
        api, version, flexible = int(request.__api_key__), int(request.__version__), bool(request.__flexible__)
        if not self.offers(api, version):
            oldest, newest = (self.offered or {}).get(api, (0, -1))
            offered = f"only versions {oldest} to {newest}" if newest >= 0 else "no such request"
            raise ChannelError(f"{type(request).__name__} v{version}: the peer offers {offered}", fault="unsupported")
        body = io.BytesIO()
        entity_writer(type(request))(body, request)
        data = await self.ask_raw(api, version, body.getvalue(), flexible=flexible, most=most)
        # The answer to a flexible request has tags in its header; the answer to ApiVersions never has them (KIP-511).
        start = 1 if flexible else 0
        try:
            require_whole(answer, data, start)
            return entity_reader(answer)(data, start)[0]
        except (SerialError, ValueError, TypeError, LookupError, ArithmeticError, struct.error) as error:
            reason = f"an answer that cannot be read: {type(error).__name__}"
            raise ChannelError(reason, data[:16], received=len(data) + _HEADER) from None

    async def ask_raw(
        self, api: int, version: int, body: bytes, *, flexible: bool = False, most: int = LARGEST_ANSWER
    ) -> bytes:
        """The body of the answer after its correlation id. Raises ChannelError."""
        self._correlation += 1
        header = struct.pack(">hhih", api, version, self._correlation, len(CLIENT_ID)) + CLIENT_ID
        packet = header + (b"\0" if flexible else b"") + body
        try:
            async with asyncio.timeout(self.patience) as limit:
                self.writer.write(struct.pack(">i", len(packet)) + packet)
                await self.writer.drain()
                length, correlation = struct.unpack(">ii", await self._exactly(_HEADER, limit))
                if not 4 <= length <= most or correlation != self._correlation:
                    raise self._strange()
                answer = await self._exactly(length - 4, limit)
        except asyncio.IncompleteReadError:
            raise self._ended("closed", "the peer closed the connection") from None
        except TimeoutError:
            raise self._ended("silent", f"no answer within {self.patience:.1f} s") from None
        except OSError as error:
            # OpenSSL's name of the error; the message of the exception ends with a line of Python's source.
            words = getattr(error, "reason", None) or error.strerror or type(error).__name__
            raise self._ended("reset", words) from None
        self.received = self.reader.received
        self.reader.mark()
        return answer

    async def _exactly(self, size: int, limit: asyncio.Timeout) -> bytes:
        """Reads this many bytes. Received data restarts the timeout, because packet loss makes large answers slow."""
        found = bytearray()
        while len(found) < size:
            chunk = await self.reader.read(size - len(found))
            if not chunk:
                raise asyncio.IncompleteReadError(bytes(found), size)
            found += chunk
            limit.reschedule(asyncio.get_running_loop().time() + self.patience)
        return bytes(found)

    def _ended(self, fault: Fault, words: str) -> ChannelError:
        """The error for an ended connection or a timeout, by the received bytes."""
        head, received = self.reader.head, self.reader.received
        if not received:
            return ChannelError(words, fault=fault)
        if not self._begins_as_kafka(head):
            return self._strange()
        if fault == "silent":
            message, fault = f"{received} bytes of an answer came, and then nothing", "stalled"
        else:
            message, fault = f"the connection ended after {received} bytes of an answer", "cut"
        return ChannelError(message, head[:16], fault, received)

    def _begins_as_kafka(self, head: bytes) -> bool:
        """Whether these may be the first bytes of the expected answer."""
        length, correlation = head[:4], head[4:_HEADER]
        return (
            int.from_bytes(length.ljust(4, b"\0"), "big") <= LARGEST_ANSWER
            and struct.pack(">i", self._correlation).startswith(correlation)
            and protocol_of_server(head) == ""
        )

    def _strange(self) -> ChannelError:
        head = self.reader.head
        protocol = protocol_of_server(head)
        if protocol:
            return ChannelError(f"an answer of {protocol}", head[:16], "other-protocol", self.reader.received, protocol)
        return ChannelError("an answer that is no Kafka", head[:16], received=self.reader.received)
