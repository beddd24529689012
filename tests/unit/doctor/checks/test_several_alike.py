"""What several nodes, servers or lines have in common is said once, as one cause and one change."""

from __future__ import annotations

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, DIRECT, WELL, WITHOUT_MAP, reached, refused

from brokernat.address import AddressMap, Endpoint
from brokernat.doctor.checks.registry import error
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, Evidence, TlsHandshake
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
    assert ("no firewall rejects connections" in text) == in_sync
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
