"""Who coordinates, asked of the nodes themselves: for users who do not see the topic that keeps coordinators' state.

FindCoordinator needs DESCRIBE on the group and no right on `__consumer_offsets`. Yet it cannot be asked at once: where
the topic is missing, Kafka creates it for whoever asks (KafkaApis.getCoordinator). DescribeGroups, and from 3.0 on
DescribeTransactions, need the same right and create nothing. The node that does not answer NOT_COORDINATOR is the
coordinator, so the topic is there, as it is where a node lists any group that it coordinates; then asking is safe.
"""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import Iterable, Sequence

from kio.schema.describe_groups.v1.request import DescribeGroupsRequest
from kio.schema.describe_groups.v1.response import DescribeGroupsResponse
from kio.schema.describe_transactions.v0.request import DescribeTransactionsRequest
from kio.schema.errors import ErrorCode
from kio.schema.list_groups.v0.request import ListGroupsRequest
from kio.schema.list_groups.v0.response import ListGroupsResponse
from kio.schema.types import GroupId, TransactionalId
from kio.serial import entity_writer

from brokernat.address import Endpoint
from brokernat.doctor.evidence import Coordinator, Look
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.coordinators import NOT_ASKED, coordinator
from brokernat.doctor.probes.look import Looker

_COORDINATES = {
    ErrorCode.none,
    ErrorCode.coordinator_load_in_progress,
    ErrorCode.group_id_not_found,
    ErrorCode.transactional_id_not_found,
}
_FORBIDDEN = {ErrorCode.group_authorization_failed, ErrorCode.transactional_id_authorization_failed}


async def told_by_nodes(
    looker: Looker, looks: Iterable[Look], wanted: Sequence[Coordinator]
) -> tuple[Coordinator, ...]:
    """The same, where those that were not asked for are asked of every node; what no node tells stays as it is.

    Args:
        looks: where nodes answer; each endpoint is asked once.
        wanted: as the survey left them.
    """
    unasked = [each for each in wanted if each.error == NOT_ASKED]
    if not unasked:
        return tuple(wanted)
    places = {look.endpoint: look for look in looks}
    answers = await asyncio.gather(*(_at_node(looker, look, unasked) for look in places.values()))
    told = [each for answer in answers for each in answer]
    # Nodes that say who it is come before nodes that may not say.
    told.sort(key=lambda each: each.broker is None)
    return tuple(next((new for new in told if _same(new, each)), each) for each in wanted)


async def _at_node(looker: Looker, look: Look, wanted: Sequence[Coordinator]) -> list[Coordinator]:
    """What this node tells until the time runs out."""
    found: list[Coordinator] = []
    try:
        async with (
            looker.parallel,
            asyncio.timeout_at(looker.deadline),
            looker.channel(look, Endpoint.parse(look.endpoint)) as (channel, _),
        ):
            if channel is not None:
                for each in wanted:
                    told = await _told(channel, look, each)
                    found += [] if told is None else [told]
    except (TimeoutError, ChannelError):
        pass
    return found


async def _told(channel: Channel, look: Look, wanted: Coordinator) -> Coordinator | None:
    """What this node gives away of one of them, None where that is nothing; raises ChannelError."""
    if wanted.kind == "transaction" and look.newest("DescribeTransactions") < 0:
        return None
    code = await _own_part(channel, wanted)
    if code in _FORBIDDEN:
        return Coordinator(wanted.kind, wanted.key, error=code.name.upper())
    if code in _COORDINATES or (wanted.kind == "group" and await _coordinates_any_group(channel)):
        return await coordinator(channel, wanted, {wanted.topic})
    return None


async def _own_part(channel: Channel, wanted: Coordinator) -> ErrorCode:
    """What the node says when it is asked as the coordinator; raises ChannelError."""
    if wanted.kind == "transaction":
        return await _of_transaction(channel, wanted.key)
    answer = await channel.ask(DescribeGroupsRequest(groups=(GroupId(wanted.key),)), DescribeGroupsResponse)
    return next((each.error_code for each in answer.groups), ErrorCode.unknown_server_error)


async def _of_transaction(channel: Channel, transactional_id: str) -> ErrorCode:
    body = io.BytesIO()
    request = DescribeTransactionsRequest(transactional_ids=(TransactionalId(transactional_id),))
    entity_writer(DescribeTransactionsRequest)(body, request)
    answer = await channel.ask_raw(int(request.__api_key__), 0, body.getvalue(), flexible=True)
    try:
        # kio takes no answer about an id without a transaction, whose start is -1; tags, throttle time, count, error.
        return ErrorCode(struct.unpack_from(">xiBh", answer)[2])
    except (struct.error, ValueError):
        raise ChannelError("an answer that is no Kafka", answer[:16]) from None


async def _coordinates_any_group(channel: Channel) -> bool:
    """Only groups that this user may DESCRIBE are listed; raises ChannelError."""
    return bool((await channel.ask(ListGroupsRequest(), ListGroupsResponse)).groups)


def _same(one: Coordinator, other: Coordinator) -> bool:
    return (one.kind, one.key) == (other.kind, other.key) and other.error == NOT_ASKED
