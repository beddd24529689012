"""Whether large requests and answers get through; a path with a smaller MTU, a tunnel or a middlebox may lose them.

What is asked has no effect, needs no right and is in all brokers from 2.4 to 4.4:

- OffsetFetch v1 of one group and topic that nobody has, with as many partitions as wanted: 4 bytes of the request each
  make 16 of the answer, in which each partition has its error or the offset -1. FindCoordinator is not asked, so no
  topic is created; the group and the topic need one right each, and a denial is an answer as large.
- ApiVersions v3 with a tagged field that no broker knows, of any length (KIP-482): a large request and a small answer.

On a path that is well it is one exchange of which both messages are larger than 8 KiB. Where that fails, each direction
is tried alone, above 8 KiB and above 1,500 bytes, each on connections of its own, which show what is lost.
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

LARGE, MEDIUM = 10_000, 2_000
_OFFSET_FETCH, _FETCH_VERSION, _TAGS_VERSION = 9, 1, 3
_NAME = b"brokernat-doctor"
_OF_REQUEST, _OF_ANSWER = 4, 16
"""Bytes of a partition in the request and in the answer."""
_UNKNOWN_TAG = 10_000
_TRIES, _PAUSE = 3, 0.1
_CHANCE = ("closed", "reset")


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one exchange ended, None where it was answered."""

    fault: Fault | None
    received: int = 0
    connection_received: int = 0


async def measure(channel: Channel | None, another: Open, patience: float) -> SizeTest:
    """What gets through.

    Args:
        channel: on which small messages were exchanged, None where it ended; it is used up.
        another: makes a connection that is logged in.
        patience: for one answer, in seconds.
    """
    fetch = partial(_fetch_offsets, partitions=LARGE // _OF_REQUEST)
    ended, made = _Ended(None), 0
    while made < _TRIES:
        made += 1
        ended = await (_exchange(channel, fetch, patience) if channel is not None else _anew(another, fetch, patience))
        channel = None
        # What is lost because of its size is lost in silence or half-way; what is closed at once may be so by chance.
        if ended.fault not in _CHANCE:
            break
        await asyncio.sleep(_PAUSE * made)
    if ended.fault is None:
        counts = made, made - 1
        answer = Transfer("answer", ended.received, "ok", ended.received, ended.connection_received, *counts)
        return SizeTest((Transfer("request", LARGE, "ok", 0, 0, *counts), answer))
    return SizeTest(await each_direction(another, patience))


async def each_direction(another: Open, patience: float) -> tuple[Transfer, ...]:
    """Large requests with small answers, and large answers to smaller requests, in both sizes."""
    sizes = MEDIUM, LARGE
    directed = await asyncio.gather(
        *(_directed("request", size, partial(_pad, size=size), another, patience) for size in sizes),
        *(
            _directed("answer", size, partial(_fetch_offsets, partitions=size // _OF_ANSWER), another, patience)
            for size in sizes
        ),
    )
    return tuple(directed)


async def _directed(
    direction: Literal["request", "answer"], size: int, request: Request, another: Open, patience: float
) -> Transfer:
    """One large message and a small one, on connections of their own."""
    ended, made = _Ended(None), 0
    while made < _TRIES - 1 or (made < _TRIES and ended.fault in _CHANCE):
        made += 1
        ended = await _anew(another, request, patience)
        if ended.fault is None:
            return Transfer(direction, size, "ok", ended.received, ended.connection_received, made, made - 1)
        if ended.fault == "unsupported":
            return Transfer(direction, size, "not-possible")
        await asyncio.sleep(_PAUSE * made)
    fault: Fault = ended.fault or "silent"
    return Transfer(direction, size, fault, ended.received, ended.connection_received, made, made)


async def _anew(another: Open, request: Request, patience: float) -> _Ended:
    async with another() as channel:
        # A connection that small messages do not survive says nothing about large ones.
        return _Ended("closed") if channel is None else await _exchange(channel, request, patience)


async def _exchange(channel: Channel, request: Request, patience: float) -> _Ended:
    usual, channel.patience = channel.patience, patience
    try:
        await request(channel)
    except ChannelError as error:
        return _Ended(error.fault, error.received, error.connection_received)
    finally:
        channel.patience = usual
    return _Ended(None, channel.received, channel.reader.total)


async def _fetch_offsets(channel: Channel, partitions: int) -> bytes:
    """An answer that is four times as large as the request; raises ChannelError."""
    _require(channel, _OFFSET_FETCH, _FETCH_VERSION)
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
