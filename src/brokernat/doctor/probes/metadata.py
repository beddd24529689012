"""What a broker tells clients: asked with an empty topic list first, which creates nothing and needs no right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kio.schema.metadata.v5.request import MetadataRequest
from kio.schema.metadata.v5.response import MetadataResponse

from brokernat.doctor.evidence import Advertised

if TYPE_CHECKING:
    from brokernat.doctor.probes.channel import Channel


async def advertised(channel: Channel) -> tuple[str | None, tuple[Advertised, ...]]:
    """The cluster's id and its brokers as this listener advertises them, by node id; raises ChannelError."""
    request = MetadataRequest(topics=(), allow_auto_topic_creation=False)
    answer = await channel.ask(request, MetadataResponse)
    brokers = sorted((int(each.node_id), each.host, int(each.port)) for each in answer.brokers or ())
    return answer.cluster_id, tuple(Advertised(*each) for each in brokers)


async def replica_nodes(channel: Channel) -> tuple[int, ...]:
    """The node ids that the partitions of all visible topics name; raises ChannelError."""
    answer = await channel.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), MetadataResponse)
    return tuple(
        sorted(
            {
                int(node)
                for topic in answer.topics or ()
                for partition in topic.partitions or ()
                for node in partition.replica_nodes or ()
            }
        )
    )
