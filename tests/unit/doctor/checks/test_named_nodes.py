"""Brokers that advertise names: where a name leads, whose certificate is there, and one that is unlike the others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.endpoint_probes import probed
from tests.unit.doctor.conftest import WITHOUT_MAP

from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    BrokerPath,
    EndpointProbe,
    Evidence,
    Identity,
    ListenerSeen,
    TlsHandshake,
)
from brokernat.doctor.finding import CheckFinding

HOSTS = {0: "kafka-0.hq.example", 4: "kafka-4.hq.example", 7: "kafka-7.hq.example"}
PLACES = {0: "10.1.0.10", 4: "10.1.0.14", 7: "10.1.0.17"}
BROKERS = tuple(Advertised(node, host, 9093) for node, host in HOSTS.items())
TLS = TlsHandshake("ok")


def answering(node: int, endpoint: str, place: str, brokers: tuple[Advertised, ...] = BROKERS) -> EndpointProbe:
    """A node that answers at an address, as `endpoint`."""
    probe = probed(
        endpoint,
        None,
        (place,),
        attempts=(Attempt(place, "connected"),),
        speaks="kafka",
        cluster_id="c",
        brokers=brokers,
        identity=Identity(node, "describeconfigs"),
    )
    return replace(probe, tls=TLS)


def showing(node: int, of: int, hosts_entry: str | None = None, place: str | None = None) -> EndpointProbe:
    """The endpoint of a node, at which the certificate of another one is presented."""
    at = place or PLACES[of]
    seen = TlsHandshake("name-mismatch", names=(HOSTS[of],))
    attempts = (Attempt(at, "connected"),)
    probe = probed(f"{HOSTS[node]}:9093", HOSTS[node], (at,), hosts_entry=hosts_entry, attempts=attempts)
    return replace(probe, tls=seen)


def failing(endpoint: str, place: str, outcome: str, hosts_entry: str | None = None) -> EndpointProbe:
    attempts = (Attempt(place, outcome),)  # type: ignore[arg-type]
    return probed(endpoint, None, (place,), hosts_entry=hosts_entry, attempts=attempts)


def unknown(endpoint: str) -> EndpointProbe:
    return probed(endpoint, dns_error="Name or service not known")


def cluster(
    probes: dict[int, EndpointProbe],
    brokers: tuple[Advertised, ...] = BROKERS,
    servers: tuple[EndpointProbe, ...] = (),
    protocol: str = "SSL",
) -> Evidence:
    """Three nodes; those without a probe answer where they advertise."""
    paths = tuple(
        BrokerPath(
            each, probes.get(each.node_id) or answering(each.node_id, each.endpoint, PLACES[each.node_id], brokers)
        )
        for each in brokers
    )
    well = tuple(path.probe for path in paths if path.probe is not None and path.answers)
    nodes = tuple(each.node_id for each in brokers)
    return replace(WITHOUT_MAP, security_protocol=protocol, bootstraps=servers or well[:1], paths=paths, replicas=nodes)


def the(found: Diagnosis, code: str) -> CheckFinding:
    return next(each for each in found.findings if each.code == code)


def test_two_lines_of_the_hosts_file_are_exchanged_also_if_one_node_is_number_zero() -> None:
    lines = {0: f"{PLACES[4]} {HOSTS[0]}", 4: f"{PLACES[0]} {HOSTS[4]}"}
    found = diagnose(cluster({0: showing(0, 4, lines[0]), 4: showing(4, 0, lines[4])}))
    assert [each.code for each in found.causes] == ["BN402"]
    advised = [line for each in found.findings if each.code == "BN402" for line in each.remedy.client]
    assert [line.partition(" of ")[0] for line in advised] == [f"correct the line `{lines[n]}`" for n in (0, 4)]


def test_a_node_that_answers_at_its_own_address_has_lent_its_certificate() -> None:
    """The name is right then, and the key store is not."""
    found = diagnose(cluster({7: showing(7, 4, place=PLACES[7])}))
    finding = the(found, "BN402")
    assert "which answers at kafka-4.hq.example:9093: node 7 probably has the key store of node 4" in finding.message
    assert finding.remedy.broker[0] == "give node 7 its own certificate"
    assert "DNS" not in " ".join((*finding.remedy.client, *finding.remedy.broker))


def test_in_another_network_a_forward_is_more_likely_than_a_copied_key_store() -> None:
    found = diagnose(cluster({7: showing(7, 4, place="198.51.100.23")}))
    finding = the(found, "BN402")
    assert finding.message.endswith("a forward there probably leads to node 4")
    assert finding.remedy.broker[0] == "correct the forward at kafka-7.hq.example:9093: it must lead to node 7"


@pytest.mark.parametrize(
    ("nodes", "advised"), [((4, 7), "give each broker a port or an address of its own"), ((7,), "correct the DNS")]
)
def test_names_of_all_nodes_at_one_port_are_a_gateway_s(nodes: tuple[int, ...], advised: str) -> None:
    """With two of them, the one leads to the machine of the other."""
    found = diagnose(cluster({node: showing(node, 0, place=PLACES[0]) for node in nodes}))
    assert [each.code for each in found.causes] == ["BN402"]
    assert all(each.remedy.broker[0].startswith(advised) for each in found.findings if each.code == "BN402")


GATE = "10.1.0.80"


@pytest.mark.parametrize(("protocol", "derived"), [("SSL", True), ("PLAINTEXT", False)])
def test_a_gateway_at_another_port_than_the_advertised_one_chooses_by_the_tls_name(
    protocol: str, derived: bool
) -> None:
    server = answering(0, "bootstrap.hq.example:8443", GATE)
    lost = {node: failing(f"{host}:9093", GATE, "refused") for node, host in HOSTS.items()}
    found = diagnose(cluster(lost, servers=(server,), protocol=protocol))
    rules = {line for each in found.findings if each.code == "BN302" for line in each.remedy.rules}
    assert "kafka-0.hq.example:9093 = bootstrap.hq.example:8443" in rules
    assert ("kafka-4.hq.example:9093 = kafka-4.hq.example:8443" in rules) == derived
    (tested,) = {line for each in found.findings for line in each.remedy.client if "doctor --map" in line} or {""}
    both = "kafka-4.hq.example:9093 = kafka-4.hq.example:8443, kafka-7.hq.example:9093 = kafka-7.hq.example:8443"
    assert (f"--map '{both}'" in tested) == derived


def test_where_most_nodes_refuse_the_list_of_replicas_in_sync_may_be_outdated() -> None:
    """The controllers may be among them."""
    for lost, runs in (((4,), True), ((4, 7), False)):
        probes = {node: failing(f"{HOSTS[node]}:9093", PLACES[node], "refused") for node in lost}
        found = diagnose(replace(cluster(probes), in_sync=(0, 4, 7)))
        advised = " ".join(the(found, "BN302").remedy.broker)
        assert ("so it runs unless" in advised) == runs
        assert ("check that node 4 runs" in advised) == (not runs)


def test_a_name_that_leads_elsewhere_than_all_others_has_an_old_record() -> None:
    stranger = answering(4, f"{HOSTS[4]}:9093", "10.1.0.99", (Advertised(4, HOSTS[4], 9093),))
    assert stranger.metadata is not None
    stranger = replace(stranger, metadata=replace(stranger.metadata, cluster_id="other"))
    others = {node: answering(node, f"{HOSTS[node]}:9093", GATE) for node in (0, 7)}
    found = diagnose(cluster({**others, 4: stranger}))
    (advised, *_) = the(found, "BN501").remedy.client
    assert advised.startswith("correct the DNS record")
    assert f"resolves here to 10.1.0.99, and the names of node 0, node 7 to {GATE}" in advised


def test_one_name_of_the_inside_among_public_ones_is_corrected_at_its_node() -> None:
    inside = Advertised(4, "ip-10-1-0-14.eu-west-1.compute.internal", 9093)
    brokers = (BROKERS[0], inside, BROKERS[2])
    finding = the(diagnose(cluster({4: unknown(inside.endpoint)}, brokers)), "BN301")
    assert "which only its own network knows, and the others names such as" in finding.remedy.broker[0]
    assert not any("name server" in line for line in finding.remedy.client)


def test_a_name_is_added_where_the_others_are() -> None:
    for line, where in ((f"10.1.0.10 {HOSTS[0]}", "/etc/hosts, which has the line"), (None, "the name server")):
        evidence = cluster({4: unknown(f"{HOSTS[4]}:9093")})
        paths = [
            replace(path, probe=replace(path.probe, resolve=replace(path.probe.resolve, hosts_entry=line)))
            if path.probe is not None and path.probe.resolve is not None and path.answers
            else path
            for path in evidence.paths
        ]
        finding = the(diagnose(replace(evidence, paths=tuple(paths))), "BN301")
        assert any(line.startswith(f"add `{HOSTS[4]}` to {where}") for line in finding.remedy.client)


def test_a_node_that_answers_at_another_listener_is_not_off() -> None:
    at_port = "[fd00:1::17]:9094"
    seen = ListenerSeen(7, "OTHER", at_port, answering(7, at_port, "fd00:1::17"))
    silent = failing(f"{HOSTS[7]}:9093", "10.1.0.70", "timeout")
    finding = the(diagnose(replace(cluster({7: silent}), listeners=(seen,))), "BN308")
    assert finding.message == f"packets get no answer, and the node answers at another listener ({at_port})"
    assert "check the routes between this machine and 10.1.0.70 in both directions" in finding.remedy.broker
    hung = replace(failing(f"{HOSTS[7]}:9093", PLACES[7], "connected"), tls=TLS, versions=ApiVersions("silent"))
    finding = the(diagnose(replace(cluster({7: hung}), listeners=(seen,))), "BN309")
    assert finding.remedy.broker[0] == f"node 7 answers at {at_port}, so look at this listener first"
    assert "`max.connections`" in finding.remedy.broker[1]


def test_a_silent_port_of_this_machine_may_be_a_tunnel_that_has_ended() -> None:
    end = "127.0.0.1:9104"
    hung = replace(failing(end, "127.0.0.1", "connected"), versions=ApiVersions("silent"))
    path = BrokerPath(BROKERS[1], hung, f"{BROKERS[1].endpoint}={end}")
    evidence = cluster({}, protocol="PLAINTEXT")
    paths = (evidence.paths[0], path, evidence.paths[2])
    found = diagnose(replace(evidence, rules=(path.rule or "",), paths=paths))
    (first, *_) = the(found, "BN309").remedy.client
    assert first == f"if a tunnel or a forward listens at {end} of this machine: open it again"


def test_a_stranger_at_localhost_is_no_node_that_is_reached() -> None:
    """A rule for the one host follows from the proven ones, and no other node needs `unmapped: pass`."""
    brokers = tuple(Advertised(node, "localhost", 29090 + node) for node in HOSTS)
    servers = tuple(answering(n, f"10.1.0.61:{29090 + n}", "10.1.0.61", brokers) for n in (0, 4))
    own = answering(0, "localhost:29090", "127.0.0.1", (brokers[0],))
    assert own.metadata is not None
    stranger = replace(own, metadata=replace(own.metadata, cluster_id="mine"))
    lost = {node: failing(f"localhost:{29090 + node}", "127.0.0.1", "refused") for node in (4, 7)}
    found = diagnose(cluster({0: stranger, **lost}, brokers, servers, "PLAINTEXT"))
    assert [each.code for each in found.causes] == ["BN201"]
    remedy = the(found, "BN201").remedy
    assert remedy.rules == ("localhost = 10.1.0.61",)
    assert "unmapped" not in " ".join(remedy.client)
    assert any("doctor --map 'localhost = 10.1.0.61'" in line for line in remedy.client)
