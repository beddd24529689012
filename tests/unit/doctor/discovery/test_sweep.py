"""Looks at candidates: all of them, in their order, and none that the time does not suffice for."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from tests.support.balancers import BALANCERS, switched
from tests.support.simulated_brokers import Simulated, serving

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.discovery.matching import match
from brokernat.doctor.discovery.sweep import Candidates, Progress, connections, sources, sweep
from brokernat.doctor.evidence import EndpointProbe
from brokernat.doctor.probes.walk import Prober

TIMEOUT = 60
TLS = Path(__file__).parents[3] / "vectors" / "tls"
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


@contextmanager
def gateway_by_name(hosts: Mapping[str, int]) -> Iterator[Endpoint]:
    """One endpoint in TLS. It leads to the node whose advertised host the client names, else it hangs up."""
    names: dict[int, str | None] = {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "whole.pem", TLS / "key.pem")
    context.sni_callback = lambda connection, name, _: names.update({id(connection): name})
    cluster = Simulated({node_id: Endpoint(host, 9093) for host, node_id in hosts.items()})

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        node_id = hosts.get(names.get(id(writer.get_extra_info("ssl_object"))) or "")
        with suppress(asyncio.IncompleteReadError, OSError):
            while node_id is not None:
                request = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                writer.write(cluster.answer(node_id, request) or b"")
        writer.close()

    started: Future[tuple[int, Callable[[], object]]] = Future()

    async def serve() -> None:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        async with await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context) as server:
            port = server.sockets[0].getsockname()[1]
            started.set_result((port, lambda: loop.call_soon_threadsafe(ended.set)))
            await ended.wait()

    thread = Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    port, end = started.result()
    try:
        yield Endpoint("127.0.0.1", port)
    finally:
        end()
        thread.join()


def test_one_endpoint_leads_to_each_node_whose_name_it_is_given_in_tls() -> None:
    hosts = {f"kafka-{node_id}.hq.internal": node_id for node_id in (1, 2, 3)}
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(TLS / "root.pem")}
    client = {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "", **trust}
    with gateway_by_name(hosts) as gateway:
        cluster = Cluster("hq", (gateway,), client=client)
        found = match(sweep(cluster, [gateway], TIMEOUT, server_name="kafka-2.hq.internal"))
    assert {each.node_id: each.candidate for each in found.matched} == dict.fromkeys((1, 2, 3), str(gateway))
    assert found.complete


def test_nothing_is_begun_after_the_end() -> None:
    async def probe() -> tuple[EndpointProbe, ...]:
        prober = Prober(ClientSide(), 1.0, asyncio.get_running_loop().time(), asyncio.Semaphore(1))
        ends = [Endpoint("127.0.0.1", port) for port in range(1, 65536)]
        return await Candidates(prober, prober, (), lambda _: None).probes(ends, {})

    probes = asyncio.run(probe())
    assert len(probes) == 65535
    assert not any(each.complete or each.attempts for each in probes)


def test_without_candidates_the_advertised_endpoints_are_looked_at_too() -> None:
    with serving(3, "127.0.77") as served:
        found = match(sweep(Cluster("hq", (next(iter(served.reachable.values())),)), (), TIMEOUT))
        advertised = {node.node_id: node.endpoint for node in found.nodes}
    tried = {each.subject for each in found.findings if each.code == "BN605"}
    assert len(found.matched) == 1
    assert tried == {f"node {node_id} at {end}" for node_id, end in advertised.items() if node_id != 1}
    assert sum(found.silent.values()) == len(advertised)


def test_a_server_that_had_too_little_time_is_met_again() -> None:
    """The bootstrap servers have half of the time; what they lacked of it is made up for with the candidates."""
    with serving(2, "127.0.77", newest_api_versions=4) as served:
        end = served.reachable[1]

        async def probe(connections: int) -> tuple[EndpointProbe, EndpointProbe]:
            until = asyncio.get_running_loop().time() + TIMEOUT
            few = Prober(ClientSide(), 5.0, until, asyncio.Semaphore(1), connections=connections)
            many = Prober(ClientSide(), 5.0, until, asyncio.Semaphore(1), connections=16)
            first = await few.probe(end)
            (again,) = await Candidates(many, many, first.brokers or (), lambda _: None).probes(
                [end], {str(end): first}
            )
            return first, again

        hasty, mended = asyncio.run(probe(3))
        patient, same = asyncio.run(probe(8))
    assert hasty.identity is not None
    assert mended.identity is not None
    assert (hasty.identity.connections, mended.identity.connections) == (4, 17)
    assert (mended.identity.node_id, mended.identity.settings) == (hasty.identity.node_id, hasty.identity.settings)
    assert same is patient


def test_candidates_wait_for_a_bootstrap_server_that_answers() -> None:
    with serving(1) as served:
        swept = sweep(Cluster("hq", (closed(),)), [*served.reachable.values()], TIMEOUT)
    assert swept.candidates == ()


@pytest.mark.parametrize("balancer", BALANCERS)
@pytest.mark.parametrize("nodes", [2, 4])
def test_no_balancer_is_taken_for_a_node(nodes: int, balancer: str) -> None:
    """Over all brokers, and over two of them that hide best. The bootstrap server leads to its own node."""
    with serving(nodes, "127.0.77") as served:
        ends = list(served.reachable.values())
        with switched(ends, ends[:2], choice=BALANCERS[balancer]) as candidates:
            found = match(sweep(Cluster("hq", (ends[0],)), candidates, TIMEOUT))
    assert [each.candidate for each in found.matched] == [str(ends[0])]
    assert [finding.code for finding in found.findings] == [*["BN605"] * (nodes - 1), "BN602", "BN602"]


@pytest.mark.parametrize("balancer", BALANCERS)
def test_no_balancer_over_two_clusters_is_taken_for_a_node_of_one(balancer: str) -> None:
    with (
        serving(2, "127.0.77") as ours,
        serving(2, "127.0.77", cluster_id="other-cluster") as theirs,
        switched([theirs.reachable[2], ours.reachable[2]], choice=BALANCERS[balancer]) as candidates,
    ):
        found = match(sweep(Cluster("hq", (ours.reachable[1],)), [*candidates], TIMEOUT))
    assert [each.node_id for each in found.matched] == [1]
    assert "BN501" in {each.code for each in found.findings}


@pytest.mark.parametrize("given", [(2,), (1, 2)])
def test_a_bootstrap_server_is_a_candidate_for_a_node_that_no_other_one_leads_to(given: tuple[int, ...]) -> None:
    with serving(2, "127.0.78") as served:
        away = closed()
        candidates = [served.reachable[node] for node in given]
        found = match(sweep(Cluster("hq", (served.reachable[1],)), [*candidates, away], TIMEOUT))
    assert {each.node_id: each.candidate for each in found.matched} == {
        node: str(served.reachable[node]) for node in (1, 2)
    }


def test_a_node_that_can_be_dialled_as_it_is_needs_no_candidate() -> None:
    with serving(2, "127.0.79") as served:
        advertised = served.cluster.advertised
        assert isinstance(advertised, dict)
        advertised[2] = served.reachable[2]
        found = match(sweep(Cluster("hq", (served.reachable[1],)), [served.reachable[1], closed()], TIMEOUT))
    assert {each.node_id: each.candidate for each in found.matched} == {
        node: str(served.reachable[node]) for node in (1, 2)
    }
    assert found.silent == {"refused": 1}, "what a node advertises is no candidate of the user's"


def test_how_many_connections_and_from_where() -> None:
    assert [connections(brokers) for brokers in (0, 1, 2, 32, 48, 64, 5000)] == [16, 16, 16, 16, 10, 8, 8]
    assert len(set(sources("127.0.0.1"))) == 16
    assert sources("172.10.1.40") == sources("::1") == ()
