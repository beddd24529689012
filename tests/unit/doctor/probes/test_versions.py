"""What a peer offers: a broker's requests and a controller's (KIP-919), and what its bytes are of."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

import pytest
from kio.schema.api_versions.v0.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.static.primitive import i16
from tests.unit.doctor.probes.scripted import Scripted

from brokernat.doctor.evidence import ApiVersions
from brokernat.doctor.probes.channel import ChannelError
from brokernat.doctor.probes.versions import explained, greet
from brokernat.wire.protocols import protocol_of_server

VECTORS = Path(__file__).parents[3] / "vectors" / "tls"


def offering(known: dict[int, int]) -> ApiVersionsResponse:
    keys = tuple(
        ApiVersion(api_key=i16(key), min_version=i16(0), max_version=i16(newest)) for key, newest in known.items()
    )
    return ApiVersionsResponse(error_code=ErrorCode.none, api_keys=keys)


@pytest.mark.parametrize(
    ("known", "outcome"),
    [
        ({0: 11, 1: 17, 3: 12, 18: 4}, "ok"),
        ({1: 17, 18: 4, 52: 1, 55: 2, 60: 1, 62: 4, 63: 1}, "controller"),
        ({3: 12, 18: 4, 62: 4}, "ok"),
        ({18: 4}, "ok"),
        ({}, "ok"),
    ],
)
def test_what_a_listener_serves(known: dict[int, int], outcome: str) -> None:
    script = Scripted(offering(known))
    found = asyncio.run(greet(script.channel))
    assert found.outcome == outcome
    assert found.offered == tuple((key, 0, newest) for key, newest in sorted(known.items()))
    assert script.offered == {key: (0, newest) for key, newest in known.items()}


def test_what_is_kept_of_a_peer_that_does_not_answer() -> None:
    error = ChannelError("cut", b"\0\0", "cut", 2)
    found = asyncio.run(greet(Scripted(error).channel))
    assert (found.outcome, found.received, found.first_bytes, found.detail) == ("cut", 2, "0000", "cut")


@pytest.mark.parametrize(
    ("seen", "protocol"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "SSH"),
        (bytes.fromhex("15030300020250"), "TLS"),
        (b"220 mail.example ESMTP Postfix\r\n", "SMTP or FTP"),
        (bytes.fromhex("4a0000000a") + b"8.0.36\0\x08", "MySQL"),
        (b"E\0\0\0hSFATAL\0VFATAL\0", "PostgreSQL"),
        (b"-ERR unknown command\r\n", "Redis"),
        (b"Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on", "ZooKeeper"),
        (b"srvr is not executed because it is not in the whitelist.\n", "ZooKeeper"),
        (bytes.fromhex("000012040000000000"), "HTTP/2"),
        (bytes.fromhex("0500"), "SOCKS"),
        (bytes.fromhex("05ff"), "SOCKS"),
        (bytes.fromhex("05000001"), ""),
        # Kafka's: a length and a correlation id, whole or in part.
        (bytes.fromhex("0000017000000001"), ""),
        (b"\0\0", ""),
        (b"", ""),
        (b"\x7f\xff\xff\xff", ""),
    ],
)
def test_only_bytes_tell_another_protocol(seen: bytes, protocol: str) -> None:
    assert protocol_of_server(seen) == protocol


@pytest.mark.parametrize(
    ("word", "answer", "protocol"),
    [
        (b"srvr", b"Zookeeper version: 3.8.4, built on 2024-02-12 22:16 UTC\n", "ZooKeeper"),
        (b"\5\1\0", b"\5\0", "SOCKS"),
    ],
)
def test_a_server_that_closes_at_a_request_of_kafka_answers_its_own_word(
    word: bytes, answer: bytes, protocol: str
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(64) == word:
            writer.write(answer)
        writer.close()

    found = asyncio.run(explained_at(talk))
    assert (found.outcome, found.protocol) == ("other-protocol", protocol)


@pytest.mark.parametrize(
    ("answer", "protocol"),
    [(b"HTTP/1.1 200 OK\r\n\r\n", "HTTPS"), (b"", "TLS")],
)
def test_a_web_server_with_tls_is_told_from_a_listener_with_tls(answer: bytes, protocol: str) -> None:
    """A client that is told to speak TLS to it meets a page."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(VECTORS / "whole.pem", VECTORS / "key.pem")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.read(64)
            writer.write(answer)
            writer.close()

    found = asyncio.run(explained_at(talk, context))
    assert (found.outcome, found.protocol) == ("other-protocol", protocol)


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


async def explained_at(talk: Talk, context: ssl.SSLContext | None = None) -> ApiVersions:
    """What a closed connection at such a server is explained by."""
    async with await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        return await explained(ApiVersions("closed"), "127.0.0.1", port, 5.0)
