"""Reads the cluster's partitions, and the topics and coordinators that were asked for, once for a cluster.

Partitions without a leader and missing coordinators may be caused by a restart, so they count only if a second request
after a pause gives the same.

FindCoordinator makes Kafka create `__consumer_offsets` or `__transaction_state` where it is missing
(KafkaApis.getCoordinator), so it is sent only if the topic is visible. A user who does not see the topic may still have
DESCRIBE on the group. Then DescribeGroups, or from 3.0 on DescribeTransactions, is sent to every node: they need the
same right and create nothing. The node that does not answer NOT_COORDINATOR is the coordinator, and the topic exists.
It also exists if a node lists any group that it coordinates.

Clients need more than DESCRIBE: READ on the group, WRITE on the id. A broker checks that right before anything else
(KafkaApis), so a Heartbeat of no member and an EndTxn of no producer show it and change nothing.
"""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kio.schema.describe_groups.v1.request import DescribeGroupsRequest
from kio.schema.describe_groups.v1.response import DescribeGroupsResponse
from kio.schema.describe_transactions.v0.request import DescribeTransactionsRequest
from kio.schema.end_txn.v1.request import EndTxnRequest
from kio.schema.end_txn.v1.response import EndTxnResponse
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v1.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.schema.heartbeat.v1.request import HeartbeatRequest
from kio.schema.heartbeat.v1.response import HeartbeatResponse
from kio.schema.list_groups.v0.request import ListGroupsRequest
from kio.schema.list_groups.v0.response import ListGroupsResponse
from kio.schema.types import GroupId, ProducerId, TransactionalId
from kio.serial import entity_writer
from kio.static.primitive import i8, i16, i32

from brokernat.address import Endpoint
from brokernat.doctor.evidence import Advertised, Coordinator, EndpointProbe, Leaderless, TopicSeen
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.metadata import UnusablePartitions, partitions, topics, with_required
from brokernat.doctor.probes.walk import Prober

NOT_ASKED, NOT_ANSWERED = "not-asked", "not-answered"
PAUSE = 1.0
"""The pause before the second request, in seconds."""
_TRANSIENT = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS")
_KEY_TYPES = {"group": i8(0), "transaction": i8(1)}
_COORDINATES = {
    ErrorCode.none,
    ErrorCode.coordinator_load_in_progress,
    ErrorCode.group_id_not_found,
    ErrorCode.transactional_id_not_found,
}
_FORBIDDEN = {ErrorCode.group_authorization_failed, ErrorCode.transactional_id_authorization_failed}


@dataclass(slots=True)
class Survey:
    """The results so far. `replicas` is None if the partitions could not be read."""

    replicas: tuple[int, ...] | None = None
    in_sync: tuple[int, ...] = ()
    leaderless: tuple[Leaderless, ...] = ()
    topics: tuple[TopicSeen, ...] = ()
    coordinators: list[Coordinator] = field(default_factory=list)


async def survey(
    prober: Prober, probe: EndpointProbe, wanted: Sequence[Coordinator], named: Sequence[str] = ()
) -> Survey:
    """The partitions, the `wanted` coordinators and the `named` topics, until the time runs out."""
    found = Survey(topics=tuple(TopicSeen(name, NOT_ANSWERED) for name in named))

    async def ask(channel: Channel) -> None:
        if named:
            found.topics = await topics(channel, named)
            with suppress(ChannelError):
                found.topics = await with_required(channel, found.topics)
        seen = await partitions(channel)
        found.replicas, found.in_sync = seen.replicas, seen.in_sync
        still: UnusablePartitions = {}
        if seen.leaderless:
            await asyncio.sleep(PAUSE)
            later = (await partitions(channel)).leaderless
            still = {place: later[place] for place in seen.leaderless if place in later}
            found.leaderless = _summed(still, named)
        for each in wanted:
            found.coordinators.append(await coordinator(channel, each, seen.topics))
        if named:
            # The partition that keeps the state of a group is as important as the topics that were asked for.
            missing = [each.topic for each in found.coordinators if each.error in _TRANSIENT]
            found.leaderless = _summed(still, (*named, *missing))

    await _in_time(prober, probe, probe.node_id, ask)
    left = wanted[len(found.coordinators) :]
    found.coordinators += [Coordinator(each.kind, each.key, error=NOT_ANSWERED) for each in left]
    return found


async def _in_time(
    prober: Prober, probe: EndpointProbe, node_id: int | None, ask: Callable[[Channel], Awaitable[None]]
) -> None:
    """Sends requests on one more connection to a probed endpoint, until it ends or the time runs out."""
    with suppress(TimeoutError, ChannelError):
        async with (
            prober.parallel,
            prober.turn(Endpoint.parse(probe.endpoint), node_id),
            asyncio.timeout_at(prober.deadline),
            prober.channel(probe) as (channel, _),
        ):
            if channel is not None:
                await ask(channel)


def _summed(places: UnusablePartitions, named: Sequence[str]) -> tuple[Leaderless, ...]:
    """One record for each error, with the first partition as its sample; others for topics that are not named."""
    found: dict[tuple[str, bool], list[tuple[str, tuple[int, ...]]]] = {}
    for (topic, number), (error, nodes) in sorted(places.items()):
        found.setdefault((error, not named or topic in named), []).append((f"{topic}-{number}", nodes))
    return tuple(
        Leaderless(error, len(group), group[0][0], tuple(sorted(set().union(*(nodes for _, nodes in group)))), wanted)
        for (error, wanted), group in found.items()
    )


async def coordinator(channel: Channel, wanted: Coordinator, topics: Container[str]) -> Coordinator:
    """The coordinator with the broker's answer, requested twice if there is none; raises ChannelError.

    `topics` are visible or known to exist.
    """
    if wanted.topic not in topics:
        return Coordinator(wanted.kind, wanted.key, error=NOT_ASKED)
    told = await _asked(channel, wanted)
    if told.error in _TRANSIENT:
        await asyncio.sleep(PAUSE)
        told = await _asked(channel, wanted)
    return told if told.broker is None else replace(told, forbidden=await _is_forbidden(channel, wanted))


async def _is_forbidden(channel: Channel, wanted: Coordinator) -> bool:
    """Whether the client's user may not join the group, or not write with the id; no if the broker does not tell."""
    with suppress(ChannelError):
        answer: HeartbeatResponse | EndTxnResponse
        if wanted.kind == "group":
            beat = HeartbeatRequest(group_id=GroupId(wanted.key), generation_id=i32(-1), member_id="")
            answer = await channel.ask(beat, HeartbeatResponse)
        else:
            end = EndTxnRequest(
                transactional_id=TransactionalId(wanted.key),
                producer_id=ProducerId(-1),
                producer_epoch=i16(-1),
                committed=False,
            )
            answer = await channel.ask(end, EndTxnResponse)
        return answer.error_code in _FORBIDDEN
    return False


async def _asked(channel: Channel, wanted: Coordinator) -> Coordinator:
    request = FindCoordinatorRequest(key=wanted.key, key_type=_KEY_TYPES[wanted.kind])
    answer = await channel.ask(request, FindCoordinatorResponse)
    if answer.error_code:
        return Coordinator(wanted.kind, wanted.key, error=answer.error_code.name.upper())
    return Coordinator(wanted.kind, wanted.key, Advertised(int(answer.node_id), answer.host, int(answer.port)))


async def told_by_nodes(
    prober: Prober, probes: Iterable[EndpointProbe], wanted: Sequence[Coordinator]
) -> tuple[Coordinator, ...]:
    """The coordinators after a request to every node for those with `not-asked`; the rest stays as it is."""
    unasked = [each for each in wanted if each.error == NOT_ASKED]
    if not unasked:
        return tuple(wanted)
    places = {probe.endpoint: probe for probe in probes}
    answers = await asyncio.gather(*(_at_node(prober, probe, unasked) for probe in places.values()))
    told = [each for answer in answers for each in answer]
    # Answers that name the coordinator come first, and the first one counts.
    told.sort(key=lambda each: each.broker is None)
    found = {(each.kind, each.key): each for each in reversed(told)}
    return tuple(found.get((each.kind, each.key), each) if each.error == NOT_ASKED else each for each in wanted)


async def _at_node(prober: Prober, probe: EndpointProbe, wanted: Sequence[Coordinator]) -> list[Coordinator]:
    """The coordinators that this node reports until the time runs out."""
    found: list[Coordinator] = []

    async def ask(channel: Channel) -> None:
        for each in wanted:
            told = await _told(channel, each)
            found.extend([] if told is None else [told])

    await _in_time(prober, probe, None, ask)
    return found


async def _told(channel: Channel, wanted: Coordinator) -> Coordinator | None:
    """The answer of this node about one coordinator, None if it has none; raises ChannelError."""
    if wanted.kind == "group":
        answer = await channel.ask(DescribeGroupsRequest(groups=(GroupId(wanted.key),)), DescribeGroupsResponse)
        code = next((each.error_code for each in answer.groups), ErrorCode.unknown_server_error)
    elif channel.offers(int(DescribeTransactionsRequest.__api_key__), 0):
        code = await _of_transaction(channel, wanted.key)
    else:
        return None
    if code in _FORBIDDEN:
        return Coordinator(wanted.kind, wanted.key, error=code.name.upper())
    coordinates = code in _COORDINATES
    if not coordinates and wanted.kind == "group":
        # The node lists only groups that this user may DESCRIBE.
        coordinates = bool((await channel.ask(ListGroupsRequest(), ListGroupsResponse)).groups)
    return await coordinator(channel, wanted, {wanted.topic}) if coordinates else None


async def _of_transaction(channel: Channel, transactional_id: str) -> ErrorCode:
    body = io.BytesIO()
    request = DescribeTransactionsRequest(transactional_ids=(TransactionalId(transactional_id),))
    entity_writer(DescribeTransactionsRequest)(body, request)
    answer = await channel.ask_raw(int(request.__api_key__), 0, body.getvalue(), flexible=True)
    try:
        # kio cannot decode the answer for an id without a transaction, whose start is -1; tags, throttle time, count,
        # error.
        return ErrorCode(struct.unpack_from(">xiBh", answer)[2])
    except (struct.error, ValueError):
        raise ChannelError("an answer that is no Kafka", answer[:16]) from None
