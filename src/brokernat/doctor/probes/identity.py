"""Finds which node answers on a connection, and whether later connections reach the same node.

| method | confidence | how | what it takes |
|---|---|---|---|
| `apiversions` | proven | ApiVersions v5 (KIP-1242) names a cluster and a node; error 129 says "not me" | 4.4 |
| `describeconfigs` | proven | settings of broker -1: error 42, whose text has the broker's id | DESCRIBE_CONFIGS |
| `listoffsets` | likely | the leader of a partition alone tells its offsets | DESCRIBE on a topic that it leads |
| `certificate` | likely | its names fit one broker alone | TLS |

A likely result needs a second connection that agrees. The first method leaves no trace and needs no right. The second
makes the broker log one line, so it is sent once for each endpoint. kio has no ApiVersions v5, so this module writes
its two fields. Fetch cannot replace ListOffsets, because followers serve it too (KIP-392).
"""

from __future__ import annotations

import asyncio
import io
import re
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil, log

from kio.schema.describe_configs.v1.request import DescribeConfigsRequest, DescribeConfigsResource
from kio.schema.describe_configs.v1.response import DescribeConfigsResponse, DescribeConfigsResult
from kio.schema.list_offsets.v1.request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kio.schema.list_offsets.v1.response import ListOffsetsResponse
from kio.schema.types import BrokerId, TopicName
from kio.serial.writers import write_compact_string
from kio.static.primitive import i8, i32, i64

from brokernat.doctor.evidence import ClusterMetadata, Identity, TlsHandshake
from brokernat.doctor.probes.certificates import covers
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.metadata import Leaders, partitions
from brokernat.doctor.probes.versions import API_VERSIONS

LISTENER_SETTINGS = (
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
)
_BROKER = i8(4)
_WITH_IDENTITY = 5
# An id has at most ten digits; an untrusted peer may send thousands.
_EXPECTED = re.compile(r"expected (\d{1,10})(?!\d)")
_NONE, _REBOOTSTRAP_REQUIRED = 0, 129
_LONGEST_ID = 126
"""Longer cluster ids of untrusted peers are not sent; one of Kafka's has 22 letters."""
_A_CLIENT, _LATEST = BrokerId(-1), i64(-1)
_FEWEST, _UNSEEN = 2, 200
_TOGETHER = 2

Meet = Callable[[str, int], Awaitable["int | None"]]
"""Makes a later connection (address, number) and returns the node that answers, None if none does."""


@dataclass
class Leadership:
    """The known partition leaders of each cluster; all probes of a run share them, so they are read once.

    Probes run concurrently and request them at about the same time: the first one reads, the others wait for it.
    """

    _known: dict[str, Leaders] = field(default_factory=dict)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def leader_here(self, channel: Channel, cluster_id: str) -> int | None:
        """The node that answers on this connection, None if unknown; raises ChannelError.

        One request has one partition of each leader, and exactly one should be answered without an error. Leaders move:
        if none or several are, the partitions are read again on this connection, once.
        """
        old = None
        for _ in range(2):
            leaders = await self._leaders(channel, cluster_id, old)
            leading = await _leading(channel, leaders) if leaders else []
            if len(leading) == 1:
                return leading[0]
            old = leaders
        return None

    async def _leaders(self, channel: Channel, cluster_id: str, old: Leaders | None) -> Leaders:
        """The known leaders; read on this connection if there are none or they are still the `old` ones."""
        async with self._reading:
            if self._known.get(cluster_id) is old:
                self._known[cluster_id] = (await partitions(channel)).leaders
            return self._known[cluster_id]


async def identify(
    channel: Channel, told: ClusterMetadata, tls: TlsHandshake | None, expected: int | None, leadership: Leadership
) -> Identity:
    """The node that answers, with its listener settings if the user may read them; raises ChannelError.

    `told` and `tls` are of this connection; the `expected` node is tried first.
    """
    nodes = sorted((each.node_id for each in told.brokers), key=lambda node: node != expected)
    own = await who_answers(channel, told.cluster_id, nodes)
    if own.node_id is not None:
        return replace(own, settings=await listener_settings(channel, own.node_id))
    with suppress(ChannelError):
        if (leader := await leadership.leader_here(channel, told.cluster_id or "")) is not None:
            return Identity(leader, "listoffsets", own.detail)
    named = by_certificate(told, tls)
    return own if named is None else Identity(named, "certificate", own.detail)


async def identify_again(
    channel: Channel, told: ClusterMetadata, first: Identity, tls: TlsHandshake | None, leadership: Leadership
) -> int | None:
    """The node that answers on a later connection, by the method that identified the first; raises ChannelError.

    The request names the first one's node, so the same node sees no error. A broker that does not offer the first one's
    method is another one, of an older release.
    """
    assert first.node_id is not None  # noqa: S101
    cluster_id = told.cluster_id or ""
    match first.method:
        case "listoffsets":
            return await leadership.leader_here(channel, cluster_id)
        case "certificate":
            return by_certificate(told, tls)
        case "apiversions" if not channel.offers(API_VERSIONS, _WITH_IDENTITY):
            return (await who_answers(channel, cluster_id, ())).node_id
        case "apiversions":
            for node_id in (first.node_id, *(each.node_id for each in told.brokers)):
                if await is_node(channel, cluster_id, node_id):
                    return node_id
            return None
    result = await _describe(channel, str(first.node_id))
    return _named(result) if result.error_code else first.node_id


def samples(brokers: int) -> int:
    """How many later connections must reach the same node. An even random balancer over these brokers is then missed in
    less than 1 of 200 cases; pure.

    Eight for two brokers, five for three, two from fifteen on, so many brokers do not cost more connections.
    """
    return _FEWEST if brokers <= 1 else max(_FEWEST, ceil(log(_UNSEEN, brokers)))


async def sampled(first: Identity, addresses: Sequence[str], wanted: int, meet: Meet, until: float) -> Identity:
    """The first identity, compared with the nodes of later connections; these leave no trace if it is the same node.

    They use all addresses of the name in turn, because clients use any of them. They stop when one reaches another
    node, or at the end of the time, so that earlier results are kept. If one gets no answer, the broker may allow few
    connections, so the rest run one at a time. `until` is the end by the loop's clock.
    """
    clock, numbers, together = asyncio.get_running_loop(), count(), _TOGETHER
    found = [(addresses[0], first.node_id)]
    wanted = max(wanted, len(addresses) - 1)
    result = first
    while len(found) <= wanted:
        begun = clock.time()
        turn = [next(numbers) for _ in range(min(together, wanted + 1 - len(found)))]
        places = [addresses[(number + 1) % len(addresses)] for number in turn]
        try:
            async with asyncio.timeout_at(until):
                met = await asyncio.gather(*map(meet, places, turn))
        except TimeoutError:
            break
        found += zip(places, met, strict=True)
        together = 1 if None in met else together
        result = settled(first, found)
        if result.others or clock.time() + 2 * (clock.time() - begun) > until:
            break
    return result


def settled(first: Identity, met: Collection[tuple[str, int | None]]) -> Identity:
    """The first identity together with all connections; an indirect method needs a later one that agrees. Pure."""
    known = tuple(dict.fromkeys((address, node) for address, node in met if node is not None))
    others = tuple(sorted({node for _, node in known} - {first.node_id}))
    agreeing = [node for _, node in met if node == first.node_id]
    if first.confidence == "likely" and len(agreeing) < _FEWEST and not others:
        return Identity(None, "none", first.detail)
    answered = Counter(address for address, node in met if node == first.node_id)
    fewest = min((answered[address] for address, _ in met), default=0)
    return replace(first, others=others, met=known, connections=fewest)


def by_certificate(told: ClusterMetadata, tls: TlsHandshake | None) -> int | None:
    """The one broker whose advertised host the certificate names, None where it names several or none. Pure."""
    names = () if tls is None else tls.names
    fitting = [each.node_id for each in told.brokers if covers(names, each.host)]
    return fitting[0] if len(fitting) == 1 else None


async def who_answers(channel: Channel, cluster_id: str | None, candidates: Iterable[int]) -> Identity:
    """The node id by the node's own statement, for which it may need the candidates; raises ChannelError."""
    if cluster_id and channel.offers(API_VERSIONS, _WITH_IDENTITY):
        for node_id in candidates:
            if await is_node(channel, cluster_id, node_id):
                return Identity(node_id, "apiversions")
    try:
        result = await _describe(channel, "-1")
    except ChannelError as error:
        if error.fault != "unsupported":
            raise
        return Identity(None, "none", str(error))
    named = _named(result)
    return Identity(None, "none", result.error_code.name) if named is None else Identity(named, "describeconfigs")


async def is_node(channel: Channel, cluster_id: str, node_id: int) -> bool:
    """Whether this is that node of that cluster (KIP-1242); raises ChannelError."""
    if len(cluster_id) > _LONGEST_ID:
        raise ChannelError("a cluster id that is none")
    body = io.BytesIO()
    for text in ("brokernat", "0", cluster_id):
        write_compact_string(body, text)
    body.write(struct.pack(">i", node_id) + b"\0")
    answer = await channel.ask_raw(API_VERSIONS, _WITH_IDENTITY, body.getvalue(), flexible=True)
    code = int(struct.unpack(">h", answer[:2])[0]) if len(answer) >= 2 else -1
    if code not in (_NONE, _REBOOTSTRAP_REQUIRED):
        raise ChannelError(f"ApiVersions v5 is answered with error {code}")
    return code == _NONE


def _named(result: DescribeConfigsResult) -> int | None:
    found = _EXPECTED.search(result.error_message or "")
    return int(found[1]) if found else None


async def listener_settings(channel: Channel, node_id: int) -> tuple[tuple[str, str], ...]:
    """The broker's own listener settings; empty without the right to read them. Raises ChannelError."""
    if not channel.offers(int(DescribeConfigsRequest.__api_key__), int(DescribeConfigsRequest.__version__)):
        return ()
    result = await _describe(channel, str(node_id))
    return tuple((each.name, each.value or "") for each in result.configs or () if each.name in LISTENER_SETTINGS)


async def _describe(channel: Channel, name: str) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(resource_type=_BROKER, resource_name=name, configuration_keys=LISTENER_SETTINGS)
    answer = await channel.ask(DescribeConfigsRequest(resources=(resource,)), DescribeConfigsResponse)
    if not answer.results:
        raise ChannelError("an answer without a result")
    return answer.results[0]


async def _leading(channel: Channel, leaders: Leaders) -> list[int]:
    """The leaders whose partition this node leads."""
    topics: dict[str, list[int]] = {}
    for topic, partition in leaders.values():
        topics.setdefault(topic, []).append(partition)
    request = ListOffsetsRequest(
        replica_id=_A_CLIENT,
        topics=tuple(
            ListOffsetsTopic(
                name=TopicName(topic),
                partitions=tuple(ListOffsetsPartition(partition_index=i32(n), timestamp=_LATEST) for n in numbers),
            )
            for topic, numbers in topics.items()
        ),
    )
    answer = await channel.ask(request, ListOffsetsResponse)
    led = {
        (str(topic.name), int(each.partition_index))
        for topic in answer.topics or ()
        for each in topic.partitions or ()
        if not each.error_code
    }
    return [node_id for node_id, place in leaders.items() if place in led]
