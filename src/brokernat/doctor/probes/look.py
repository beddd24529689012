"""One endpoint from the name to the node id, the way a client goes; each step only when the one before it worked.

Nothing here raises: a look that fails half-way is what the report is about. The time that is left when a look starts
bounds it, so that black holes cost what `--timeout` says and no more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brokernat.doctor.evidence import Identity, Look, TlsSeen
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.dialling import connect, resolve
from brokernat.doctor.probes.greeting import speaks, speaks_kafka
from brokernat.doctor.probes.identity import API_VERSIONS, listener_settings, versions, who_answers, who_answers_again
from brokernat.doctor.probes.metadata import advertised, replica_nodes
from brokernat.doctor.probes.sasl import log_in
from brokernat.doctor.probes.tls import shake_hands

if TYPE_CHECKING:
    from brokernat.address import Endpoint
    from brokernat.doctor.client_side import ClientSide
    from brokernat.doctor.probes.dialling import Streams

_SAMPLES = 2


@dataclass
class Looker:
    """Looks at endpoints as one client. `patience` bounds each step, `deadline` (of the loop's clock) all of them."""

    client: ClientSide
    patience: float
    deadline: float
    parallel: asyncio.Semaphore

    async def look(self, endpoint: Endpoint, name: str | None = None, expected: int | None = None) -> Look:
        """All that can be seen at an endpoint.

        Args:
            name: what TLS and SASL are told; the endpoint's own host unless given.
            expected: the node that should answer, asked for first.
        """
        walk = _Walk(self, Look(str(endpoint), name or endpoint.host))
        try:
            async with self.parallel, asyncio.timeout_at(self.deadline):
                await walk.walk(endpoint, expected)
        except TimeoutError:
            walk.seen = replace(walk.seen, complete=False)
        return walk.seen

    async def told(self, endpoint: Endpoint, name: str) -> Look:
        """What clients are told there; who answers is not asked."""
        walk = _Walk(self, Look(str(endpoint), name))
        try:
            async with self.parallel, asyncio.timeout_at(self.deadline):
                await walk.ask(endpoint)
        except TimeoutError:
            walk.seen = replace(walk.seen, complete=False)
        return walk.seen

    async def touch(self, endpoint: Endpoint) -> Look:
        """Name and connection only."""
        walk = _Walk(self, Look(str(endpoint), endpoint.host))
        try:
            async with self.parallel, asyncio.timeout_at(self.deadline):
                streams = await walk.reach(endpoint)
                if streams is not None:
                    streams[1].transport.abort()
        except TimeoutError:
            walk.seen = replace(walk.seen, complete=False)
        return walk.seen

    async def replicas(self, endpoint: Endpoint, name: str) -> tuple[int, ...] | None:
        """The nodes that partitions name, seen through an endpoint that answers."""
        walk = _Walk(self, Look(str(endpoint), name))
        try:
            async with self.parallel, asyncio.timeout_at(self.deadline):
                channel = await walk.open(endpoint)
                try:
                    return None if channel is None else await replica_nodes(channel)
                finally:
                    if channel is not None:
                        await channel.close()
        except (TimeoutError, ChannelError):
            return None


@dataclass
class _Walk:
    """What was seen so far survives the end of the time."""

    looker: Looker
    seen: Look
    newest: int = 0

    async def walk(self, endpoint: Endpoint, expected: int | None) -> None:
        channel = await self.open(endpoint)
        if channel is None:
            return
        try:
            cluster_id, brokers = await advertised(channel)
            self.seen = replace(self.seen, cluster_id=cluster_id, brokers=brokers)
            await self._identify(channel, expected)
        except ChannelError as error:
            if self.seen.brokers is not None:
                self.seen = replace(self.seen, identity=Identity(None, "none", str(error)))
            elif self.seen.sasl is None:
                self.seen = replace(self.seen, speaks=self.seen.speaks or "other")
        finally:
            await channel.close()
        await self._sample(endpoint)

    async def ask(self, endpoint: Endpoint) -> None:
        """The way in, and what is advertised there."""
        channel = await self.open(endpoint)
        if channel is None:
            return
        try:
            cluster_id, brokers = await advertised(channel)
            self.seen = replace(self.seen, cluster_id=cluster_id, brokers=brokers)
        except ChannelError:
            self.seen = replace(self.seen, speaks="other")
        finally:
            await channel.close()

    async def reach(self, endpoint: Endpoint) -> Streams | None:
        """A connection to the first address that takes one; all are tried."""
        addresses, error = await resolve(endpoint.host, endpoint.port, self.looker.patience)
        self.seen = replace(self.seen, addresses=addresses, dns_error=error)
        tried = await asyncio.gather(*(connect(address, endpoint.port, self.looker.patience) for address in addresses))
        self.seen = replace(self.seen, attempts=tuple(attempt for attempt, _ in tried))
        kept = next((streams for _, streams in tried if streams is not None), None)
        for _, streams in tried:
            if streams is not None and streams is not kept:
                streams[1].transport.abort()
        return kept

    async def open(self, endpoint: Endpoint) -> Channel | None:
        """A connection that is logged in, or None; what stood in the way is in `seen`."""
        streams = await self.reach(endpoint)
        if streams is None:
            return None
        address = next(each.address for each in self.seen.attempts if each.outcome == "connected")
        channel = Channel(*streams, self.looker.patience)
        entered = False
        try:
            entered = await self._enter(channel, streams, address, endpoint.port)
        finally:
            # Also where the time ran out in the middle.
            if not entered:
                await channel.close()
        return channel if entered else None

    async def _enter(self, channel: Channel, streams: Streams, address: str, port: int) -> bool:
        client, patience = self.looker.client, self.looker.patience
        if client.context is not None:
            tls = await shake_hands(streams, client, self.seen.name, patience)
            self.seen = replace(self.seen, tls=tls)
            if tls.outcome == "not-tls" and await speaks_kafka(address, port, patience):
                self.seen = replace(self.seen, speaks="kafka")
            if tls.outcome != "ok":
                return False
        if not await self._greet(channel, address, port):
            return False
        if not client.sasl:
            return True
        sasl = await log_in(channel, client)
        self.seen = replace(self.seen, sasl=sasl)
        return sasl.outcome == "ok"

    async def _greet(self, channel: Channel, address: str, port: int) -> bool:
        try:
            known = await versions(channel)
        except ChannelError as error:
            if self.looker.client.context is not None:
                # In TLS 1.3 a demand for the client's certificate shows with the first answer.
                if "CERTIFICATE" in str(error).upper():
                    self.seen = replace(self.seen, tls=TlsSeen("client-certificate", detail=str(error)))
                else:
                    self.seen = replace(self.seen, speaks="closed")
            else:
                what = await speaks(address, port, error, self.looker.patience)
                self.seen = replace(self.seen, speaks=what, first_bytes=error.seen.hex())
            return False
        self.seen = replace(self.seen, speaks="kafka")
        self.newest = known.get(API_VERSIONS, 0)
        return True

    async def _identify(self, channel: Channel, expected: int | None) -> None:
        nodes = [each.node_id for each in self.seen.brokers or ()]
        candidates = sorted(nodes, key=lambda node: node != expected)
        identity = await who_answers(channel, self.newest, self.seen.cluster_id, candidates)
        self.seen = replace(self.seen, identity=identity)
        if identity.node_id is not None:
            self.seen = replace(self.seen, settings=await listener_settings(channel, identity.node_id))

    async def _sample(self, endpoint: Endpoint) -> None:
        """Later connections, which leave no trace where they meet the same node; behind a balancer they meet others."""
        first = self.seen.identity
        if first is None or first.node_id is None:
            return
        before = self.seen
        nodes = [each.node_id for each in before.brokers or ()]
        others: set[int] = set()
        for _ in range(_SAMPLES):
            channel = await _Walk(self.looker, Look(before.endpoint, before.name)).open(endpoint)
            if channel is None:
                break
            try:
                met = await who_answers_again(channel, first, before.cluster_id, nodes)
                if met is not None:
                    others.add(met)
            except ChannelError:
                break
            finally:
                await channel.close()
        self.seen = replace(before, identity=replace(first, others=tuple(sorted(others - {first.node_id}))))
