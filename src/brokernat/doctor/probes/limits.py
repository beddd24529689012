"""Finds the endpoints that accept no more connections while others are open.

A client has a connection to each broker at once, and in a consumer group a second one to its coordinator; the probes
have fewer. A connection counts as kept if it is open after a tenth of a second. A limit is distinguished from chance by
further tries: where most packets are lost, one result proves nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import islice

from brokernat.doctor.evidence import EndpointProbe
from brokernat.doctor.probes.network import TRIES, Outcome, Streams, close, connect

SocketAddress = tuple[str, int]
_MOST_TOGETHER = 16
_ROUNDS = 2
_KEPT, _MANY_TRIES, _MORE_TRIES = 0.1, 10, 5


async def limits(
    answering: Sequence[EndpointProbe], deadline: float, patience: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The endpoints that accept no connection while others are open, and those that accept only one at a time.

    They are tested until `deadline`, and only if some connections have failed.
    """
    if not any(0 < each.failed < each.made for probe in answering for each in probe.tries):
        return (), ()
    accepting = {(address, int(probe.port)): probe for probe in answering for address in probe.accepting}
    probes = dict(islice(accepting.items(), _MOST_TOGETHER))
    crowded, one_at_a_time = list[str](), list[str]()
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline):
            crowded += [probes[each].endpoint for each in await refused_together([*probes], patience)]
            for place, probe in probes.items() if not crowded else ():
                refused = any(0 < each.failed < each.made and "timeout" not in each.faults for each in probe.tries)
                if refused and await only_one_at_a_time(place, patience):
                    one_at_a_time.append(probe.endpoint)
    return tuple(crowded), tuple(one_at_a_time)


async def refused_together(places: Sequence[SocketAddress], patience: float) -> list[SocketAddress]:
    """The addresses that keep no connection while those to the others are open, and keep one alone, twice."""
    refused = set(places)
    for _ in range(_ROUNDS):
        async with AsyncExitStack() as opened:
            kept = {place: await opened.enter_async_context(_kept(place, patience)) for place in places}
        await asyncio.sleep(_KEPT)
        for place, together in kept.items():
            if together or not await _keeps_one(place, patience):
                refused.discard(place)
        if not refused:
            break
    return [place for place in places if place in refused]


async def only_one_at_a_time(place: SocketAddress, patience: float) -> bool:
    """Whether an address accepts no second connection while the first is open, and another one afterwards."""
    async with _kept(place, patience) as first:
        if not first:
            return False
        for _ in range(_MORE_TRIES):
            outcome, second = await _kept_once(place, patience)
            close(second)
            if second is not None or outcome == "timeout":
                return False
    await asyncio.sleep(_KEPT)
    return await _keeps_one(place, patience)


async def _keeps_one(place: SocketAddress, patience: float) -> bool:
    async with _kept(place, patience) as kept:
        return kept


@asynccontextmanager
async def _kept(place: SocketAddress, patience: float) -> AsyncIterator[bool]:
    """Whether one of many connections is neither refused nor closed at once; it is open meanwhile."""
    streams = None
    try:
        for number in range(1, _MANY_TRIES + 1):
            outcome, streams = await _kept_once(place, patience)
            if streams is not None or (outcome == "timeout" and number >= TRIES):
                break
        yield streams is not None
    finally:
        close(streams)


async def _kept_once(place: SocketAddress, patience: float) -> tuple[Outcome, Streams | None]:
    """One try of `_kept`, and what became of the connection."""
    attempt, streams = await connect(*place, patience)
    if streams is None:
        return attempt.outcome, None
    kept = False
    try:
        await asyncio.sleep(_KEPT)
        kept = not streams[0].at_eof() and streams[0].exception() is None
    finally:
        if not kept:
            close(streams)
    return attempt.outcome, streams if kept else None
