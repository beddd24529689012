"""One connection that speaks Kafka: a request out, its answer back, as kio's types.

All requests are in old encodings that brokers from 1.0 to 4.4 share (KIP-896 removed only older ones), so nothing has
to be negotiated. What comes back is untrusted: a length is refused before it becomes a buffer, and whatever kio makes
of the bytes, a caller sees ChannelError.
"""

from __future__ import annotations

import asyncio
import io
import struct
from dataclasses import dataclass
from typing import TypeVar

from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError
from kio.static.protocol import Entity, Payload

_LARGEST_ANSWER = 64 << 20
_CLIENT_ID = b"brokernat-doctor"

Answer = TypeVar("Answer", bound=Entity)


class ChannelError(Exception):
    """The peer closed, was too slow, or said something that is no Kafka; `seen` is what it said first."""

    def __init__(self, message: str, seen: bytes = b"") -> None:
        super().__init__(message)
        self.seen = seen


class SilentError(ChannelError):
    """The peer was too slow."""


@dataclass
class Channel:
    """Owns its streams. `patience` is how long one answer may take, in seconds."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    patience: float
    _correlation: int = 0

    async def ask(self, request: Payload, answer: type[Answer]) -> Answer:
        """Raises ChannelError."""
        body = io.BytesIO()
        entity_writer(type(request))(body, request)
        data = await self.ask_raw(int(request.__api_key__), int(request.__version__), body.getvalue())
        try:
            return entity_reader(answer)(data, 0)[0]
        except (SerialError, ValueError, TypeError, LookupError, ArithmeticError, struct.error) as error:
            raise ChannelError(f"an answer that is no Kafka: {type(error).__name__}", data[:16]) from None

    async def ask_raw(self, api: int, version: int, body: bytes, *, flexible: bool = False) -> bytes:
        """The body of the answer behind its correlation id. Raises ChannelError."""
        self._correlation += 1
        header = struct.pack(">hhih", api, version, self._correlation, len(_CLIENT_ID)) + _CLIENT_ID
        packet = header + (b"\0" if flexible else b"") + body
        seen = b""
        try:
            async with asyncio.timeout(self.patience):
                self.writer.write(struct.pack(">i", len(packet)) + packet)
                await self.writer.drain()
                seen = await self.reader.readexactly(8)
                length, correlation = struct.unpack(">ii", seen)
                if not 4 <= length <= _LARGEST_ANSWER or correlation != self._correlation:
                    raise ChannelError("an answer that is no Kafka", seen)
                return await self.reader.readexactly(length - 4)
        except asyncio.IncompleteReadError as error:
            raise ChannelError("the peer closed the connection", seen or error.partial) from None
        except TimeoutError:
            raise SilentError(f"no answer within {self.patience:.0f} s", seen) from None
        except OSError as error:
            # OpenSSL's name of what happened; its own message ends with a line of Python's source.
            words = getattr(error, "reason", None) or error.strerror or type(error).__name__
            raise ChannelError(words, seen) from None

    async def close(self) -> None:
        """Whatever state it is in."""
        self.writer.transport.abort()
