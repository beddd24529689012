"""Looks at candidates: all of them, in their order, and none that the time does not suffice for."""

from __future__ import annotations

import asyncio
import socket

import pytest
from tests.support.balancers import BALANCERS, switched
from tests.support.simulated_brokers import serving

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.discovery.matching import match
from brokernat.doctor.discovery.sweep import Candidates, Progress, connections, sources, sweep
from brokernat.doctor.evidence import EndpointProbe
from brokernat.doctor.probes.walk import Prober

TIMEOUT = 60
PROVEN = {"apiversions": {}, "describeconfigs": {"newest_api_versions": 4}}
LIKELY = {"listoffsets": {"newest_api_versions": 4, "describes_configs": False}}


def closed() -> Endpoint:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return Endpoint(*taken.getsockname())


@pytest.mark.parametrize(("method", "options"), [*PROVEN.items(), *LIKELY.items()])
def test_every_candidate_is_looked_at_in_its_order(method: str, options: dict[str, int]) -> None:
    told: list[Progress] = []
    with serving(3, "127.0.77", **options) as served:
        ends = [*served.reachable.values()]
        given = [closed(), *reversed(ends)]
        swept = sweep(Cluster("hq", (ends[1],)), given, TIMEOUT, told.append)
    assert [probe.endpoint for probe in swept.candidates] == [str(end) for end in given]
    assert (told[-1].done, told[-1].total, told[-1].answering) == (4, 4, 3)
    found = match(swept)
    assert {entry.node_id: entry.candidate for entry in found.matched} == {
        node: str(end) for node, end in served.reachable.items()
    }
    assert {(entry.method, entry.confidence.value) for entry in found.matched} == {
        (method, "proven" if method in PROVEN else "likely")
    }
    assert found.silent == {"refused": 1}


def test_nothing_is_begun_after_the_end() -> None:
    async def probe() -> tuple[EndpointProbe, ...]:
        prober = Prober(ClientSide(), 1.0, asyncio.get_running_loop().time(), asyncio.Semaphore(1))
        ends = [Endpoint("127.0.0.1", port) for port in range(1, 65536)]
        return await Candidates(prober, prober, (), lambda _: None).probes(ends, {})

    probes = asyncio.run(probe())
    assert len(probes) == 65535
    assert not any(each.complete or each.attempts for each in probes)


def test_candidates_wait_for_a_bootstrap_server_that_answers() -> None:
    with serving(1) as served:
        swept = sweep(Cluster("hq", (closed(),)), [*served.reachable.values()], TIMEOUT)
    assert swept.candidates == ()


@pytest.mark.parametrize("balancer", BALANCERS)
@pytest.mark.parametrize("nodes", [2, 4])
def test_no_balancer_is_taken_for_a_node(nodes: int, balancer: str) -> None:
    """Over all brokers, and over two of them that hide best."""
    with serving(nodes, "127.0.77") as served:
        ends = list(served.reachable.values())
        with switched(ends, ends[:2], choice=BALANCERS[balancer]) as candidates:
            found = match(sweep(Cluster("hq", (ends[0],)), candidates, TIMEOUT))
    assert found.matched == ()
    assert [finding.code for finding in found.findings] == [*["BN605"] * nodes, "BN602", "BN602"]


def test_how_many_connections_and_from_where() -> None:
    assert [connections(brokers) for brokers in (0, 1, 2, 32, 48, 64, 5000)] == [16, 16, 16, 16, 10, 8, 8]
    assert len(set(sources("127.0.0.1"))) == 16
    assert sources("172.10.1.40") == sources("::1") == ()
