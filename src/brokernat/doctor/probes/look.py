"""One endpoint from the name to the node id, the way a client goes; each step only when the one before it worked.

Nothing here raises: a look that fails half-way is what the report is about. The time that is left when a look starts
bounds it, so that black holes cost what `--timeout` says and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle

from brokernat.address import Endpoint
from brokernat.doctor.client_side import ClientSide
from brokernat.doctor.evidence import Identity, Look
from brokernat.doctor.probes.channel import Channel, ChannelError, SilentError
from brokernat.doctor.probes.identifying import identify, identify_again, samples, settled
from brokernat.doctor.probes.identity import listener_settings
from brokernat.doctor.probes.leadership import Leadership
from brokernat.doctor.probes.metadata import advertised
from brokernat.doctor.probes.walk import Walk

_TOGETHER = 2


@dataclass
class Looker:
    """Looks at endpoints as one client. `patience` bounds each step, `deadline` (of the loop's clock) all of them."""

    client: ClientSide
    patience: float
    deadline: float
    parallel: asyncio.Semaphore
    leadership: Leadership = field(default_factory=Leadership)

    async def look(self, endpoint: Endpoint, name: str | None = None, expected: int | None = None) -> Look:
        """All that can be seen at an endpoint.

        Args:
            name: what TLS and SASL are told; the endpoint's own host unless given.
            expected: the node that should answer, asked for first.
        """
        return await self._in_time(endpoint, name, lambda walk: self._look(walk, endpoint, expected))

    async def told(self, endpoint: Endpoint, name: str) -> Look:
        """What clients are told there; who answers is not asked."""
        return await self._in_time(endpoint, name, lambda walk: self._ask(walk, endpoint))

    async def touch(self, endpoint: Endpoint) -> Look:
        """Name and connection only."""
        return await self._in_time(endpoint, None, lambda walk: _touch(walk, endpoint))

    @asynccontextmanager
    async def channel(
        self, look: Look, endpoint: Endpoint, address: str | None = None
    ) -> AsyncIterator[tuple[Channel | None, Look]]:
        """A further connection to where a look was, logged in, and what is seen on the way; None where it fails.

        Args:
            address: of those that the name leads to, the one to go on with.
        """
        walk = Walk(self.client, self.patience, Look(look.endpoint, look.name), address)
        channel = await walk.open(endpoint)
        try:
            yield channel, walk.seen
        finally:
            if channel is not None:
                await channel.close()

    async def _in_time(self, endpoint: Endpoint, name: str | None, work: Callable[[Walk], Awaitable[None]]) -> Look:
        """What was seen by the end of the work, or of the time."""
        walk = Walk(self.client, self.patience, Look(str(endpoint), name or endpoint.host))
        try:
            async with self.parallel, asyncio.timeout_at(self.deadline):
                await work(walk)
        except TimeoutError:
            walk.seen = replace(walk.seen, complete=False)
        return walk.seen

    async def _look(self, walk: Walk, endpoint: Endpoint, expected: int | None) -> None:
        channel = await walk.open(endpoint)
        if channel is None:
            return
        try:
            await _listen(walk, channel)
            identity = await identify(channel, walk.seen, expected, self.leadership)
            walk.seen = replace(walk.seen, identity=identity)
            if identity.node_id is not None and identity.confidence == "proven":
                walk.seen = replace(walk.seen, settings=await listener_settings(channel, identity.node_id))
        except ChannelError as error:
            if walk.seen.brokers is None:
                walk.seen = replace(walk.seen, slow=isinstance(error, SilentError))
            elif walk.seen.identity is None:
                walk.seen = replace(walk.seen, identity=Identity(None, "none", str(error)))
        finally:
            await channel.close()
        await self._sample(walk, endpoint)

    async def _ask(self, walk: Walk, endpoint: Endpoint) -> None:
        channel = await walk.open(endpoint)
        if channel is None:
            return
        try:
            await _listen(walk, channel)
        except ChannelError:
            walk.seen = replace(walk.seen, speaks="other")
        finally:
            await channel.close()

    async def _sample(self, walk: Walk, endpoint: Endpoint) -> None:
        """Later connections, which leave no trace where they meet the same node; behind a balancer they meet others.

        They go to a name's addresses in turn, each of which is met, because clients take any of them. The first to meet
        another node ends them. So does the time: what has been seen is not to be cut short by them.
        """
        first, clock = walk.seen.identity, asyncio.get_running_loop()
        if first is None or first.node_id is None:
            return
        met: list[int | None] = []
        taking = [attempt.address for attempt in walk.seen.attempts if attempt.outcome == "connected"]
        wanted = max(samples(len(walk.seen.brokers or ())), len(taking) - 1)
        # The look itself was at the first one.
        turns = cycle((*taking[1:], taking[0]))
        while len(met) < wanted:
            begun = clock.time()
            together = min(_TOGETHER, wanted - len(met))
            turn = [next(turns) for _ in range(together)]
            met += await asyncio.gather(*(self._meet(walk.seen, first, endpoint, address) for address in turn))
            identity = settled(first, met)
            walk.seen = replace(walk.seen, identity=identity)
            took = clock.time() - begun
            if identity.others or clock.time() + 2 * took > self.deadline:
                return

    async def _meet(self, seen: Look, first: Identity, endpoint: Endpoint, address: str) -> int | None:
        try:
            async with self.channel(seen, endpoint, address) as (channel, again):
                if channel is None:
                    return None
                return await identify_again(channel, seen, first, again.tls, self.leadership)
        except ChannelError:
            return None


async def _listen(walk: Walk, channel: Channel) -> None:
    told = await advertised(channel)
    walk.seen = replace(walk.seen, cluster_id=told.cluster_id, brokers=told.brokers, controller_id=told.controller_id)


async def _touch(walk: Walk, endpoint: Endpoint) -> None:
    reached = await walk.reach(endpoint)
    if reached is not None:
        _, (_, writer) = reached
        writer.transport.abort()
