"""Which node answers, by what only it can do: the leader of a partition alone tells its offsets (ListOffsets).

One partition of each leader goes into one request, and exactly one should be answered without an error. It needs
DESCRIBE on some topic, changes nothing and leaves no line in a log. Leaders move: when none or several are answered,
the partitions are read again from whoever answered, once. Fetch would not do: followers serve it too (KIP-392).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from kio.schema.list_offsets.v1.request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kio.schema.list_offsets.v1.response import ListOffsetsResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i64

from brokernat.doctor.probes.channel import Channel
from brokernat.doctor.probes.metadata import partitions

_A_CLIENT, _LATEST = BrokerId(-1), i64(-1)


@dataclass
class Leadership:
    """What is known of each cluster's leaders; shared by all looks of a run, so that it is read once.

    Looks go side by side, and all of them ask at about the same time: the first one reads, the others wait for it.
    """

    _known: dict[str, Mapping[int, tuple[str, int]]] = field(default_factory=dict)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def leader_here(self, channel: Channel, cluster_id: str) -> int | None:
        """The node that answers on this connection, None where that cannot be told; raises ChannelError."""
        old = None
        for _ in range(2):
            leaders = await self._leaders(channel, cluster_id, old)
            leading = await _leading(channel, leaders) if leaders else []
            if len(leading) == 1:
                return leading[0]
            old = leaders
        return None

    async def _leaders(
        self, channel: Channel, cluster_id: str, old: Mapping[int, tuple[str, int]] | None
    ) -> Mapping[int, tuple[str, int]]:
        """What is known, read on this connection where it is nothing or still the `old`."""
        async with self._reading:
            if self._known.get(cluster_id) is old:
                self._known[cluster_id] = (await partitions(channel)).leaders
            return self._known[cluster_id]


async def _leading(channel: Channel, leaders: Mapping[int, tuple[str, int]]) -> list[int]:
    """Those of the leaders whose partition is led here."""
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
