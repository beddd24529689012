"""Which node answers on this connection, by its own word.

| method | brokers | how |
|---|---|---|
| `apiversions` | 4.4 and newer | ApiVersions v5 (KIP-1242) names a cluster and a node; error 129 says "not me" |
| `describeconfigs` | 1.0 and newer | the settings of broker -1: error 42, whose text names the broker's real id |

The first leaves no trace and needs no right. The second makes the broker log one line, so it is asked once for each
endpoint; it needs DESCRIBE_CONFIGS on the cluster. kio has no ApiVersions v5: its two fields are written here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from kio.schema.describe_configs.v1.request import DescribeConfigsRequest, DescribeConfigsResource
from kio.schema.describe_configs.v1.response import DescribeConfigsResponse, DescribeConfigsResult
from kio.static.primitive import i8

from brokernat.doctor.evidence import Identity
from brokernat.doctor.probes.api_versions import API_VERSIONS
from brokernat.doctor.probes.channel import Channel, ChannelError

LISTENER_SETTINGS = (
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
)
_BROKER = i8(4)
# An id has ten digits at most; what a stranger writes may have thousands.
_EXPECTED = re.compile(r"expected (\d{1,10})(?!\d)")
_NONE, _REBOOTSTRAP_REQUIRED = 0, 129
# The length of a compact string is a varint, of one byte up to here; a cluster id has 22 letters.
_ONE_BYTE = 127


async def who_answers(channel: Channel, newest: int, cluster_id: str | None, candidates: Iterable[int]) -> Identity:
    """Who this is; raises ChannelError.

    Args:
        newest: the newest ApiVersions that the peer knows.
        candidates: node ids of the cluster, to be asked one by one where that is the method.
    """
    if newest >= 5 and cluster_id:
        for node_id in candidates:
            if await is_node(channel, cluster_id, node_id):
                return Identity(node_id, "apiversions")
    return await _by_settings(channel)


async def is_node(channel: Channel, cluster_id: str, node_id: int) -> bool:
    """Whether this is that node of that cluster, asked by KIP-1242; raises ChannelError."""
    body = b"".join(map(_compact, ("brokernat", "0", cluster_id))) + struct.pack(">i", node_id) + b"\0"
    answer = await channel.ask_raw(API_VERSIONS, 5, body, flexible=True)
    code = int(struct.unpack(">h", answer[:2])[0]) if len(answer) >= 2 else -1
    if code not in (_NONE, _REBOOTSTRAP_REQUIRED):
        raise ChannelError(f"ApiVersions v5 is answered with error {code}")
    return code == _NONE


async def who_answers_again(
    channel: Channel, first: Identity, cluster_id: str | None, candidates: Iterable[int]
) -> int | None:
    """Who a later connection meets, asked for the first one's node, which is no mistake where it is still that one;
    raises ChannelError."""
    assert first.node_id is not None  # noqa: S101
    if first.method == "apiversions" and cluster_id:
        for node_id in (first.node_id, *candidates):
            if await is_node(channel, cluster_id, node_id):
                return node_id
        return None
    result = await _describe(channel, str(first.node_id))
    return _named(result) if result.error_code else first.node_id


async def _by_settings(channel: Channel) -> Identity:
    result = await _describe(channel, "-1")
    node_id = _named(result)
    if node_id is not None:
        return Identity(node_id, "describeconfigs")
    return Identity(None, "none", result.error_code.name)


def _named(result: DescribeConfigsResult) -> int | None:
    found = _EXPECTED.search(result.error_message or "")
    return int(found[1]) if found else None


async def listener_settings(channel: Channel, node_id: int) -> tuple[tuple[str, str], ...]:
    """The broker's own words about its listeners; empty without the right to read them. Raises ChannelError."""
    result = await _describe(channel, str(node_id))
    return tuple((each.name, each.value or "") for each in result.configs or () if each.name in LISTENER_SETTINGS)


async def _describe(channel: Channel, name: str) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(resource_type=_BROKER, resource_name=name, configuration_keys=LISTENER_SETTINGS)
    answer = await channel.ask(DescribeConfigsRequest(resources=(resource,)), DescribeConfigsResponse)
    if not answer.results:
        raise ChannelError("an answer without a result")
    return answer.results[0]


def _compact(text: str) -> bytes:
    data = text.encode()
    if len(data) >= _ONE_BYTE:
        raise ChannelError("a cluster id that is none")
    return bytes([len(data) + 1]) + data
