"""Reads the metadata of a broker, first with an empty topic list, which creates nothing and needs no right.

The request uses the newest version up to 6 that the peer offers, or its oldest if that is newer. Brokers answer
LISTENER_NOT_FOUND from version 6 on, and LEADER_NOT_AVAILABLE before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from kio.schema.describe_configs.v1.request import DescribeConfigsRequest, DescribeConfigsResource
from kio.schema.describe_configs.v1.response import DescribeConfigsResponse
from kio.static.primitive import i8

from brokernat.doctor.evidence import Advertised, ClusterMetadata, TopicSeen
from brokernat.doctor.probes.channel import LARGEST_ANSWER, Channel, ChannelError

Brokers = tuple[Advertised, ...]
Partition = tuple[str, int]
Leaders = Mapping[int, Partition]
"""One partition of each leader."""
UnusablePartitions = Mapping[Partition, tuple[str, tuple[int, ...]]]
"""Partitions that clients cannot use, with Kafka's error name and the nodes that hold them."""

_METADATA = 3
_LEADER_NOT_AVAILABLE, _LISTENER_NOT_FOUND = 5, 72
_PREFERRED, _NEWEST_KNOWN = 6, 13
_AUTO_CREATION_SINCE = 4
_RIGHTS_SINCE, _CLUSTER_RIGHTS_UNTIL, _TOPIC_IDS_SINCE = 8, 10, 10
_OPERATIONS = ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE")
"""Kafka's AclOperation, from code 3 on."""
_TOPIC, _REQUIRED = i8(2), "min.insync.replicas"
_SINCE_3_7 = (1, 16)
"""A version of Fetch since 3.7; from then on a topic requires no more replicas than it has (KAFKA-15583)."""
_MOST_BROKERS = 10_000
_MOST_BYTES = 4 << 20
"""The limit of an answer without topics: ten thousand brokers with long names."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of all visible topics. `in_sync` are the nodes in sync for any partition, so they are up."""

    topics: frozenset[str]
    replicas: tuple[int, ...]
    leaders: Leaders
    leaderless: UnusablePartitions
    in_sync: tuple[int, ...] = ()


async def advertised(channel: Channel, known: dict[Brokers, Brokers]) -> ClusterMetadata:
    """The cluster and its brokers as this listener advertises them; never raises.

    `known` has earlier answers, so that equal lists of hundreds of brokers are kept once.
    """
    try:
        answer = await _ask(channel, (), _MOST_BYTES)
        if answer.brokers is None or len(answer.brokers) > _MOST_BROKERS:
            count = "no list of" if answer.brokers is None else len(answer.brokers)
            raise ChannelError(f"an answer with {count} brokers")
    except ChannelError as error:
        return ClusterMetadata(error.fault, received=error.received, detail=str(error))
    listed = sorted((int(each.node_id), each.host, int(each.port)) for each in answer.brokers)
    brokers = tuple(Advertised(*each) for each in listed)
    controller = getattr(answer, "controller_id", None)
    return ClusterMetadata(
        "ok",
        getattr(answer, "cluster_id", None),
        None if controller is None else int(controller),
        known.setdefault(brokers, brokers),
    )


async def partitions(channel: Channel) -> Partitions:
    """All visible partitions; raises ChannelError."""
    answer = await _ask(channel, None, LARGEST_ANSWER)
    replicas: set[int] = set()
    in_sync: set[int] = set()
    leaders: dict[int, Partition] = {}
    leaderless: dict[Partition, tuple[str, tuple[int, ...]]] = {}
    for topic in answer.topics or ():
        for each in topic.partitions or ():
            place = str(topic.name), int(each.partition_index)
            nodes = tuple(map(int, each.replica_nodes or ()))
            replicas.update(nodes)
            if each.error_code != _LEADER_NOT_AVAILABLE:
                # Without a leader, the last in-sync replica stays in the list although its broker is down.
                in_sync.update(map(int, each.isr_nodes or ()))
            if each.error_code in (_LEADER_NOT_AVAILABLE, _LISTENER_NOT_FOUND):
                leaderless[place] = each.error_code.name.upper(), nodes
            elif each.leader_id >= 0:
                leaders.setdefault(int(each.leader_id), place)
    names = frozenset(str(topic.name) for topic in answer.topics or ())
    return Partitions(names, tuple(sorted(replicas)), leaders, leaderless, tuple(sorted(in_sync)))


async def topics(channel: Channel, names: Sequence[str]) -> tuple[TopicSeen, ...]:
    """The named topics with the rights of the client's user (KIP-430); creates none. Raises ChannelError."""
    answer = await _ask(channel, names, LARGEST_ANSWER, _RIGHTS_SINCE)
    return tuple(_topic(each) for each in answer.topics or ())


def _topic(topic: Any) -> TopicSeen:
    partitions = topic.partitions or ()
    fewest = min(partitions, key=lambda each: len(each.isr_nodes or ()), default=None)
    held, in_sync = ((), ()) if fewest is None else (fewest.replica_nodes or (), fewest.isr_nodes or ())
    return TopicSeen(
        str(topic.name),
        topic.error_code.name.upper() if topic.error_code else "",
        len(partitions),
        _rights(getattr(topic, "topic_authorized_operations", None)),
        None if fewest is None else len(in_sync),
        out_of_sync=tuple(sorted({*map(int, held)} - {*map(int, in_sync)})),
    )


async def with_required(channel: Channel, seen: Sequence[TopicSeen]) -> tuple[TopicSeen, ...]:
    """The topics with their `min.insync.replicas`, as far as the client's user may read them; raises ChannelError."""
    resources = tuple(
        DescribeConfigsResource(resource_type=_TOPIC, resource_name=each.name, configuration_keys=(_REQUIRED,))
        for each in seen
        if not each.error
    )
    if not resources:
        return tuple(seen)
    answer = await channel.ask(DescribeConfigsRequest(resources=resources), DescribeConfigsResponse)
    values = {
        each.resource_name: next((config.value for config in each.configs or () if config.name == _REQUIRED), None)
        for each in answer.results or ()
    }
    capped = channel.offers(*_SINCE_3_7)
    return tuple(replace(each, required=_required(each, values.get(each.name) or "", capped=capped)) for each in seen)


def _required(seen: TopicSeen, setting: str, *, capped: bool) -> int | None:
    if not (setting.isdecimal() and setting.isascii()):
        return None
    required = int(setting)
    return min(required, seen.in_sync + len(seen.out_of_sync)) if capped and seen.in_sync is not None else required


def _rights(bits: int | None) -> tuple[str, ...] | None:
    # A broker without an answer sends the smallest number.
    if bits is None or bits < 0:
        return None
    return tuple(name for code, name in enumerate(_OPERATIONS, 3) if bits >> code & 1)


async def _ask(channel: Channel, topics: Sequence[str] | None, most: int, preferred: int = _PREFERRED) -> Any:
    """The answer, in any version; raises ChannelError."""
    oldest, newest = (0, preferred) if channel.offered is None else channel.offered.get(_METADATA, (0, -1))
    version = max(oldest, min(newest, preferred))
    if not oldest <= version <= newest or version > _NEWEST_KNOWN:
        offered = f"versions {oldest} to {newest}" if newest >= 0 else "none"
        raise ChannelError(f"no version of Metadata fits: the peer offers {offered}", fault="unsupported")
    schema = f"kio.schema.metadata.v{version}"
    requests = import_module(f"{schema}.request")
    options: dict[str, Any] = {"topics": None}
    # Version 0 has no null: an empty list means all topics.
    if topics is not None or version == 0:
        of_topic = {"topic_id": None} if version >= _TOPIC_IDS_SINCE else {}
        options["topics"] = tuple(requests.MetadataRequestTopic(name=each, **of_topic) for each in topics or ())
    if version >= _AUTO_CREATION_SINCE:
        options["allow_auto_topic_creation"] = False
    if version >= _RIGHTS_SINCE:
        options["include_topic_authorized_operations"] = bool(topics)
    if _RIGHTS_SINCE <= version <= _CLUSTER_RIGHTS_UNTIL:
        options["include_cluster_authorized_operations"] = False
    answer = import_module(f"{schema}.response").MetadataResponse
    return await channel.ask(requests.MetadataRequest(**options), answer, most)
