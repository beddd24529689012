"""The way in: name, connection, TLS, greeting, login, each only when the one before it worked.

What was seen so far stands in `seen` at every moment, because the time may run out in the middle of a step.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from brokernat.address import Endpoint
from brokernat.doctor.client_side import ClientSide
from brokernat.doctor.evidence import Look, SaslSeen, TlsSeen
from brokernat.doctor.probes.api_versions import is_controller, newest_known, versions
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.dialling import Streams, connect, resolve
from brokernat.doctor.probes.greeting import speaks, speaks_kafka
from brokernat.doctor.probes.hosts_file import deciding_line
from brokernat.doctor.probes.refused_certificate import presented_chain, shake_hands_undated
from brokernat.doctor.probes.sasl import log_in
from brokernat.doctor.probes.tls import about_client_certificate, shake_hands

_REFUSED = ("expired", "untrusted", "unfit")
_NO_TLS = ("not-tls", "closed")
_WITHHELD = "nobody agreed to send the login there, where whoever answers could read it"


@dataclass
class Walk:
    """One connection as one client. `patience` bounds each step, in seconds; `address` goes before a name's others."""

    client: ClientSide
    patience: float
    seen: Look
    address: str | None = None

    async def reach(self, endpoint: Endpoint) -> tuple[str, Streams] | None:
        """A connection to the first address that takes one, and that address; all are tried."""
        addresses, error = await resolve(endpoint.host, endpoint.port, self.patience)
        line = deciding_line(endpoint.host, addresses)
        self.seen = replace(self.seen, addresses=addresses, dns_error=error, hosts_entry=line)
        tried = await asyncio.gather(*(connect(address, endpoint.port, self.patience) for address in addresses))
        self.seen = replace(self.seen, attempts=tuple(attempt for attempt, _ in tried))
        taken = {attempt.address: streams for attempt, streams in tried if streams is not None}
        if not taken:
            return None
        kept = self.address if self.address in taken else next(iter(taken))
        for address, (_, writer) in taken.items():
            if address != kept:
                writer.transport.abort()
        return kept, taken[kept]

    async def open(self, endpoint: Endpoint) -> Channel | None:
        """A connection that is logged in, or None; what stood in the way is in `seen`."""
        reached = await self.reach(endpoint)
        if reached is None:
            return None
        address, streams = reached
        channel = Channel(*streams, self.patience)
        entered = False
        try:
            entered = await self._enter(channel, streams, address, endpoint)
        finally:
            # Also where the time ran out in the middle.
            if not entered:
                await channel.close()
        return channel if entered else None

    async def _enter(self, channel: Channel, streams: Streams, address: str, endpoint: Endpoint) -> bool:
        port = endpoint.port
        if self.client.context is not None:
            tls = await shake_hands(streams, self.client, self.seen.name, self.patience)
            self.seen = replace(self.seen, tls=tls)
            if tls.outcome in _REFUSED:
                tls = await self._look_behind(tls, channel, address, port)
            elif tls.outcome in _NO_TLS:
                tls = await self._ask_plainly(tls, address, port)
            self.seen = replace(self.seen, tls=tls)
            if tls.outcome != "ok":
                return False
        if not await self._greet(channel, address, port):
            return False
        if not self.client.sasl:
            return True
        may = self.client.may_log_in(endpoint, self.seen)
        sasl = await log_in(channel, self.client) if may else SaslSeen("not-tried", detail=_WITHHELD)
        self.seen = replace(self.seen, sasl=sasl)
        return sasl.outcome == "ok"

    async def _look_behind(self, refused: TlsSeen, channel: Channel, address: str, port: int) -> TlsSeen:
        """What there is about a certificate that is refused; where Java takes it, the channel goes on as Java's."""
        seen = await self._as_java(channel, address, port) if refused.outcome == "expired" else None
        return seen or replace(refused, chain=await presented_chain(address, port, self.seen.name, self.patience))

    async def _as_java(self, channel: Channel, address: str, port: int) -> TlsSeen | None:
        _, streams = await connect(address, port, self.patience)
        if streams is None:
            return None
        other = Channel(*streams, self.patience)
        try:
            seen = await shake_hands_undated(streams, self.client, self.seen.name, self.patience)
            if seen is not None:
                # Exchanged, so that the refused one is closed.
                channel.reader, channel.writer, other.reader, other.writer = *streams, channel.reader, channel.writer
            return seen
        finally:
            await other.close()

    async def _ask_plainly(self, tls: TlsSeen, address: str, port: int) -> TlsSeen:
        """A plain listener takes the hello for a length and hangs up, and so does a gateway without a broker."""
        if await speaks_kafka(address, port, self.patience):
            self.seen = replace(self.seen, speaks="kafka")
            return replace(tls, outcome="not-tls")
        if tls.outcome == "closed":
            self.seen = replace(self.seen, speaks="closed")
        return tls

    async def _greet(self, channel: Channel, address: str, port: int) -> bool:
        try:
            known = await versions(channel)
        except ChannelError as error:
            if self.client.context is not None:
                if about_client_certificate(str(error)):
                    showed = self.client.tls is not None and self.client.tls.certificate
                    self.seen = replace(self.seen, tls=TlsSeen("client-certificate", detail=str(error), showed=showed))
                else:
                    self.seen = replace(self.seen, speaks="closed")
            else:
                what = await speaks(address, port, error, self.patience)
                self.seen = replace(self.seen, speaks=what, first_bytes=error.seen.hex())
            return False
        controller = is_controller(known)
        self.seen = replace(self.seen, speaks="controller" if controller else "kafka", knows=newest_known(known))
        return not controller
