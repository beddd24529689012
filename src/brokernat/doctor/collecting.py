"""Evidence from the network: the bootstrap servers first, then whatever they advertise, as the client would dial it.

Every endpoint is looked at once: a target of the map that is also a bootstrap server is the same look. The time is one
budget: the bootstrap servers may use half of it, so that a black hole among them leaves time for the brokers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.config import Cluster
from brokernat.doctor.client_side import CANONICAL, ClientSide, client_side, dialled
from brokernat.doctor.evidence import Advertised, Coordinator, Evidence, Look, Path
from brokernat.doctor.listening import listeners_seen
from brokernat.doctor.probes.coordinating import told_by_nodes
from brokernat.doctor.probes.dialling import canonical_name
from brokernat.doctor.probes.look import Looker
from brokernat.doctor.probes.survey import Survey, survey
from brokernat.errors import ConfigError

PARALLEL = 32
_STEP = 5.0
_TOUCH = 1.0


def collect(
    cluster: Cluster,
    timeout: float,
    *,
    groups: Iterable[str] = (),
    transactional_ids: Iterable[str] = (),
    token_command: str | None = None,
) -> Evidence:
    """Look at everything that a client of this cluster meets.

    Args:
        cluster: whose client section and map are used.
        timeout: of the whole, in seconds.
        groups: consumer groups whose coordinators are asked for.
        transactional_ids: producers whose coordinators are asked for.
        token_command: prints a token for OAUTHBEARER.

    Raises:
        ConfigError: the client's section cannot be read, or the command gives no token.
    """
    wanted = (
        *(Coordinator("group", group) for group in groups),
        *(Coordinator("transaction", each) for each in transactional_ids),
    )
    client, seen = client_side(cluster, token_command), []

    async def look() -> None:
        # Not as the result: asyncio's runner makes a text of its task in the end, and of all that is in it.
        seen.append(await _collect(cluster, client, timeout, wanted))

    asyncio.run(look())
    return seen[0]


async def _collect(
    cluster: Cluster,
    client: ClientSide,
    timeout: float,  # noqa: ASYNC109 - a budget
    wanted: Sequence[Coordinator],
) -> Evidence:
    start = asyncio.get_running_loop().time()
    step = min(_STEP, timeout / 4)
    parallel = asyncio.Semaphore(PARALLEL)
    early = Looker(client, step, start + timeout / 2, parallel)
    bootstraps = await asyncio.gather(
        *(as_bootstrap(server, cluster.address_map, early) for server in cluster.bootstrap_servers)
    )
    late = Looker(client, step, start + timeout, parallel, early.leadership)
    quick = Looker(client, min(step, _TOUCH), start + timeout, parallel, early.leadership)
    known = {look.endpoint: look for look in bootstraps if client.context is None and look.complete}
    first = next((look for look in bootstraps if look.answers), None)
    surveyed = asyncio.create_task(survey(late, first, wanted)) if first is not None else None
    paths = await asyncio.gather(
        *(_path(broker, cluster.address_map, late, quick, known) for broker in _all_brokers(bootstraps))
    )
    listeners = await listeners_seen(bootstraps, paths, cluster.address_map, quick)
    seen = Survey() if surveyed is None else await surveyed
    answering = [look for look in (*bootstraps, *(path.look for path in paths)) if look is not None and look.answers]
    coordinators = await told_by_nodes(late, answering, seen.coordinators)
    return Evidence(
        taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
        cluster=cluster.name,
        security_protocol=client.protocol,
        mechanism=client.mechanism,
        rules=None if cluster.address_map is None else tuple(map(str, cluster.address_map.rules)),
        unmapped=(cluster.address_map or AddressMap((), Unmapped.PASS)).unmapped.value,
        bootstraps=tuple(bootstraps),
        paths=tuple(paths),
        replicas=seen.replicas,
        leaderless=seen.leaderless,
        coordinators=coordinators,
        dns_lookup=client.dns_lookup,
        listeners=listeners,
    )


async def as_bootstrap(server: Endpoint, address_map: AddressMap | None, looker: Looker) -> Look:
    """As clients dial it: a rule that names it applies, and without one it is never refused."""
    target, rule = server, None
    if address_map is not None and address_map.find(server) is not None:
        # A template needs a node id, and a bootstrap server has none yet.
        with suppress(ConfigError):
            translation = address_map.translate(server)
            target, rule = translation.endpoint, str(translation.rule)
    looker.client.login_to.add(target)
    look = replace(await looker.look(target, server.host), rule=rule)
    if looker.client.dns_lookup != CANONICAL:
        return look
    names = await asyncio.gather(*(canonical_name(each, looker.patience) for each in look.addresses))
    return replace(look, canonical=tuple(names))


def _all_brokers(bootstraps: Iterable[Look]) -> list[Advertised]:
    """Everything that any bootstrap server advertises, once."""
    found = {broker for look in bootstraps for broker in look.brokers or ()}
    return sorted(found, key=lambda broker: (broker.node_id, broker.host, broker.port))


async def _path(
    broker: Advertised, address_map: AddressMap | None, late: Looker, quick: Looker, known: dict[str, Look]
) -> Path:
    translation = dialled(broker, address_map)
    if translation is None:
        return Path(broker, None)
    late.client.login_to.add(translation.endpoint)
    if translation.rule is None:
        return Path(broker, await _known_or(late, translation.endpoint, broker, known))
    advertised = Endpoint(broker.host, broker.port)
    look, direct = await asyncio.gather(_known_or(late, translation.endpoint, broker, known), quick.touch(advertised))
    return Path(broker, look, str(translation.rule), direct)


async def _known_or(looker: Looker, endpoint: Endpoint, broker: Advertised, known: dict[str, Look]) -> Look:
    found = known.get(str(endpoint))
    return found if found is not None else await looker.look(endpoint, broker.host, broker.node_id)
