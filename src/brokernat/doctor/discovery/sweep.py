"""The network part of a discovery: reads the brokers from the bootstrap servers, then probes every candidate.

It first connects to many candidates at a time and probes only those that accept: a closed port costs one packet, and an
endpoint that drops packets delays no probe. A certificate may name a broker and not the gateway. Once one bootstrap
server has advertised the brokers' names, the other endpoints are probed again under the broker name in their
certificate, as a client with the map does.

It connects to each candidate many times, because the candidate may be a load balancer. On loopback the connections come
from several addresses, which reveals a balancer that chooses by the client's address. On other networks this machine
has only one address, so such a balancer cannot be seen.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from brokernat.address import Endpoint
from brokernat.address.endpoint import as_ip
from brokernat.config import Cluster
from brokernat.doctor.credentials import ClientSide, client_side, dialled
from brokernat.doctor.discovery.matching import Swept, one_node, undecided
from brokernat.doctor.evidence import Advertised, EndpointProbe, Evidence, now
from brokernat.doctor.probes.certificates import covers
from brokernat.doctor.probes.collecting import as_bootstrap
from brokernat.doctor.probes.identity import samples
from brokernat.doctor.probes.survey import Survey, survey
from brokernat.doctor.probes.walk import Prober, Shared, patience_of

_AT_ONCE, _PROBES = 128, 16
_TOUCH = 2.0
_MOST_CONNECTIONS, _MOST, _MOST_NAMES = 512, 16, 256
_LOOPBACK = tuple(f"127.0.0.{number}" for number in range(2, 2 + _MOST))


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of the candidates; at `answering` of them this client can use Kafka."""

    done: int
    total: int
    answering: int


def sweep(
    cluster: Cluster,
    candidates: Sequence[Endpoint],
    timeout: float,
    progress: Callable[[Progress], None] = lambda _: None,
    server_name: str | None = None,
    token_command: str | None = None,
    agree: Callable[[Sequence[Endpoint]], bool] = lambda _: False,
) -> Swept:
    """Probe the bootstrap servers and the candidates as a client of this cluster.

    Args:
        candidates: endpoints that may lead to brokers; if empty, the bootstrap servers and what the brokers advertise.
            For a node to which none of them leads, the bootstrap servers and then its own endpoint are candidates, too.
        timeout: total, in seconds; the bootstrap servers may use half of it, and `agree` does not count.
        server_name: the host for TLS and SASL at the bootstrap servers, instead of their own hosts.
        token_command: prints a token for OAUTHBEARER.
        agree: whether the password or token may be sent to these candidates, which speak Kafka and could read it;
            called at most once, after all candidates were probed without a login.

    Raises:
        ConfigError: the client's section is invalid, or the command prints no token.
    """
    client = client_side(cluster, token_command)
    with asyncio.Runner() as runner:
        evidence, probing = runner.run(_begin(cluster, client, timeout, progress, server_name))
        if probing is None:
            return Swept(evidence, ())
        known = {probe.endpoint: probe for probe in evidence.bootstraps if probe.complete}
        wanted = candidates or [
            *(Endpoint.parse(probe.endpoint) for probe in evidence.bootstraps),
            *probing.advertised(),
        ]
        probes = runner.run(probing.probes(tuple(dict.fromkeys(wanted)), known))
        withheld = [Endpoint.parse(probe.endpoint) for probe in probes if client.withheld_from(probe)]
        # Outside the event loop, so that Ctrl-C at the prompt raises KeyboardInterrupt.
        asked_at = runner.get_loop().time()
        if withheld and agree(withheld):
            client.login_to.update(withheld)
            probing.late.deadline += runner.get_loop().time() - asked_at
            again = {probe.endpoint: probe for probe in runner.run(probing.probes(withheld, {}))}
            probes = tuple(again.get(probe.endpoint, probe) for probe in probes)
        probes += runner.run(probing.by_other_names(probes))
        met, given = {None, *map(one_node, probes)}, {probe.endpoint for probe in probes}
        more = [each.endpoint for each in evidence.bootstraps if one_node(each) not in met]
        probes += runner.run(probing.probes([Endpoint.parse(each) for each in more if each not in given], known))
        probes += runner.run(probing.at_their_own(probes))
    one_source = any(not sources(address) for probe in probes if probe.answers for address in probe.addresses)
    return Swept(evidence, probes, one_source)


def connections(brokers: int) -> int:
    """How many further connections to make to each address of a candidate.

    A random balancer over two nodes is then taken for one node in 1 of 65,536 cases. Many brokers need fewer, down to
    the number for a match.
    """
    return max(samples(2), min(_MOST, _MOST_CONNECTIONS // max(brokers, 1)))


def sources(address: str) -> Sequence[str]:
    """The local addresses for connections to an address; empty if only the default one works."""
    # Only Linux has more loopback addresses than 127.0.0.1.
    return _LOOPBACK if sys.platform == "linux" and address.startswith("127.") else ()


async def _begin(
    cluster: Cluster,
    client: ClientSide,
    timeout: float,  # noqa: ASYNC109 - a budget
    progress: Callable[[Progress], None],
    server_name: str | None,
) -> tuple[Evidence, Candidates | None]:
    """The evidence of the bootstrap servers, and the prober of candidates; None if no bootstrap server answers."""
    start = asyncio.get_running_loop().time()
    step, shared = patience_of(timeout), Shared()
    parallel = asyncio.Semaphore(_PROBES)
    early = Prober(client, step, start + timeout / 2, parallel, shared, connections=_MOST, sources=sources)
    bootstraps = await asyncio.gather(
        *(
            early.probe(server, server_name) if server_name else as_bootstrap(server, cluster.address_map, early)
            for server in cluster.bootstrap_servers
        )
    )
    first = next((probe for probe in bootstraps if probe.answers), None)
    brokers = first.brokers or () if first else ()
    late = replace(early, deadline=start + timeout, connections=connections(len(brokers)))
    quick = Prober(client, min(step, _TOUCH), start + timeout, asyncio.Semaphore(_AT_ONCE), shared)
    by_the_map = (dialled(broker, cluster.address_map) for broker in brokers)
    client.login_to.update(each.endpoint for each in by_the_map if each is not None)
    candidates = Candidates(late, quick, brokers, progress)
    bootstraps = await asyncio.gather(*map(candidates.by_its_name, bootstraps))
    asked = Survey() if first is None else await survey(late, first, ())
    evidence = Evidence(
        taken_at=now(),
        cluster=cluster.name,
        security_protocol=client.protocol,
        mechanism=client.mechanism,
        rules=None,
        unmapped="pass",
        bootstraps=tuple(bootstraps),
        replicas=asked.replicas,
        in_sync=asked.in_sync,
        leaderless=asked.leaderless,
    )
    return evidence, None if first is None else candidates


@dataclass
class Candidates:
    """Probes candidates; it compares certificates with the advertised names of the brokers."""

    late: Prober
    quick: Prober
    brokers: tuple[Advertised, ...]
    progress: Callable[[Progress], None]

    def advertised(self, met: Container[int | None] = ()) -> list[Endpoint]:
        """The endpoints that nodes advertise, without those of the nodes that were met."""
        unmet = (dialled(broker, None) for broker in self.brokers if broker.node_id not in met)
        return [each.endpoint for each in unmet if each is not None]

    async def probes(
        self, endpoints: Sequence[Endpoint], known: Mapping[str, EndpointProbe]
    ) -> tuple[EndpointProbe, ...]:
        """One probe for each candidate, in order; none starts after the end of the time."""
        seen = [EndpointProbe(str(endpoint), endpoint.host, complete=False) for endpoint in endpoints]
        waiting = iter(enumerate(endpoints))
        clock = asyncio.get_running_loop()
        done = answering = 0

        async def work() -> None:
            nonlocal done, answering
            for index, endpoint in waiting:
                if clock.time() >= self.late.deadline:
                    return
                met = known.get(str(endpoint))
                seen[index] = await (self._probe(endpoint) if met is None else self._sampled(met))
                done, answering = done + 1, answering + seen[index].answers
                self.progress(Progress(done, len(endpoints), answering))

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
        return tuple(seen)

    async def by_its_name(self, probe: EndpointProbe) -> EndpointProbe:
        """The same probe, or a new one under the broker name in the certificate."""
        if probe.tls is None or probe.tls.outcome != "name-mismatch":
            return probe
        names = probe.tls.names
        name = next((broker.host for broker in self.brokers if covers(names, broker.host)), None)
        return probe if name is None else await self.late.probe(Endpoint.parse(probe.endpoint), name)

    async def by_other_names(self, probes: Sequence[EndpointProbe]) -> tuple[EndpointProbe, ...]:
        """Nodes that no probe met, behind candidates that answered in TLS: a gateway may choose by the name (SNI)."""
        met = {probe.node_id for probe in probes}
        unmet = [broker for broker in self.brokers if broker.node_id not in met and as_ip(broker.host) is None]
        gateways = dict.fromkeys(Endpoint.parse(probe.endpoint) for probe in probes if probe.answers and probe.tls)
        asked = [(broker, gateway) for broker in unmet for gateway in gateways][:_MOST_NAMES]
        found = await asyncio.gather(*(self.late.probe(gateway, broker.host) for broker, gateway in asked))
        return tuple(
            probe
            for (broker, _), probe in zip(asked, found, strict=True)
            if probe.answers and probe.node_id == broker.node_id
        )

    async def at_their_own(self, probes: Sequence[EndpointProbe]) -> tuple[EndpointProbe, ...]:
        """Nodes that no probe met, where they can be dialled at the endpoints that they advertise."""
        met, given = {probe.node_id for probe in probes if one_node(probe)}, {probe.endpoint for probe in probes}
        found = await self.probes([each for each in self.advertised(met) if str(each) not in given], {})
        return tuple(probe for probe in found if probe.answers)

    async def _sampled(self, probe: EndpointProbe) -> EndpointProbe:
        """The same probe, with more connections if the time for bootstrap servers was not enough for them."""
        return await self.late.sample(probe) if undecided(probe, len(self.brokers)) else probe

    async def _probe(self, endpoint: Endpoint) -> EndpointProbe:
        touched = await self.quick.touch(endpoint)
        return await self.by_its_name(await self.late.probe(endpoint)) if touched.connected else touched
