"""What clients are told on the other listeners of the bootstrap servers' nodes, and what they meet from here.

A broker answers with the endpoints of the listener that a client came in on, so no answer shows the others; the node's
own settings name them (DescribeConfigs). Each is looked at once and who answers is not asked: brokers before 4.4 would
log a line for it. Where a listener wants another protocol than this client has, name and connection are all there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from brokernat.address import AddressMap, Endpoint
from brokernat.doctor.broker_files.listeners import broker_listeners
from brokernat.doctor.evidence import BrokerFile, ListenerSeen, Look, Path
from brokernat.doctor.probes.look import Looker
from brokernat.errors import ConfigError


async def listeners_seen(
    bootstraps: Sequence[Look], paths: Sequence[Path], address_map: AddressMap | None, looker: Looker
) -> tuple[ListenerSeen, ...]:
    """All listeners that the nodes behind the bootstrap servers advertise, by node id, in the order of their settings.

    Args:
        bootstraps: what was seen there.
        paths: endpoints that were dialled already are not dialled again.
        address_map: a rule that names such an endpoint applies.
        looker: the client that looks.
    """
    known = {path.broker.endpoint: path.look for path in paths}
    nodes: dict[int, list[Look]] = {}
    for look in bootstraps:
        if look.identity is not None and look.identity.node_id is not None and look.settings:
            nodes.setdefault(look.identity.node_id, []).append(look)
    found = await asyncio.gather(
        *(_of_node(node_id, looks, known, address_map, looker) for node_id, looks in sorted(nodes.items()))
    )
    return tuple(each for of_node in found for each in of_node)


async def _of_node(
    node_id: int,
    looks: Sequence[Look],
    known: Mapping[str, Look | None],
    address_map: AddressMap | None,
    looker: Looker,
) -> list[ListenerSeen]:
    settings = tuple((name, value) for name, value in looks[0].settings if value)
    described = broker_listeners(BrokerFile(f"node {node_id}", settings))
    told = {look.endpoint: {each.endpoint for each in look.brokers or () if each.node_id == node_id} for look in looks}

    async def seen(name: str, endpoint: str) -> ListenerSeen:
        entered = tuple(server for server, endpoints in told.items() if endpoint in endpoints)
        if endpoint in known:
            return ListenerSeen(node_id, name, endpoint, known[endpoint], entered)
        same = described.protocols.get(name) == looker.client.protocol
        return ListenerSeen(node_id, name, endpoint, await _look(endpoint, address_map, looker, same), entered)

    return list(await asyncio.gather(*(seen(each.name, each.endpoint) for each in described.advertised)))


async def _look(endpoint: str, address_map: AddressMap | None, looker: Looker, same_protocol: bool) -> Look | None:
    try:
        advertised = target = Endpoint.parse(endpoint)
        if address_map is not None and address_map.find(advertised) is not None:
            target = address_map.translate(advertised).endpoint
    except ConfigError:
        return None
    if not same_protocol:
        return await looker.touch(target)
    look = await looker.told(target, advertised.host)
    # No client with this configuration dials it, so the login stays here; then the connection is all there is to see.
    return replace(look, sasl=None, speaks=None) if looker.client.withheld_from(look) else look
