"""What a peer knows: the requests it lists tell a broker from a controller, and how old it is."""

from __future__ import annotations

from collections.abc import Mapping

from kio.schema.api_versions.v0.request import ApiVersionsRequest
from kio.schema.api_versions.v0.response import ApiVersionsResponse

from brokernat.doctor.probes.channel import Channel

API_VERSIONS = 18
_METADATA, _BROKER_REGISTRATION = 3, 62
_KEPT = {0: "Produce", _METADATA: "Metadata", API_VERSIONS: "ApiVersions", 65: "DescribeTransactions"}


async def versions(channel: Channel) -> dict[int, int]:
    """The newest version of each request that the peer knows; raises ChannelError."""
    answer = await channel.ask(ApiVersionsRequest(), ApiVersionsResponse)
    return {int(each.api_key): int(each.max_version) for each in answer.api_keys or ()}


def is_controller(known: Mapping[int, int]) -> bool:
    """Whether this is a KRaft controller's own listener: brokers register there, and clients get no metadata."""
    return _BROKER_REGISTRATION in known and _METADATA not in known


def newest_known(known: Mapping[int, int]) -> tuple[tuple[str, int], ...]:
    """What evidence keeps of it."""
    return tuple((name, known[key]) for key, name in _KEPT.items() if key in known)
