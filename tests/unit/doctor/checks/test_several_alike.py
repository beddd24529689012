"""What several nodes, servers or lines have in common is said once, as one cause and one change."""

from __future__ import annotations

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, DIRECT, WELL, WITHOUT_MAP, reached, refused

from brokernat.address import AddressMap, Endpoint
from brokernat.doctor.checks.registry import error
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, EndpointProbe, Evidence, TlsHandshake
from brokernat.doctor.finding import Remedy, Severity
from brokernat.doctor.reports.summary import remedy_of


def causes(found: Diagnosis) -> list[str]:
    return [each.code for each in found.causes]


def remedy(found: Diagnosis) -> Remedy:
    return remedy_of(each for each in found.findings if each.severity is Severity.ERROR)


def advertising(ends: list[tuple[str, int]], bootstraps: dict[int, str], rule: str | None = None) -> Evidence:
    """Brokers that advertise these endpoints, none of which is reached; the bootstrap servers lead to some of them."""
    brokers = tuple(Advertised(n, host, port) for n, (host, port) in enumerate(ends, 1))
    lost = (replace(refused("10.77.0.9:9092"), attempts=(Attempt("10.77.0.9", "timeout"),)) for _ in brokers)
    paths = tuple(
        BrokerPath(each, replace(probe, endpoint=each.endpoint), rule)
        for each, probe in zip(brokers, lost, strict=True)
    )
    servers = tuple(replace(reached(n, end), brokers=brokers) for n, end in bootstraps.items())
    return replace(WITHOUT_MAP, rules=(rule,) if rule else None, bootstraps=servers, paths=paths)


ONE_HOST = [("edge.example", 34001), ("edge.example", 34002), ("edge.example", 34003)]
ONE_NETWORK = [("172.18.0.1", 9092), ("172.18.0.2", 9092), ("172.18.0.3", 9092)]


@pytest.mark.parametrize(
    ("ends", "bootstraps", "rule"),
    [
        (ONE_HOST, {1: "10.8.1.60:34001"}, "edge.example = 10.8.1.60"),
        (ONE_NETWORK, {1: "10.8.5.1:9092", 2: "10.8.5.2:9092"}, "172.18.0.0/24 = 10.8.5.0/24"),
    ],
)
def test_one_rule_for_all_nodes_where_every_proven_one_follows_it(
    ends: list[tuple[str, int]], bootstraps: dict[int, str], rule: str
) -> None:
    found = remedy(diagnose(advertising(ends, bootstraps)))
    assert found.rules == (rule,)
    third = AddressMap.parse(rule).translate(Endpoint(*ends[2])).endpoint
    assert str(third) == {"edge.example": "10.8.1.60:34003", "172.18.0.3": "10.8.5.3:9092"}[ends[2][0]]
    assert any(f"--map '{rule}'" in line for line in found.client), "it is not tested at the other nodes"


@pytest.mark.parametrize(
    ("ends", "bootstraps"),
    [
        pytest.param(ONE_HOST, {1: "10.8.1.60:9001"}, id="another port"),
        pytest.param(ONE_HOST, {1: "10.8.1.60:34001", 2: "10.8.1.61:34002"}, id="two gateways"),
        pytest.param(ONE_NETWORK, {1: "10.8.5.1:9092"}, id="one node may be so by chance"),
        pytest.param(ONE_NETWORK, {1: "10.8.5.1:9092", 2: "10.8.5.3:9092"}, id="another number"),
        pytest.param(ONE_NETWORK, {1: "10.8.5.1:9092", 2: "10.8.6.2:9092"}, id="two networks"),
        pytest.param([("a", 1), ("b", 1), ("c", 1)], {1: "10.8.5.1:1", 2: "10.8.5.2:1"}, id="three names"),
    ],
)
def test_no_such_rule_where_they_do_not(ends: list[tuple[str, int]], bootstraps: dict[int, str]) -> None:
    rules = remedy(diagnose(advertising(ends, bootstraps))).rules
    assert len(rules) == len(ends)
    assert [rule.endswith("dialled from here") for rule in rules] == [n not in bootstraps for n in (1, 2, 3)]


def test_a_wrong_rule_for_a_network_is_corrected_by_the_right_one() -> None:
    wrong = "172.18.0.0/24=10.8.4.0/24"
    found = diagnose(advertising(ONE_NETWORK, {1: "10.8.5.1:9092", 2: "10.8.5.2:9092"}, wrong))
    assert causes(found) == ["BN305"]
    assert remedy(found).rules == ("172.18.0.0/24 = 10.8.5.0/24",)
    assert sum(f"correct the rule `{wrong}`" in line for line in remedy(found).client) == 1


def test_a_port_that_all_advertise_and_none_has() -> None:
    ends = [(f"10.9.21.{n}", 9099) for n in (1, 2, 3)]
    found = remedy(diagnose(advertising(ends, {1: "10.9.21.1:9098", 3: "10.9.21.3:9098"})))
    assert found.rules == tuple(f"10.9.21.{n}:9099 = 10.9.21.{n}:9098" for n in (1, 2, 3))
    assert any("--map '10.9.21.2:9099 = 10.9.21.2:9098'" in line for line in found.client), "it is not tested"
    assert "`advertised.listeners` has port 9099, and these brokers answer at 9098: correct it" in found.broker
    elsewhere = remedy(diagnose(advertising(ends, {1: "10.9.21.1:9098", 3: "10.9.21.3:9097"})))
    assert elsewhere.rules[1].endswith("dialled from here")


@pytest.mark.parametrize("nodes", [2, 3, 6])
def test_lines_that_differ_in_the_node_only_are_one(nodes: int) -> None:
    findings = [
        error(
            f"node {n} at k{n}.example:9092",
            "",
            client=[f"open k{n}.example:9092 for node {n}", "look at k2.example:9092"],
            code="",
        )
        for n in range(1, nodes + 1)
    ]
    lines = remedy_of(findings).client
    first = "open k1.example:9092 for node 1"
    alike = {
        2: (first, "open k2.example:9092 for node 2"),
        3: (f"{first} (likewise for node 2, node 3)",),
        6: (f"{first} (likewise for node 2, node 3, node 4 and 2 more)",),
    }
    assert lines == (*alike[nodes], "look at k2.example:9092")


def test_bootstrap_servers_of_two_listeners_explain_what_fails_on_one_of_them() -> None:
    inner = tuple(replace(each, host=f"10.5.5.{each.node_id}") for each in BROKERS)
    second = replace(reached(2, "192.168.1.99:9092"), brokers=inner)
    lost = tuple(
        BrokerPath(each, replace(refused(each.endpoint), attempts=(Attempt(each.host, "timeout"),)))
        for each in inner[:1]
    )
    passing = tuple(
        BrokerPath(each, replace(reached(each.node_id, each.endpoint), brokers=inner)) for each in inner[1:]
    )
    evidence = replace(DIRECT, bootstraps=(DIRECT.bootstraps[0], second), paths=(*WELL, *lost, *passing))
    found = diagnose(evidence)
    assert causes(found) == ["BN502"]
    assert {each.because for each in found.findings if each.code in ("BN302", "BN308")} <= {
        ("BN502",),
        ("BN308", "BN502"),
    }


def test_a_port_that_only_the_controller_of_one_broker_has() -> None:
    controller = replace(refused("10.8.2.80:9190"), attempts=(Attempt("10.8.2.80", "connected"),), speaks="controller")
    servers = (controller, refused("10.8.2.81:9190"))
    assert causes(diagnose(replace(DIRECT, bootstraps=servers, paths=()))) == ["BN105"]
    elsewhere = (controller, refused("10.8.2.81:9092"))
    assert set(causes(diagnose(replace(DIRECT, bootstraps=elsewhere, paths=())))) == {"BN103", "BN105"}


def answering_http(path: BrokerPath) -> BrokerPath:
    probe = replace(refused(path.broker.endpoint), attempts=(Attempt(path.broker.host, "connected"),), speaks="http")
    return replace(path, probe=probe)


def test_several_hosts_with_one_foreign_protocol_are_one_device_on_the_path() -> None:
    one, several = (
        remedy(
            diagnose(
                replace(DIRECT, bootstraps=DIRECT.bootstraps[:1], paths=(*WELL[:n], *map(answering_http, WELL[n:])))
            )
        )
        for n in (2, 1)
    )
    device = "a proxy or a firewall on the path may answer in place of these hosts"
    assert not any(device in line for line in one.client)
    ends = f"{BROKERS[1].endpoint}, {BROKERS[2].endpoint}"
    assert f"{device}: have it let {ends} through" in several.client


def test_a_gateway_that_ends_tls_for_one_name_is_named_by_that_name() -> None:
    brokers = tuple(Advertised(n, f"broker-{n}.example", 443) for n in (0, 1))
    at_gateway = {"addresses": ("10.8.1.80",), "attempts": (Attempt("10.8.1.80", "connected"),)}
    right, wrong = (
        replace(probed(each.endpoint), **at_gateway, tls=TlsHandshake("ok"))  # the same gateway for both
        for each in brokers
    )
    answer = replace(reached(0, brokers[0].endpoint), brokers=brokers)
    right = replace(right, speaks="kafka", brokers=brokers, cluster_id="c", identity=answer.identity)
    paths = (BrokerPath(brokers[0], right), BrokerPath(brokers[1], replace(wrong, speaks="http")))
    evidence = replace(WITHOUT_MAP, security_protocol="SSL", bootstraps=(right,), paths=paths, replicas=(0, 1))
    found = diagnose(evidence)
    assert causes(found) == ["BN104"]
    (by_name,) = (line for line in remedy(found).broker if "SNI" in line)
    assert "knows node 0" in by_name
    assert "add or correct `broker-1.example` there, for node 1" in by_name
    assert not any("compare the listeners" in line for line in remedy(found).broker)


@pytest.mark.parametrize("in_sync", [True, False])
def test_a_node_in_sync_that_refuses_runs(in_sync: bool) -> None:
    lost = replace(WELL[2], probe=refused(BROKERS[2].endpoint))
    evidence = replace(DIRECT, paths=(*WELL[:2], lost), in_sync=(1, 2, 3) if in_sync else (1, 2))
    text = "\n".join(remedy(diagnose(evidence)).broker)
    assert ("no firewall rejects it" in text) == in_sync
    assert ("check that node 3 runs" in text) != in_sync


def test_a_listener_that_advertises_the_port_of_another_is_named_where_that_is_blocked() -> None:
    settings = (
        ("listeners", "INTERNAL://:9092,OUTER://:9110"),
        ("advertised.listeners", "INTERNAL://192.168.1.23:9092,OUTER://192.168.1.23:9092"),
        ("listener.security.protocol.map", "INTERNAL:PLAINTEXT,OUTER:PLAINTEXT"),
    )
    server = replace(reached(1, "192.168.1.23:9110"), settings=settings)
    lost = tuple(
        BrokerPath(each, replace(refused(each.endpoint), attempts=(Attempt(each.host, "timeout"),))) for each in BROKERS
    )
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=lost))
    given = "`advertised.listeners` gives listener OUTER the port of listener INTERNAL: correct it"
    assert given in remedy(found).broker
    elsewhere = (
        settings[0],
        ("advertised.listeners", settings[1][1].replace("INTERNAL://192", "INTERNAL://10")),
        settings[2],
    )
    server = replace(server, settings=elsewhere)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=lost))
    assert given not in remedy(found).broker, "at the outer host, the port may lead to the outer listener"


def at(host: str, port: int = 9092, **words: object) -> EndpointProbe:
    """An endpoint that accepts connections, at this address."""
    return replace(probed(f"{host}:{port}", host, (host,)), **{"attempts": (Attempt(host, "connected"),), **words})


def test_all_endpoints_that_lead_to_one_node_have_one_backend() -> None:
    probes = [replace(reached(3, f"10.9.1.{n}:9092"), endpoint=each.endpoint) for n, each in enumerate(BROKERS)]
    paths = tuple(BrokerPath(each, probe) for each, probe in zip(BROKERS, probes, strict=True))
    lines = remedy(diagnose(replace(WITHOUT_MAP, bootstraps=(reached(3, "10.9.1.9:9092"),), paths=paths))).broker
    (line,) = lines
    assert line.startswith(
        "every advertised endpoint leads to node 3: the gateway or balancer there must forward each to"
    )


def test_one_certificate_for_all_ports_of_a_gateway_is_missing_where_a_forward_leads_elsewhere() -> None:
    ends = [Advertised(n, "kafka.example", 9700 + n) for n in (1, 2, 3)]
    gateway = {"addresses": ("10.9.1.67",), "attempts": (Attempt("10.9.1.67", "connected"),)}
    right = [replace(reached(n, end.endpoint), **gateway, tls=TlsHandshake("ok")) for n, end in enumerate(ends, 1)]
    wrong = replace(probed(ends[2].endpoint), **gateway, tls=TlsHandshake("name-mismatch", ("kb-3.example",)))
    paths = tuple(BrokerPath(end, probe) for end, probe in zip(ends, (*right[:2], wrong), strict=True))
    found = diagnose(replace(WITHOUT_MAP, security_protocol="SSL", bootstraps=tuple(right[:1]), paths=paths))
    assert causes(found) == ["BN402"]
    assert remedy(found).broker[0].startswith("check where the forward at kafka.example:9703 leads")


def test_a_network_that_is_silent_as_a_whole_is_a_route_or_a_link() -> None:
    hosts = ("10.9.41.2", "10.9.42.5", "10.9.43.3", "10.9.43.4")
    ends = tuple(Advertised(n, host, 9092) for n, host in enumerate(hosts, 1))
    answers = [replace(reached(n, end.endpoint), brokers=ends) for n, end in enumerate(ends, 1)]
    silent = [at(each.host, attempts=(Attempt(each.host, "timeout"),)) for each in ends[2:]]
    for met, whole in (((*answers[:2], *silent), True), ((*answers[:3], silent[1]), False)):
        paths = tuple(BrokerPath(end, probe) for end, probe in zip(ends, met, strict=True))
        found = diagnose(replace(WITHOUT_MAP, bootstraps=tuple(answers[:1]), paths=paths))
        assert causes(found) == ["BN308"]
        ways = [line for line in remedy(found).client if "route, VPN or link to 10.9.43.0/24" in line]
        assert bool(ways) == whole


def test_one_address_among_names_is_what_a_proxy_or_the_node_has_wrong() -> None:
    names = [Advertised(n, f"px-{n}.example", 9092) for n in (1, 2)]
    brokers = (*names, Advertised(3, "10.9.43.33", 9092))
    lost = at("10.9.43.33", attempts=(Attempt("10.9.43.33", "timeout"),))
    there = {"brokers": brokers}
    probes = [replace(reached(n, "10.9.1.8:9092"), endpoint=f"px-{n}.example:9092", **there) for n in (1, 2)]
    paths = tuple(BrokerPath(end, probe) for end, probe in zip(brokers, (*probes, lost), strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(probes[0],), paths=paths))
    assert causes(found) == ["BN302"]
    assert (
        remedy(found)
        .broker[0]
        .startswith(
            "node 3 advertises the address 10.9.43.33, and the others names such as `px-1.example`: correct its"
        )
    )


def test_another_program_in_a_network_of_this_machine_is_no_fault_of_a_node() -> None:
    """As where Docker's bridge on this machine has the brokers' network."""
    ends = tuple(Advertised(n, f"172.17.0.1{n}", 9092) for n in (1, 2, 3))
    local = [Attempt(end.host, "unreachable", reported_by="172.17.0.1") for end in ends]
    lost = [at(end.host, attempts=(attempt,)) for end, attempt in zip(ends, local, strict=True)]
    probes = (lost[0], at(ends[1].host, speaks="http"), lost[2])
    paths = tuple(BrokerPath(end, probe) for end, probe in zip(ends, probes, strict=True))
    server = replace(reached(1, "10.9.1.61:9001"), brokers=ends)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=paths))
    assert causes(found) == ["BN302"]
    bridge = "this machine itself has the address 172.17.0.1 in the network of"
    assert any(bridge in line for line in remedy(found).client)


def test_a_former_address_that_another_machine_has_now() -> None:
    lost = replace(WELL[2], probe=replace(at(BROKERS[2].host), endpoint=BROKERS[2].endpoint, speaks="http"))
    (first, *_) = remedy(diagnose(replace(DIRECT, paths=(*WELL[:2], lost)))).broker
    assert first == "if 192.168.1.25 is not node 3's address any more, correct its `advertised.listeners`"


def test_a_copied_file_advertises_the_brokers_of_another_cluster() -> None:
    servers = tuple(replace(reached(n, f"10.9.44.7{n}:9093"), cluster_id="staging") for n in (1, 2, 3))
    found = diagnose(replace(DIRECT, bootstraps=servers, paths=WELL))
    assert causes(found) == ["BN501"]
    assert remedy(found).broker[0] == (
        "node 1 answers at 10.9.44.71:9093: correct its `advertised.listeners`, which has 192.168.1.23:9092"
    )


def test_a_missing_node_that_answers_with_another_cluster_id_was_formatted_anew() -> None:
    anew = replace(reached(3, BROKERS[2].endpoint), cluster_id="other", brokers=(BROKERS[2],))
    left = tuple(replace(each, brokers=BROKERS[:2]) for each in DIRECT.bootstraps)
    two = tuple(BrokerPath(each, probe) for each, probe in zip(BROKERS, left, strict=False))
    evidence = replace(DIRECT, bootstraps=(*left, anew), paths=two, in_sync=(1, 2))
    lines = [line for each in diagnose(evidence).findings if each.code == "BN507" for line in each.remedy.broker]
    assert lines == [
        "node 3 at 192.168.1.25:9092 is of cluster other: if it is the missing one, it was formatted anew "
        "(`meta.properties`): format it with the cluster id c"
    ]


def test_host_rules_whose_gateway_has_another_port() -> None:
    evidence = advertising(ONE_NETWORK, {1: "10.7.0.1:9192", 3: "10.7.0.3:9192"}, "172.18.0.1=10.7.0.1")
    found = remedy(diagnose(evidence))
    assert found.rules == tuple(f"172.18.0.{n}:9092 = 10.7.0.{n}:9192" for n in (1, 2, 3))
    assert "--map '172.18.0.2:9092 = 10.7.0.2:9192'" in "\n".join(found.client)
    wide = [("172.30.1.2", 9092), ("172.30.1.5", 9092), ("172.30.2.17", 9092)]
    found = remedy(diagnose(advertising(wide, {1: "10.7.1.2:9092", 3: "10.7.2.17:9092"})))
    assert found.rules == ("172.30.0.0/16 = 10.7.0.0/16",)
