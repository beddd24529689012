"""Who coordinates a group or a transactional id.

FindCoordinator makes Kafka create `__consumer_offsets` or `__transaction_state` where it is missing, so it is asked
only where the topic is seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container

from kio.schema.find_coordinator.v1.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.static.primitive import i8

from brokernat.doctor.evidence import Advertised, Coordinator
from brokernat.doctor.probes.channel import Channel

NOT_ASKED, NOT_ANSWERED = "not-asked", "not-answered"
PAUSE = 1.0
"""Between two looks at what a restart makes right by itself, in seconds."""
_TRANSIENT = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS")
_KEY_TYPES = {"group": i8(0), "transaction": i8(1)}


async def coordinator(channel: Channel, wanted: Coordinator, topics: Container[str]) -> Coordinator:
    """The same with what the broker says, on two looks where there is none; raises ChannelError.

    Args:
        topics: those that are seen, or known to be there.
    """
    if wanted.topic not in topics:
        return Coordinator(wanted.kind, wanted.key, error=NOT_ASKED)
    told = await _told(channel, wanted)
    if told.error in _TRANSIENT:
        await asyncio.sleep(PAUSE)
        told = await _told(channel, wanted)
    return told


async def _told(channel: Channel, wanted: Coordinator) -> Coordinator:
    request = FindCoordinatorRequest(key=wanted.key, key_type=_KEY_TYPES[wanted.kind])
    answer = await channel.ask(request, FindCoordinatorResponse)
    if answer.error_code:
        return Coordinator(wanted.kind, wanted.key, error=answer.error_code.name.upper())
    return Coordinator(wanted.kind, wanted.key, Advertised(int(answer.node_id), answer.host, int(answer.port)))
