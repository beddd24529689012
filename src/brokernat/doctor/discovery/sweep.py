"""The network's part of a discovery: the bootstrap servers advertise the brokers, then every candidate is probed.

A connection to a candidate is tried first, many at a time, and only what accepts one is probed: a closed port costs a
packet, and a black hole holds up no probe. A certificate that names a broker and not the gateway is no obstacle: once
one bootstrap server has advertised the brokers' names, everything else is probed again under the name that its
certificate has of them, as a client does that dials it by the map.

Each candidate is connected to again and again, because a balancer may stand there. On loopback the connections come
from several addresses, which shows a balancer that chooses by the client's address. Elsewhere this machine has one
address for a candidate, and such a balancer cannot be seen from it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.doctor.credentials import ClientSide, client_side, dialled
from brokernat.doctor.discovery.matching import Swept
from brokernat.doctor.evidence import Advertised, EndpointProbe, Evidence, now
from brokernat.doctor.probes.certificates import covers
from brokernat.doctor.probes.collecting import as_bootstrap
from brokernat.doctor.probes.identity import samples
from brokernat.doctor.probes.survey import Survey, survey
from brokernat.doctor.probes.walk import Prober, Shared

_AT_ONCE, _PROBES = 128, 16
_STEP, _TOUCH = 5.0, 2.0


_MOST_CONNECTIONS, _MOST = 512, 16
_LOOPBACK = tuple(f"127.0.0.{number}" for number in range(2, 2 + _MOST))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the candidates are; behind `answering` of them is Kafka for this client."""

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
        candidates: what may lead to brokers; the bootstrap servers where it is empty.
        timeout: of the whole, in seconds; the bootstrap servers may use half of it, and `agree` costs none of it.
        server_name: what TLS and SASL are told at the bootstrap servers, instead of their own hosts.
        token_command: prints a token for OAUTHBEARER.
        agree: whether the password or token may go to these candidates, which speak Kafka and could read it; called
            once, after all candidates were probed without a login, and only where there are such candidates.

    Raises:
        ConfigError: the client's section cannot be read, or the command gives no token.
    """
    client = client_side(cluster, token_command)
    with asyncio.Runner() as runner:
        evidence, probing = runner.run(_begin(cluster, client, timeout, progress, server_name))
        if probing is None:
            return Swept(evidence, ())
        known = {probe.endpoint: probe for probe in evidence.bootstraps if probe.complete}
        given = candidates or [Endpoint.parse(probe.endpoint) for probe in evidence.bootstraps]
        probes = runner.run(probing.probes(tuple(dict.fromkeys(given)), known))
        withheld = [Endpoint.parse(probe.endpoint) for probe in probes if client.withheld_from(probe)]
        # Between two runs of the loop: Ctrl-C at the question is a KeyboardInterrupt.
        asked_at = runner.get_loop().time()
        if withheld and agree(withheld):
            client.login_to.update(withheld)
            probing.late.deadline += runner.get_loop().time() - asked_at
            again = runner.run(probing.probes(withheld, {}))
            known = {probe.endpoint: probe for probe in again}
            probes = tuple(known.get(probe.endpoint, probe) for probe in probes)
    one_source = any(not sources(address) for probe in probes if probe.answers for address in probe.addresses)
    return Swept(evidence, probes, one_source)


def connections(brokers: int) -> int:
    """How many further connections to make to each address of a candidate.

    As many as leave a random balancer over two nodes 1 in 65,536 to be taken for one node, and of many brokers fewer,
    down to what a match takes.
    """
    return max(samples(2), min(_MOST, _MOST_CONNECTIONS // max(brokers, 1)))


def sources(address: str) -> Sequence[str]:
    """The addresses of this machine to connect to an address from; empty where only the usual one serves."""
    # Other systems than Linux have 127.0.0.1 alone.
    return _LOOPBACK if sys.platform == "linux" and address.startswith("127.") else ()


async def _begin(
    cluster: Cluster,
    client: ClientSide,
    timeout: float,  # noqa: ASYNC109 - a budget
    progress: Callable[[Progress], None],
    server_name: str | None,
) -> tuple[Evidence, Candidates | None]:
    """What the bootstrap servers advertise, and what probes candidates; None where no bootstrap server answers."""
    start = asyncio.get_running_loop().time()
    step = min(_STEP, timeout / 4)
    probes = asyncio.Semaphore(_PROBES)
    shared = Shared()
    early = Prober(client, step, start + timeout / 2, probes, shared, connections=_MOST, sources=sources)
    bootstraps = await asyncio.gather(
        *(
            early.probe(server, server_name) if server_name else as_bootstrap(server, cluster.address_map, early)
            for server in cluster.bootstrap_servers
        )
    )
    first = next((probe for probe in bootstraps if probe.answers), None)
    brokers = first.brokers or () if first else ()
    wanted = connections(len(brokers))
    late = Prober(client, step, start + timeout, probes, shared, connections=wanted, sources=sources)
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
    )
    return evidence, None if first is None else candidates


@dataclass
class Candidates:
    """Probes candidates, with the names of the brokers that are advertised for certificates."""

    late: Prober
    quick: Prober
    brokers: tuple[Advertised, ...]
    progress: Callable[[Progress], None]

    async def probes(
        self, endpoints: Sequence[Endpoint], known: Mapping[str, EndpointProbe]
    ) -> tuple[EndpointProbe, ...]:
        """A probe of each, in their order; what the time does not suffice for is not begun."""
        seen = [EndpointProbe(str(endpoint), endpoint.host, complete=False) for endpoint in endpoints]
        waiting = iter(enumerate(endpoints))
        clock = asyncio.get_running_loop()
        done = answering = 0

        async def work() -> None:
            nonlocal done, answering
            for index, endpoint in waiting:
                if clock.time() >= self.late.deadline:
                    return
                seen[index] = known.get(str(endpoint)) or await self._probe(endpoint)
                done, answering = done + 1, answering + seen[index].answers
                self.progress(Progress(done, len(endpoints), answering))

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
        return tuple(seen)

    async def by_its_name(self, probe: EndpointProbe) -> EndpointProbe:
        """The same probe, or another under the name of the broker that the certificate names."""
        if probe.tls is None or probe.tls.outcome != "name-mismatch":
            return probe
        names = probe.tls.names
        name = next((broker.host for broker in self.brokers if covers(names, broker.host)), None)
        return probe if name is None else await self.late.probe(Endpoint.parse(probe.endpoint), name)

    async def _probe(self, endpoint: Endpoint) -> EndpointProbe:
        touched = await self.quick.touch(endpoint)
        return await self.by_its_name(await self.late.probe(endpoint)) if touched.connected else touched
