"""The doctor against real brokers: each world gives exactly its own findings, and none once it is healed.

The shared world holds everything that needs no login; the secured one has a broker with SCRAM and one with TLS.
"""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster, Secret
from brokernat.doctor.collecting import collect
from brokernat.doctor.evidence import from_json, to_json
from brokernat.doctor.finding import Severity
from brokernat.doctor.runner import diagnose
from brokernat.testbed import ClusterOptions, LoopbackWorld, Mechanism, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from brokernat.doctor.runner import Diagnosis
    from brokernat.testbed.running_cluster import RunningCluster

pytestmark = pytest.mark.integration

TIMEOUT = 60
CANARY = "canary-5c1d"


@pytest.fixture(scope="module")
def secured_world() -> Iterator[LoopbackWorld]:
    scram = ClusterOptions(brokers=1, protocol=Protocol.SASL_PLAINTEXT, mechanism=Mechanism.SCRAM_SHA_256)
    tls = ClusterOptions(brokers=1, version="4.4.0", protocol=Protocol.SASL_SSL)
    with LoopbackWorld(hq=scram, second_hq=tls, local=None) as world:
        yield world


def examined(cluster: Cluster) -> Diagnosis:
    """Also through a file, which holds no secret."""
    saved = to_json(collect(cluster, TIMEOUT))
    assert not any(each.reveal() in saved for each in cluster.client.values() if isinstance(each, Secret))
    return diagnose(from_json(saved, "saved"))


def problems(cluster: Cluster) -> set[str]:
    return {each.code for each in examined(cluster).findings if each.severity is not Severity.INFO}


def led(hq: RunningCluster, leads: Mapping[int, int]) -> Cluster:
    """Headquarters with a map that leads each node to the forward of another."""
    rules = ",".join(f"{hq.advertised[node]}={hq.reachable[to]}" for node, to in leads.items())
    return Cluster("hq", hq.cluster.bootstrap_servers, AddressMap.parse(rules))


def changed(hq: RunningCluster, **client: str | Secret) -> Cluster:
    properties = {name.replace("_", "."): value for name, value in client.items()}
    return Cluster("hq", hq.cluster.bootstrap_servers, hq.cluster.address_map, {**hq.cluster.client, **properties})


def test_without_a_map_the_root_is_named_with_the_lines_that_heal_it(loopback_world: LoopbackWorld) -> None:
    hq = loopback_world.hq
    found = examined(Cluster("hq", hq.cluster.bootstrap_servers))
    assert {each.code for each in found.findings} == {"BN302"}
    assert found.cause is not None
    assert str(hq.advertised[1]) in found.cause.sentence
    lines = [line for each in found.findings for line in each.remedy.rules]
    assert sorted(lines) == sorted(f"{hq.advertised[node]} = {hq.reachable[node]}" for node in hq.nodes)
    assert problems(Cluster("hq", hq.cluster.bootstrap_servers, AddressMap.parse("\n".join(lines)))) == set()


def test_exchanged_and_missing_rules(loopback_world: LoopbackWorld) -> None:
    hq = loopback_world.hq
    found = examined(led(hq, {1: 2, 2: 1, 3: 3}))
    assert found.cause is not None
    assert found.cause.code == "BN601"
    lines = [line for each in found.findings if each.code == "BN601" for line in each.remedy.rules]
    assert sorted(lines) == sorted(f"{hq.advertised[node]} = {hq.reachable[node]}" for node in (1, 2))
    assert problems(led(hq, {1: 1, 2: 2})) == {"BN605"}
    assert problems(led(hq, {1: 1, 2: 2, 3: 3})) == set()


def test_another_cluster_among_the_bootstrap_servers(loopback_world: LoopbackWorld) -> None:
    hq, local = loopback_world.hq.cluster, loopback_world.local.cluster
    mixed = Cluster("hq", (*hq.bootstrap_servers, *local.bootstrap_servers), hq.address_map)
    found = examined(mixed)
    assert found.cause is not None
    assert found.cause.code == "BN501"
    assert problems(local) == set()


def test_tls_to_a_plain_port(loopback_world: LoopbackWorld) -> None:
    assert problems(changed(loopback_world.hq, security_protocol="SSL")) == {"BN401"}


def test_nothing_is_left_behind(loopback_world: LoopbackWorld) -> None:
    """One line about broker -1 for each node and run, as the page says; no topic of Kafka's own is made."""
    hq = loopback_world.hq
    before = {node: hq.log(node).read_text().count("Unexpected broker id") for node in hq.nodes}
    assert problems(hq.cluster) == set()
    after = {node: hq.log(node).read_text().count("Unexpected broker id") for node in hq.nodes}
    assert all(after[node] - before[node] <= 1 for node in hq.nodes)


def test_logins(secured_world: LoopbackWorld) -> None:
    hq = secured_world.hq
    assert problems(hq.cluster) == set()
    assert problems(changed(hq, sasl_password=Secret(CANARY))) == {"BN404"}
    assert problems(changed(hq, sasl_mechanism="PLAIN")) == {"BN404"}
    assert problems(Cluster("hq", hq.cluster.bootstrap_servers, hq.cluster.address_map)) == {"BN404"}


def test_certificates(secured_world: LoopbackWorld) -> None:
    hq = secured_world.hq2
    assert problems(Cluster("hq", hq.cluster.bootstrap_servers, hq.cluster.address_map)) == {"BN401"}
    # The brokers' certificates hold their advertised names, not the gateway's.
    assert problems(hq.cluster) == {"BN402"}
    healed = changed(hq, ssl_endpoint_identification_algorithm="")
    assert problems(healed) == set()
    trusts_nobody = {name: value for name, value in healed.client.items() if "truststore" not in name}
    assert problems(Cluster("hq", healed.bootstrap_servers, healed.address_map, trusts_nobody)) == {"BN403"}


@pytest.mark.parametrize(
    ("endpoint", "code"), [(Endpoint("127.0.0.1", 1), "BN103"), (Endpoint("kafka.invalid", 9092), "BN102")]
)
def test_nothing_there(endpoint: Endpoint, code: str) -> None:
    assert problems(Cluster("hq", (endpoint,))) == {code}


def test_an_http_server() -> None:
    class Quiet(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            assert problems(Cluster("hq", (Endpoint("127.0.0.1", server.server_port),))) == {"BN104"}
        finally:
            server.shutdown()


def test_a_port_that_never_speaks() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert problems(Cluster("hq", (Endpoint("127.0.0.1", server.getsockname()[1]),))) == {"BN104"}
