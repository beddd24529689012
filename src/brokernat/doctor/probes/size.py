"""Measures whether large requests and answers get through; a smaller MTU, a tunnel or a middlebox may lose them.

The requests have no effect, need no right and work with all brokers from 2.4 to 4.4:

- ApiVersions v3 with an unknown tagged field of any length (KIP-482): a large request, a small answer.
- OffsetFetch v1 for a group and a topic that do not exist: 4 request bytes give 16 answer bytes, because each partition
  has its error or the offset -1. FindCoordinator is not sent, so no topic is created. The group and the topic need one
  right each, and a denial is as large.

On a working path both use the existing connection, with more than 8 KiB. If one fails, each direction is tried again
above 8 KiB and above 1,500 bytes, concurrently on separate connections, to find the size that is lost.
"""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Literal

from kio.serial.writers import write_compact_string, write_unsigned_varint
from kio.static.primitive import uvarint

from brokernat.doctor.evidence import SizeTest, Transfer
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.versions import API_VERSIONS

Open = Callable[[], AbstractAsyncContextManager["Channel | None"]]
Direction = Literal["request", "answer"]

LARGE, MEDIUM = 10_000, 2_000
_OFFSET_FETCH = 9
_NAME = b"brokernat-doctor"
_OF_ANSWER = 16
"""Bytes of a partition in the answer; in the request it has 4."""
_UNKNOWN_TAG = 10_000
_MOST, _PAUSE = 3, 0.1
_CHANCE = ("closed", "reset")


async def measure(channel: Channel | None, another: Open, patience: float) -> SizeTest:
    """Which sizes get through; `channel` has exchanged small messages and cannot be used afterwards, None if it ended.

    `patience` is without a byte of an answer, in seconds.
    """
    if channel is None:
        return SizeTest(await each_direction(another, patience))
    found: list[Transfer] = []
    for direction in _REQUESTS:
        found.append(await _exchange(channel, direction, LARGE, patience))
        if found[-1].failed:
            return SizeTest(await each_direction(another, patience))
    return SizeTest(tuple(found))


async def each_direction(another: Open, patience: float) -> tuple[Transfer, ...]:
    """Large requests with small answers, and large answers to smaller requests, in both sizes."""
    places = [(direction, size) for direction in _REQUESTS for size in (MEDIUM, LARGE)]
    return tuple(await asyncio.gather(*(_alone(direction, size, another, patience) for direction, size in places)))


async def _alone(direction: Direction, size: int, another: Open, patience: float) -> Transfer:
    """One message on its own connection; it is tried again if the connection is closed at once, which may be chance."""
    made = 0
    while True:
        made += 1
        async with another() as channel:
            ended = await _exchange(channel, direction, size, patience)
        if ended.outcome == "not-possible":
            return ended
        if ended.outcome not in _CHANCE or made == _MOST:
            return replace(ended, made=made, failed=made - 1 + ended.failed)
        await asyncio.sleep(_PAUSE * made)


async def _exchange(channel: Channel | None, direction: Direction, size: int, patience: float) -> Transfer:
    """One try; without a connection for small messages, the result for large ones is unknown."""
    api, version, body_of = _REQUESTS[direction]
    if channel is None or not channel.offers(api, version):
        return Transfer(direction, size, "not-possible")
    channel.patience = patience
    try:
        await channel.ask_raw(api, version, body_of(size), flexible=direction == "request")
    except ChannelError as error:
        return Transfer(direction, size, error.fault, error.received, failed=1)
    return Transfer(direction, size, "ok", channel.received)


def _with_unknown_tag(size: int) -> bytes:
    """The body of an ApiVersions request of this size."""
    body = io.BytesIO()
    for text in (_NAME.decode(), "0"):
        write_compact_string(body, text)
    for number in (1, _UNKNOWN_TAG, size):
        write_unsigned_varint(body, uvarint(number))
    return body.getvalue() + bytes(size)


def _of_partitions(size: int) -> bytes:
    """The body of an OffsetFetch request of a quarter of this size, whose answer is about as large."""
    partitions = size // _OF_ANSWER
    text = struct.pack(">h", len(_NAME)) + _NAME
    return text + struct.pack(">i", 1) + text + struct.pack(f">i{partitions}i", partitions, *range(partitions))


_REQUESTS: Mapping[Direction, tuple[int, int, Callable[[int], bytes]]] = {
    "request": (API_VERSIONS, 3, _with_unknown_tag),
    "answer": (_OFFSET_FETCH, 1, _of_partitions),
}
"""The request that is large, or has a large answer: api key, version, and its body by size."""
