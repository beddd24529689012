"""What speaks at a port that does not answer Kafka: told by its first bytes, or by what it answers to others' hellos.

A Kafka listener with TLS answers plain bytes with an alert or closes; an HTTP server says nothing until a line ends. So
silence and a closed connection are asked twice more, each on a connection of its own.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Literal

from brokernat.doctor.probes.api_versions import versions
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.dialling import connect, start_tls

Speaks = Literal["kafka", "tls", "http", "ssh", "silence", "closed", "other"]

_STARTS: tuple[tuple[bytes, Speaks], ...] = (
    (b"HTTP/", "http"),
    (b"SSH-", "ssh"),
    (b"\x15\x03", "tls"),  # an alert (RFC 8446, 5.1)
)


def by_first_bytes(seen: bytes) -> Speaks | None:
    """What the bytes give away."""
    return next((what for start, what in _STARTS if seen.startswith(start)), "other" if seen else None)


async def speaks(address: str, port: int, error: ChannelError, patience: float) -> Speaks:
    """What is there, after a Kafka request on a plain connection ended in `error`."""
    told = by_first_bytes(error.seen)
    if told:
        return told
    if await _speaks_tls(address, port, patience / 4):
        return "tls"
    told = by_first_bytes(await _answer_to(b"GET / HTTP/1.0\r\n\r\n", address, port, patience / 4))
    return told or ("silence" if str(error).startswith("no answer") else "closed")


async def speaks_kafka(address: str, port: int, patience: float) -> bool:
    """Whether a plain connection is understood there."""
    _, streams = await connect(address, port, patience)
    if streams is None:
        return False
    channel = Channel(*streams, patience)
    try:
        return bool(await versions(channel))
    except ChannelError:
        return False
    finally:
        await channel.close()


async def _speaks_tls(address: str, port: int, patience: float) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _, streams = await connect(address, port, patience)
    if streams is None:
        return False
    try:
        await start_tls(streams, context, address, patience)
    except OSError as error:
        return isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")
    else:
        return True
    finally:
        streams[1].transport.abort()


async def _answer_to(hello: bytes, address: str, port: int, patience: float) -> bytes:
    _, streams = await connect(address, port, patience)
    if streams is None:
        return b""
    reader, writer = streams
    try:
        writer.write(hello)
        return await asyncio.wait_for(reader.read(16), patience)
    except OSError:
        return b""
    finally:
        writer.transport.abort()
