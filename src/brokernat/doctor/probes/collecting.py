"""Collects evidence from the network: the bootstrap servers first, then the brokers that they advertise, as the client
dials them.

Every endpoint is probed once: a map target that is also a bootstrap server shares its probe. The bootstrap servers may
use half of the total time, so an endpoint that drops packets leaves time for the brokers.

A broker answers with the endpoints of the client's listener only; the node's settings name the others
(DescribeConfigs). Each of these is probed once. The identity stage is left out if clients reach every node, because
brokers before 4.4 log a line for it; otherwise a listener may be advised, and must lead to the right nodes. If a
listener has another protocol than this client, only name and connection are probed. This distinguishes a broker that is
down from one that lacks a listener; without the settings, the in-sync replicas do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.config import Cluster
from brokernat.doctor.broker_files.listeners import node_listeners
from brokernat.doctor.credentials import CANONICAL, ClientSide, client_side, dialled
from brokernat.doctor.evidence import (
    Advertised,
    BrokerPath,
    Coordinator,
    EndpointProbe,
    Evidence,
    ListenerSeen,
    Stage,
    now,
)
from brokernat.doctor.probes.limits import limits
from brokernat.doctor.probes.network import TRIES
from brokernat.doctor.probes.survey import Survey, survey, told_by_nodes
from brokernat.doctor.probes.walk import Prober, Shared, patience_of
from brokernat.errors import ConfigError

Place = tuple[Endpoint, str]

PARALLEL = 32
MOST_NODES = 1000
"""More brokers than any cluster has; advertised brokers above this limit are counted and not probed."""
_TOUCH = 1.0


def collect(
    cluster: Cluster,
    timeout: float,
    *,
    groups: Iterable[str] = (),
    transactional_ids: Iterable[str] = (),
    topics: Sequence[str] = (),
    token_command: str | None = None,
) -> Evidence:
    """Probe every endpoint that a client of this cluster dials, in `timeout` seconds at most.

    The coordinators of `groups` and `transactional_ids` are requested, and the user's rights on `topics`.

    Raises:
        ConfigError: the client's section is invalid, or the command prints no token.
    """
    wanted = (
        *(Coordinator("group", group) for group in groups),
        *(Coordinator("transaction", each) for each in transactional_ids),
    )
    client, found = client_side(cluster, token_command), []

    async def probe() -> None:
        # Not the task's result: asyncio's runner formats its task at the end, with everything in the result.
        found.append(await _collect(cluster, client, timeout, wanted, topics))

    asyncio.run(probe())
    return found[0]


async def _collect(
    cluster: Cluster,
    client: ClientSide,
    timeout: float,  # noqa: ASYNC109 - a budget
    wanted: Sequence[Coordinator],
    topics: Sequence[str],
) -> Evidence:
    start = asyncio.get_running_loop().time()
    address_map = cluster.address_map
    early = Prober(client, patience_of(timeout), start + timeout / 2, asyncio.Semaphore(PARALLEL), Shared())
    late = replace(early, deadline=start + timeout)
    quick = replace(late, dialling=min(late.patience, _TOUCH), connections=0)
    bootstraps = await asyncio.gather(
        *(as_bootstrap(server, address_map, early) for server in cluster.bootstrap_servers)
    )
    first = next((probe for probe in bootstraps if probe.answers), None)
    surveyed = asyncio.create_task(survey(late, first, wanted, topics)) if first is not None else None
    listed = {broker for probe in bootstraps for broker in probe.brokers or ()}
    brokers = sorted(listed, key=lambda broker: (broker.node_id, broker.host, broker.port))
    dialling = _Dialling(address_map, late, quick)
    for probe in bootstraps:
        if probe.complete:
            dialling.known[dialling.place(Endpoint.parse(probe.endpoint), probe.name)] = probe
    paths = await asyncio.gather(*map(dialling.path, brokers[:MOST_NODES]))
    as_written = await asyncio.gather(
        *(
            quick.touch(server)
            for server, probe in zip(cluster.bootstrap_servers, bootstraps, strict=True)
            if probe.rule is not None and not probe.answers
        )
    )
    found = Survey() if surveyed is None else await surveyed
    listeners = await dialling.listeners(bootstraps, paths, set(found.replicas or ()))
    dialled_probes = (path.probe for path in paths if path.probe is not None)
    answering = [probe for probe in (*bootstraps, *dialled_probes) if probe.answers]
    crowded, one_at_a_time = await limits(answering, late.deadline, _TOUCH)
    return Evidence(
        taken_at=now(),
        cluster=cluster.name,
        security_protocol=client.protocol,
        mechanism=client.mechanism,
        rules=None if address_map is None else tuple(map(str, address_map.rules)),
        unmapped=(address_map or AddressMap((), Unmapped.PASS)).unmapped.value,
        bootstraps=tuple(bootstraps),
        as_written=tuple(as_written),
        paths=tuple(paths),
        replicas=found.replicas,
        in_sync=found.in_sync,
        leaderless=found.leaderless,
        topics=found.topics,
        coordinators=await told_by_nodes(late, answering, found.coordinators),
        dns_lookup=client.dns_lookup,
        listeners=listeners,
        unprobed=max(0, len(brokers) - MOST_NODES),
        user=client.username or None,
        tls_versions=client.tls.versions if client.tls is not None else (),
        own_chain=client.tls.chain_bytes if client.tls is not None else 0,
        timeout=timeout,
        crowded=crowded,
        one_at_a_time=one_at_a_time,
    )


def _of_node(
    node_id: int, probes: Sequence[EndpointProbe], bootstraps: Sequence[EndpointProbe]
) -> Iterator[tuple[ListenerSeen, str | None]]:
    """The listeners in a node's settings before they are probed, each with its protocol."""
    described = node_listeners(probes[0])
    servers = {probe.endpoint for probe in bootstraps}
    own = {
        probe.endpoint: {each.endpoint for each in probe.brokers or () if each.node_id == node_id}
        for probe in probes
        if probe.endpoint in servers
    }
    for each in described.advertised:
        entered = tuple(server for server, endpoints in own.items() if each.endpoint in endpoints)
        seen = ListenerSeen(node_id, each.name, each.endpoint, None, entered)
        yield seen, described.protocols.get(each.name)


def _unseen(seen: Sequence[ListenerSeen]) -> list[ListenerSeen]:
    """Unprobed endpoints of the listeners that a client could use instead; none for large clusters."""
    entered = {each.name for each in seen if each.entered}
    known = {(each.name, each.endpoint) for each in seen}
    listed = dict.fromkeys(
        ListenerSeen(broker.node_id, each.name, broker.endpoint, None)
        for each in seen
        if each.name not in entered and each.probe is not None
        for broker in each.probe.brokers or ()
        if len(each.probe.brokers or ()) <= PARALLEL
    )
    return [each for each in listed if (each.name, each.endpoint) not in known]


async def as_bootstrap(server: Endpoint, address_map: AddressMap | None, prober: Prober) -> EndpointProbe:
    """A bootstrap server as clients dial it: a matching rule applies, and without a rule it is never rejected."""
    target, rule = server, None
    if address_map is not None and address_map.find(server) is not None:
        # A template rule needs a node id, and a bootstrap server has none yet.
        with suppress(ConfigError):
            translation = address_map.translate(server)
            target, rule = translation.endpoint, str(translation.rule)
    prober.client.login_to.add(target)
    canonical = prober.client.dns_lookup == CANONICAL
    return replace(await prober.probe(target, server.host, canonical=canonical), rule=rule)


@dataclass(frozen=True)
class _Dialling:
    """Dials each endpoint of brokers and listeners once; `known` are the probes of bootstrap servers."""

    address_map: AddressMap | None
    late: Prober
    quick: Prober
    known: dict[Place, EndpointProbe] = field(default_factory=dict)
    probing: dict[Place, asyncio.Task[EndpointProbe]] = field(default_factory=dict)

    def place(self, endpoint: Endpoint, name: str) -> Place:
        """The key of a shared probe: with TLS the name is part of it."""
        return endpoint, "" if self.late.client.tls is None else name

    async def path(self, broker: Advertised) -> BrokerPath:
        translation = dialled(broker, self.address_map)
        if translation is None:
            return BrokerPath(broker, None, direct=await self._touched(broker))
        self.late.client.login_to.add(translation.endpoint)
        if translation.rule is None:
            return BrokerPath(broker, await self._probe(translation.endpoint, broker))
        probe, direct = await asyncio.gather(self._probe(translation.endpoint, broker), self._touched(broker))
        return BrokerPath(broker, probe, str(translation.rule), direct)

    async def _touched(self, broker: Advertised) -> EndpointProbe | None:
        """A connection to the advertised endpoint itself."""
        advertised = dialled(broker, None)
        return None if advertised is None else await self.quick.touch(advertised.endpoint)

    async def _probe(self, endpoint: Endpoint, broker: Advertised) -> EndpointProbe:
        place = self.place(endpoint, broker.host)
        if place in self.known:
            return self.known[place]
        # Nodes that advertise one endpoint share one probe.
        if place not in self.probing:
            self.probing[place] = asyncio.create_task(self.late.probe(endpoint, broker.host, broker.node_id))
        return await self.probing[place]

    async def listeners(
        self, bootstraps: Sequence[EndpointProbe], paths: Sequence[BrokerPath], replicas: set[int]
    ) -> tuple[ListenerSeen, ...]:
        """All listeners in the nodes' settings, sorted by node id.

        The nodes are those of the bootstrap servers, and those with a failing advertised endpoint. If a node is
        unreachable or missing, all endpoints of a listener are probed, to find out whether clients could use it
        instead.
        """
        met = {path.broker.endpoint: path.probe for path in paths}
        failing = {path.broker.node_id for path in paths if path.probe is not None and not path.probe.answers}
        nodes: dict[int, list[EndpointProbe]] = {}
        for probe in (*bootstraps, *(path.probe for path in paths if path.probe is not None)):
            if probe.node_id is not None and probe.settings and (probe in bootstraps or probe.node_id in failing):
                nodes.setdefault(probe.node_id, []).append(probe)

        all_reached = all(path.answers for path in paths)
        until: Stage = "metadata" if all_reached else "identity"

        async def look(seen: ListenerSeen, *, same_protocol: bool) -> ListenerSeen:
            if seen.endpoint in met:
                return replace(seen, probe=met[seen.endpoint])
            return replace(seen, probe=await self._listener(seen, until if same_protocol else "connect"))

        client = self.quick.client.protocol
        own = [each for node_id, probes in sorted(nodes.items()) for each in _of_node(node_id, probes, bootstraps)]
        seen = await asyncio.gather(*(look(each, same_protocol=protocol == client) for each, protocol in own))
        named = {path.broker.node_id for path in paths}
        every = replicas.union(*(each.probe.node_ids for each in seen if each.probe is not None))
        if all_reached and named >= every:
            return tuple(seen)
        others = await asyncio.gather(*(look(each, same_protocol=True) for each in _unseen(seen)))
        return tuple(sorted((*seen, *others), key=lambda each: each.node_id))

    async def _listener(self, seen: ListenerSeen, until: Stage) -> EndpointProbe | None:
        try:
            advertised = target = Endpoint.parse(seen.endpoint)
            if self.address_map is not None and self.address_map.find(advertised) is not None:
                target = self.address_map.translate(advertised, seen.node_id).endpoint
        except ConfigError:
            return None
        # First all at once: a listener that accepts no connection uses none of its node's connections.
        touched = await self.quick.touch(target, tries=TRIES)
        if until == "connect" or not touched.connected:
            return touched
        probe = await self.quick.probe(target, advertised.host, seen.node_id, until=until)
        if not self.quick.client.withheld_from(probe):
            return probe
        # No client with this configuration dials it, so no login is sent; only the connection is probed.
        return EndpointProbe(probe.endpoint, probe.name, probe.resolve, probe.connect, probe.tls, tries=probe.tries)
