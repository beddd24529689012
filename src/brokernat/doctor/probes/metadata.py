"""What a broker tells clients: asked with an empty topic list first, which creates nothing and needs no right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kio.schema.metadata.v5.request import MetadataRequest
from kio.schema.metadata.v5.response import MetadataResponse
from kio.schema.metadata.v6.request import MetadataRequest as MetadataRequestV6
from kio.schema.metadata.v6.response import MetadataResponse as MetadataResponseV6

from brokernat.doctor.evidence import Advertised
from brokernat.doctor.probes.channel import Channel

_LEADER_NOT_AVAILABLE, _LISTENER_NOT_FOUND = 5, 72
# LISTENER_NOT_FOUND is answered from here on; before, it is LEADER_NOT_AVAILABLE too.
_TELLS_LISTENERS = 6


@dataclass(frozen=True, slots=True)
class Told:
    """A cluster as one listener tells it. `brokers` are by node id; `controller_id` is -1 where there is none."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[Advertised, ...]


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of all topics that are visible. `leaders` has one partition of each; `leaderless` those that
    clients cannot use, with Kafka's name of the error and the nodes that hold them."""

    topics: frozenset[str]
    replicas: tuple[int, ...]
    leaders: Mapping[int, tuple[str, int]]
    leaderless: Mapping[tuple[str, int], tuple[str, tuple[int, ...]]]


async def advertised(channel: Channel) -> Told:
    """The cluster and its brokers as this listener advertises them; raises ChannelError."""
    request = MetadataRequest(topics=(), allow_auto_topic_creation=False)
    answer = await channel.ask(request, MetadataResponse)
    brokers = sorted((int(each.node_id), each.host, int(each.port)) for each in answer.brokers or ())
    return Told(answer.cluster_id, int(answer.controller_id), tuple(Advertised(*each) for each in brokers))


async def partitions(channel: Channel, newest: int = 0) -> Partitions:
    """All that is visible; raises ChannelError.

    Args:
        newest: the newest Metadata that the peer knows.
    """
    answer = await _all_topics(channel, newest)
    replicas: set[int] = set()
    leaders: dict[int, tuple[str, int]] = {}
    leaderless: dict[tuple[str, int], tuple[str, tuple[int, ...]]] = {}
    for topic in answer.topics or ():
        for each in topic.partitions or ():
            place = str(topic.name), int(each.partition_index)
            nodes = tuple(map(int, each.replica_nodes or ()))
            replicas.update(nodes)
            if each.error_code in (_LEADER_NOT_AVAILABLE, _LISTENER_NOT_FOUND):
                leaderless[place] = each.error_code.name.upper(), nodes
            elif each.leader_id >= 0:
                leaders.setdefault(int(each.leader_id), place)
    names = frozenset(str(topic.name) for topic in answer.topics or ())
    return Partitions(names, tuple(sorted(replicas)), leaders, leaderless)


async def _all_topics(channel: Channel, newest: int) -> MetadataResponse | MetadataResponseV6:
    if newest >= _TELLS_LISTENERS:
        return await channel.ask(MetadataRequestV6(topics=None, allow_auto_topic_creation=False), MetadataResponseV6)
    return await channel.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), MetadataResponse)
