"""Sends ApiVersions: the offered requests distinguish a broker from a controller and show its age.

If the peer does not answer, the probe tries TLS and the first words of HTTP, ZooKeeper and SOCKS: a Kafka listener with
TLS ignores plain bytes, and an HTTP server sends nothing until a line ends. Only an answer proves another protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kio.schema.api_versions.v0.request import ApiVersionsRequest
from kio.schema.api_versions.v0.response import ApiVersionsResponse

from brokernat.doctor.evidence import ApiVersions
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.network import connected
from brokernat.doctor.probes.tls import HTTP, answer_in_plain, answer_in_tls
from brokernat.wire.protocols import protocol_of_server

API_VERSIONS = 18
_METADATA, _BROKER_REGISTRATION = 3, 62
_ZOOKEEPER = b"srvr"
"""The only ZooKeeper command that is allowed by default."""
_SOCKS = b"\x05\x01\x00"
"""Version 5, one method: none (RFC 1928, 3)."""
_MOST = 1 << 16
_NO_ANSWER = ("silent", "closed", "reset")


async def greet(channel: Channel) -> ApiVersions:
    """The versions that the peer offers; the channel uses only these from now on. Never raises."""
    try:
        answer = await channel.ask(ApiVersionsRequest(), ApiVersionsResponse, _MOST)
    except ChannelError as error:
        return ApiVersions(
            error.fault,
            protocol=error.protocol,
            first_bytes=error.seen.hex(),
            received=error.received,
            detail=str(error),
        )
    offered = {int(each.api_key): (int(each.min_version), int(each.max_version)) for each in answer.api_keys or ()}
    channel.offered = offered
    # Brokers register at a KRaft controller's listener, and clients get no metadata there.
    controller = _BROKER_REGISTRATION in offered and _METADATA not in offered
    listed = tuple(sorted((key, *versions) for key, versions in offered.items()))
    return ApiVersions("controller" if controller else "ok", listed)


async def explained(seen: ApiVersions, address: str, port: int, patience: float) -> ApiVersions:
    """The same result, with the peer's answer in another protocol if it did not answer Kafka's."""
    if seen.outcome not in _NO_ANSWER:
        return seen
    async with asyncio.TaskGroup() as group:
        words = (HTTP, _ZOOKEEPER, _SOCKS)
        plain = [group.create_task(answer_in_plain(each, address, port, patience)) for each in words]
        tls = await answer_in_tls(HTTP, address, port, patience)
        # Of a server that speaks TLS it is only asked whether it is a web server.
        head = tls or await _first_known(plain if tls is None else plain[:1])
        # A server of one protocol may wait for the end of another one's words.
        for task in plain:
            task.cancel()
    protocol = protocol_of_server(head)
    if tls is not None:
        protocol = "HTTPS" if protocol == "HTTP" else "TLS"
    if protocol:
        return ApiVersions("other-protocol", (), protocol, head[:16].hex(), detail=seen.detail)
    return seen


async def _first_known(answers: Sequence[asyncio.Task[bytes]]) -> bytes:
    """The first answer that shows a protocol, empty if none does."""
    for answer in asyncio.as_completed(answers):
        if protocol_of_server(head := await answer):
            return head
    return b""


async def greet_plainly(address: str, port: int, patience: float) -> ApiVersions:
    """ApiVersions over a separate connection without TLS, with the peer's answer in other protocols."""
    async with connected(address, port, patience) as streams:
        seen = ApiVersions("closed") if streams is None else await greet(Channel(*streams, patience))
    return await explained(seen, address, port, patience / 4)
