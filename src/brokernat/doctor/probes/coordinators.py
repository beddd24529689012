"""Who coordinates a group or a transactional id.

FindCoordinator makes Kafka create `__consumer_offsets` or `__transaction_state` where it is missing, so it is asked
only where the topic is seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kio.schema.find_coordinator.v1.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.static.primitive import i8

from brokernat.doctor.evidence import Advertised, Coordinator

if TYPE_CHECKING:
    from collections.abc import Container

    from brokernat.doctor.probes.channel import Channel

NOT_ASKED = "not-asked"
TRANSIENT = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS")
_KEY_TYPES = {"group": i8(0), "transaction": i8(1)}


async def coordinator(channel: Channel, wanted: Coordinator, topics: Container[str]) -> Coordinator:
    """The same with what the broker says; raises ChannelError."""
    if wanted.topic not in topics:
        return Coordinator(wanted.kind, wanted.key, error=NOT_ASKED)
    request = FindCoordinatorRequest(key=wanted.key, key_type=_KEY_TYPES[wanted.kind])
    answer = await channel.ask(request, FindCoordinatorResponse)
    if answer.error_code:
        return Coordinator(wanted.kind, wanted.key, error=answer.error_code.name.upper())
    return Coordinator(wanted.kind, wanted.key, Advertised(int(answer.node_id), answer.host, int(answer.port)))
