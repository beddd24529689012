"""Whether large requests and answers get through; a path with a smaller MTU, a tunnel or a middlebox may lose them.

What is asked has no effect, needs no right and is in all brokers from 2.4 to 4.4:

- ApiVersions v3 with a tagged field that no broker knows, of any length (KIP-482): a large request, a small answer.
- OffsetFetch v1 of one group and topic that nobody has: 4 bytes of the request make 16 of the answer, in which each
  partition has its error or the offset -1. FindCoordinator is not asked, so no topic is created; the group and the
  topic need one right each, and a denial is an answer as large.

On a path that is well both go over the connection that there is, larger than 8 KiB. Where one fails, each direction is
tried again above 8 KiB and above 1,500 bytes, side by side on connections of their own, which show what is lost.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from brokernat.doctor.evidence import Fault, SizeTest, Transfer
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.versions import API_VERSIONS

Open = Callable[[], AbstractAsyncContextManager["Channel | None"]]
Request = Callable[[Channel], Awaitable[bytes]]
Direction = Literal["request", "answer"]

LARGE, MEDIUM = 10_000, 2_000
_OFFSET_FETCH, _FETCH_VERSION, _TAGS_VERSION = 9, 1, 3
_NAME = b"brokernat-doctor"
_OF_ANSWER = 16
"""Bytes of a partition; in the request it has 4."""
_UNKNOWN_TAG = 10_000
_MOST, _PAUSE = 3, 0.1
_CHANCE = ("closed", "reset")
_DIRECTIONS: tuple[Direction, ...] = ("request", "answer")


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one exchange ended, None where it was answered."""

    fault: Fault | None
    received: int = 0


async def measure(channel: Channel | None, another: Open, patience: float) -> SizeTest:
    """What gets through.

    Args:
        channel: on which small messages were exchanged, None where it ended; it is used up.
        another: makes a connection that is logged in.
        patience: without a byte of an answer, in seconds.
    """
    if channel is None:
        return SizeTest(await each_direction(another, patience))
    found: list[Transfer] = []
    for direction in _DIRECTIONS:
        ended = await _exchange(channel, _REQUESTS[direction](LARGE), patience)
        if ended.fault not in (None, "unsupported"):
            return SizeTest(await each_direction(another, patience))
        found.append(_transfer(direction, LARGE, ended, 1, 0))
    return SizeTest(tuple(found))


async def each_direction(another: Open, patience: float) -> tuple[Transfer, ...]:
    """Large requests with small answers, and large answers to smaller requests, in both sizes."""
    places = [(direction, size) for direction in _DIRECTIONS for size in (MEDIUM, LARGE)]
    return tuple(await asyncio.gather(*(_alone(direction, size, another, patience) for direction, size in places)))


async def _alone(direction: Direction, size: int, another: Open, patience: float) -> Transfer:
    """One message on a connection of its own; what is closed at once may be so by chance, and is tried again."""
    ended, made = _Ended("closed"), 0
    while ended.fault in _CHANCE and made < _MOST:
        await asyncio.sleep(_PAUSE * made)
        made += 1
        async with another() as channel:
            # Where small messages fail too, nothing is known about large ones.
            nothing = _Ended("unsupported")
            ended = nothing if channel is None else await _exchange(channel, _REQUESTS[direction](size), patience)
    return _transfer(direction, size, ended, made, made - (ended.fault is None))


def _transfer(direction: Direction, size: int, ended: _Ended, made: int, failed: int) -> Transfer:
    if ended.fault == "unsupported":
        return Transfer(direction, size, "not-possible")
    return Transfer(direction, size, ended.fault or "ok", ended.received, made, failed)


async def _exchange(channel: Channel, request: Request, patience: float) -> _Ended:
    usual, channel.patience = channel.patience, patience
    try:
        await request(channel)
    except ChannelError as error:
        return _Ended(error.fault, error.received)
    finally:
        channel.patience = usual
    return _Ended(None, channel.received)


async def _fetch_offsets(channel: Channel, size: int) -> bytes:
    """An answer of about that size to a request of a quarter; raises ChannelError."""
    _require(channel, _OFFSET_FETCH, _FETCH_VERSION)
    partitions = size // _OF_ANSWER
    text = struct.pack(">h", len(_NAME)) + _NAME
    body = text + struct.pack(">i", 1) + text + struct.pack(f">i{partitions}i", partitions, *range(partitions))
    return await channel.ask_raw(_OFFSET_FETCH, _FETCH_VERSION, body)


async def _pad(channel: Channel, size: int) -> bytes:
    """A request as large as that, with the usual answer; raises ChannelError."""
    _require(channel, API_VERSIONS, _TAGS_VERSION)
    software = bytes([len(_NAME) + 1]) + _NAME + b"\x020"
    tags = _varint(1) + _varint(_UNKNOWN_TAG) + _varint(size) + bytes(size)
    return await channel.ask_raw(API_VERSIONS, _TAGS_VERSION, software + tags, flexible=True)


def _require(channel: Channel, api: int, version: int) -> None:
    if not channel.offers(api, version):
        raise ChannelError("not offered", fault="unsupported")


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


_REQUESTS: dict[Direction, Callable[[int], Request]] = {
    "request": lambda size: partial(_pad, size=size),
    "answer": lambda size: partial(_fetch_offsets, size=size),
}
