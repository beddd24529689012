"""The way in: name, connection, TLS, greeting, login, each only when the one before it worked.

What was seen so far stands in `seen` at every moment, because the time may run out in the middle of a step.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brokernat.doctor.evidence import TlsSeen
from brokernat.doctor.probes.api_versions import is_controller, newest_known, versions
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.dialling import connect, resolve
from brokernat.doctor.probes.greeting import speaks, speaks_kafka
from brokernat.doctor.probes.hosts_file import deciding_line
from brokernat.doctor.probes.sasl import log_in
from brokernat.doctor.probes.tls import shake_hands

if TYPE_CHECKING:
    from brokernat.address import Endpoint
    from brokernat.doctor.client_side import ClientSide
    from brokernat.doctor.evidence import Look
    from brokernat.doctor.probes.dialling import Streams


@dataclass
class Walk:
    """One connection as one client. `patience` bounds each step, in seconds."""

    client: ClientSide
    patience: float
    seen: Look

    async def reach(self, endpoint: Endpoint) -> Streams | None:
        """A connection to the first address that takes one; all are tried."""
        addresses, error = await resolve(endpoint.host, endpoint.port, self.patience)
        line = deciding_line(endpoint.host, addresses)
        self.seen = replace(self.seen, addresses=addresses, dns_error=error, hosts_entry=line)
        tried = await asyncio.gather(*(connect(address, endpoint.port, self.patience) for address in addresses))
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
        channel = Channel(*streams, self.patience)
        entered = False
        try:
            entered = await self._enter(channel, streams, address, endpoint.port)
        finally:
            # Also where the time ran out in the middle.
            if not entered:
                await channel.close()
        return channel if entered else None

    async def _enter(self, channel: Channel, streams: Streams, address: str, port: int) -> bool:
        if self.client.context is not None:
            tls = await shake_hands(streams, self.client, self.seen.name, self.patience)
            self.seen = replace(self.seen, tls=tls)
            if tls.outcome == "not-tls" and await speaks_kafka(address, port, self.patience):
                self.seen = replace(self.seen, speaks="kafka")
            if tls.outcome != "ok":
                return False
        if not await self._greet(channel, address, port):
            return False
        if not self.client.sasl:
            return True
        sasl = await log_in(channel, self.client)
        self.seen = replace(self.seen, sasl=sasl)
        return sasl.outcome == "ok"

    async def _greet(self, channel: Channel, address: str, port: int) -> bool:
        try:
            known = await versions(channel)
        except ChannelError as error:
            if self.client.context is not None:
                # In TLS 1.3 a demand for the client's certificate shows with the first answer.
                if "CERTIFICATE" in str(error).upper():
                    self.seen = replace(self.seen, tls=TlsSeen("client-certificate", detail=str(error)))
                else:
                    self.seen = replace(self.seen, speaks="closed")
            else:
                what = await speaks(address, port, error, self.patience)
                self.seen = replace(self.seen, speaks=what, first_bytes=error.seen.hex())
            return False
        controller = is_controller(known)
        self.seen = replace(self.seen, speaks="controller" if controller else "kafka", knows=newest_known(known))
        return not controller
