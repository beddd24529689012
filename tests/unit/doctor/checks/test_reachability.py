"""What the doctor advises where connections fail: the cause on the right side, and nothing that the evidence denies."""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, DIRECT, GATEWAY, WELL, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    BrokerPath,
    EndpointProbe,
    Evidence,
    ListenerSeen,
    Login,
    NameLookup,
    TlsHandshake,
    Tries,
)
from brokernat.doctor.finding import Remedy, Severity
from brokernat.doctor.reports.summary import remedies_of_causes

RESTART = "if node 3 is just restarting, run the doctor again"


def at(address: str, outcome: str = "refused", **words: str) -> EndpointProbe:
    attempt = Attempt(address, outcome, **words)  # type: ignore[arg-type]
    return probed(f"{address}:9092", address, (address,), attempts=(attempt,))


def third(probe: EndpointProbe) -> Evidence:
    """The healthy cluster of three nodes with another probe of the third."""
    return replace(DIRECT, paths=(*WELL[:2], replace(WELL[2], probe=replace(probe, endpoint=BROKERS[2].endpoint))))


def behind_names(*probes: EndpointProbe) -> Evidence:
    """Bootstrap servers that answer, and brokers that advertise names with these probes."""
    brokers = tuple(Advertised(n, probe.name, 9092) for n, probe in enumerate(probes, 1))
    servers = tuple(replace(reached(n, GATEWAY[n]), brokers=brokers) for n in (1, 2))
    paths = tuple(BrokerPath(each, probe) for each, probe in zip(brokers, probes, strict=True))
    return replace(WITHOUT_MAP, bootstraps=servers, paths=paths, replicas=tuple(each.node_id for each in brokers))


def name(host: str, attempt: Attempt, **results: object) -> EndpointProbe:
    probe = probed(f"{host}:9092", host, (attempt.address,), attempts=(attempt,))
    return dataclasses.replace(probe, **results)  # type: ignore[arg-type]


def remedy(found: Diagnosis, code: str) -> Remedy:
    return Remedy().and_also(each.remedy for each in found.findings if each.code == code)


def codes(found: Diagnosis) -> set[str]:
    return {each.code for each in found.findings}


def causes(found: Diagnosis) -> list[str]:
    return [each.code for each in found.causes]


@pytest.mark.parametrize(
    "probe",
    [
        name("kafka-1.hq.internal", Attempt("10.9.0.1", "refused")),
        name("kafka-1.hq.internal", Attempt("10.9.0.1", "connected"), tls=TlsHandshake("expired")),
        name(
            "kafka-1.hq.internal", Attempt("10.9.0.1", "connected"), versions=ApiVersions("ok"), sasl=Login("rejected")
        ),
        name("kafka-1.hq.internal", Attempt("fd00::1", "unreachable")),
    ],
    ids=["refused", "certificate", "login", "no-route"],
)
def test_a_name_that_resolves_here_is_not_known_to_the_brokers_network_only(probe: EndpointProbe) -> None:
    assert "BN203" not in codes(diagnose(behind_names(probe)))


def test_a_name_that_does_not_resolve_is() -> None:
    unknown = EndpointProbe("kafka-1:9092", "kafka-1", NameLookup("unknown", detail="unknown"))
    assert "BN203" in codes(diagnose(behind_names(unknown)))


def test_a_short_name_is_of_no_domain() -> None:
    known = name("gateway", Attempt("10.9.0.1", "connected"))
    assert "BN203" in codes(diagnose(behind_names(known, probed("f3a9c2d17b4e:9092", dns_error="unknown"))))


def test_a_name_among_others_of_its_domain_that_resolve_is_not_known_to_the_brokers_network_only() -> None:
    known = name("kafka-1.hq.internal", Attempt("10.9.0.1", "connected"))
    unknown = probed("kafka-2.hq.internal:9092", "kafka-2.hq.internal", dns_error="unknown")
    found = diagnose(behind_names(known, unknown))
    assert "BN301" in codes(found)
    assert "BN203" not in codes(found)


def test_a_private_address_at_which_the_node_rejects_the_login_is_reached() -> None:
    rejecting = dataclasses.replace(at("192.168.1.25", "connected"), versions=ApiVersions("ok"), sasl=Login("rejected"))
    evidence = third(rejecting)
    servers = tuple(reached(n, GATEWAY[n]) for n in (1, 2))
    found = diagnose(replace(evidence, bootstraps=servers, security_protocol="SASL_PLAINTEXT", mechanism="PLAIN"))
    assert "BN202" not in codes(found)
    assert not any("runs" in line for each in found.findings for line in each.remedy.broker)


@pytest.mark.parametrize(
    ("icmp", "up"), [("net-unreachable", ()), ("host-unreachable", ("check that the host 192.168.1.25 is up",))]
)
def test_a_router_without_a_route_is_no_node_that_does_not_run(icmp: str, up: tuple[str, ...]) -> None:
    found = diagnose(third(at("192.168.1.25", "unreachable", icmp=icmp, reported_by="10.1.1.1")))
    assert causes(found) == ["BN302"]
    assert remedy(found, "BN302").client[0] == (
        f"check the route or the VPN to 192.168.1.25, and the firewalls on the path: router 10.1.1.1 sends ICMP {icmp}"
    )
    assert remedy(found, "BN302").broker == up


def test_nodes_without_a_route_share_a_line() -> None:
    probes = [at(each.host, "unreachable", icmp="net-unreachable", reported_by="10.1.1.1") for each in BROKERS[1:]]
    paths = (WELL[0], *(replace(path, probe=probe) for path, probe in zip(WELL[1:], probes, strict=True)))
    found = diagnose(replace(DIRECT, bootstraps=DIRECT.bootstraps[:1], paths=paths))
    assert [line for line in remedy(found, "BN302").client if "route" in line] == [
        "check the route or the VPN to 192.168.1.24, 192.168.1.25, and the firewalls on the path: router 10.1.1.1 "
        "sends ICMP net-unreachable"
    ]


@pytest.mark.parametrize("icmp", ["", "net-unreachable"])
def test_proven_rules_need_no_route(icmp: str) -> None:
    """Behind a NAT nothing is wrong with the client's routes."""
    lost = (at(each.host, "unreachable", icmp=icmp, reported_by="10.1.1.1") for each in BROKERS)
    paths = tuple(BrokerPath(each, probe) for each, probe in zip(BROKERS, lost, strict=True))
    advice = remedy(diagnose(replace(WITHOUT_MAP, paths=paths)), "BN302")
    assert len(advice.rules) == len(BROKERS)
    assert not any("route" in line for line in advice.client)


def test_a_machine_with_an_address_in_the_brokers_network() -> None:
    """Docker gave a bridge the brokers' network; the bootstrap servers are in another one."""
    lost = tuple(at(each.host, "unreachable", reported_by="192.168.1.1") for each in BROKERS)
    paths = tuple(BrokerPath(each, probe) for each, probe in zip(BROKERS, lost, strict=True))
    found = diagnose(replace(WITHOUT_MAP, paths=paths))
    assert causes(found) == ["BN302"]
    (line,) = (each for each in remedy(found, "BN302").client if "192.168.1.1 " in each)
    assert line.startswith("this machine itself has the address 192.168.1.1 in the network of 192.168.1.23")
    assert {each.message for each in found.findings if each.code == "BN202"} == {
        "a private address, and this machine itself has an address in that network (192.168.1.1)"
    }


def test_a_machine_in_the_network_of_brokers_that_answer_has_no_wrong_bridge() -> None:
    found = diagnose(third(at("192.168.1.25", "unreachable", reported_by="192.168.1.1")))
    assert "this machine itself" not in str(found.findings)
    expected = "nothing answers at 192.168.1.25, and other addresses of its network do: the host is off"
    assert expected in str(remedy(found, "BN302").client)


def test_evidence_of_a_changed_file_may_have_any_text_as_address() -> None:
    found = diagnose(replace(DIRECT, bootstraps=(*DIRECT.bootstraps, at("nonsense", "unreachable", reported_by="x"))))
    assert codes(found) == {"BN103"}


def test_names_with_ipv6_addresses_only_on_a_machine_without_ipv6() -> None:
    lost = (name(f"b-{n}.hq.example", Attempt(f"fd20:30::{n}", "unreachable")) for n in (1, 2))
    found = diagnose(behind_names(*lost))
    assert causes(found) == ["BN302"]
    routes = [line for line in remedy(found, "BN302").client if "IPv6" in line]
    assert routes == ["check `ip route get fd20:30::1`: this machine may have no IPv6, or the hosts are off"]
    assert "give the advertised names IPv4 addresses too (A records)" in str(remedy(found, "BN302").broker)
    assert "correct the DNS record" not in str(found.findings)


NOWHERE = tuple(name(f"kafka-{n}.kafka.svc", Attempt("10.5.5.5", "refused")) for n in (1, 2, 3))


@pytest.mark.parametrize("outcome", ["refused", "timeout", "connected"])
def test_a_name_server_that_returns_one_address_for_every_name(outcome: str) -> None:
    """A search page or nothing is there; other ports of the address answer."""
    probes = tuple(name(each.name, Attempt("10.5.5.5", outcome)) for each in NOWHERE)  # type: ignore[arg-type]
    if outcome == "connected":
        probes = tuple(replace(each, speaks="http") for each in probes)
    found = diagnose(behind_names(*probes))
    assert causes(found) == ["BN316"]
    assert found.causes[0].sentence.startswith("Probably the name server of this machine does not know the names of")
    assert "it returns 10.5.5.5 for all of them, and no broker answers there" in found.causes[0].sentence
    assert "kafka-1.kafka.svc:9092 = 172.10.1.40:9093" in remedy(found, "BN316").rules
    assert "compare `getent hosts no-such-name.example`" in remedy(found, "BN316").client[0]
    assert "BN203" not in codes(found)


@pytest.mark.parametrize(
    "evidence",
    [
        behind_names(NOWHERE[0]),
        behind_names(NOWHERE[0], name("kafka-2.kafka.svc", Attempt("10.5.5.6", "refused"))),
        behind_names(NOWHERE[0], replace(NOWHERE[1], speaks="kafka")),
        behind_names(NOWHERE[0], replace(NOWHERE[1], hosts_entry="10.5.5.5 kafka-2.kafka.svc")),
        replace(behind_names(*NOWHERE), security_protocol="SASL_SSL"),
        replace(
            behind_names(*NOWHERE),
            paths=tuple(
                BrokerPath(Advertised(n, probe.name, 9090 + n), replace(probe, endpoint=f"{probe.name}:{9090 + n}"))
                for n, probe in enumerate(NOWHERE, 1)
            ),
        ),
    ],
    ids=["one-name", "two-addresses", "a-broker-answers", "hosts-file", "tls-by-name", "a-port-each"],
)
def test_one_address_that_may_be_a_gateway(evidence: Evidence) -> None:
    assert "BN316" not in codes(diagnose(evidence))


@pytest.mark.parametrize("outcome", ["refused", "timeout", "unreachable"])
def test_a_bootstrap_server_that_clients_do_not_need_may_be_removed(outcome: str) -> None:
    found = diagnose(replace(DIRECT, bootstraps=(*DIRECT.bootstraps, at("192.168.1.99", outcome))))
    assert not found.causes
    assert (
        sum("remove it from `bootstrap_servers`" in line for each in found.findings for line in each.remedy.client) == 1
    )
    broken = third(at("192.168.1.25"))
    found = diagnose(replace(broken, bootstraps=(*broken.bootstraps, at("192.168.1.99", outcome))))
    assert "remove it from `bootstrap_servers`" not in str(found.findings)


def test_a_node_that_refuses_while_all_others_answer_may_be_restarting() -> None:
    assert RESTART in remedy(diagnose(third(at("192.168.1.25"))), "BN302").client
    behind_a_map = mapped({1: 1, 2: 2, 3: 3})
    last = replace(behind_a_map.paths[2], probe=refused(GATEWAY[3]))
    evidence = replace(behind_a_map, bootstraps=behind_a_map.bootstraps[:2], paths=(*behind_a_map.paths[:2], last))
    assert RESTART in remedy(diagnose(evidence), "BN305").client


WRONG = tuple(BrokerPath(each, reached(3 - each.node_id, each.endpoint)) for each in BROKERS[:2])


@pytest.mark.parametrize(
    "evidence",
    [
        third(at("192.168.1.25", "timeout")),
        third(at("192.168.1.25", icmp="port-unreachable", reported_by="10.1.1.1")),
        replace(third(at("192.168.1.25")), bootstraps=(DIRECT.bootstraps[0], at("192.168.1.24"))),
        WITHOUT_MAP,
        replace(third(at("192.168.1.25")), paths=(*WRONG, third(at("192.168.1.25")).paths[2])),
    ],
    ids=["no-answer", "firewall", "another-one-too", "all", "others-are-exchanged"],
)
def test_it_is_not_restarting(evidence: Evidence) -> None:
    assert "restarting" not in str(diagnose(evidence).findings)


def by_tunnel(ends: dict[int, EndpointProbe]) -> Evidence:
    """Rules that lead to ports of this machine."""
    rules = {n: f"{BROKERS[n - 1].endpoint}={probe.endpoint}" for n, probe in ends.items()}
    paths = tuple(BrokerPath(BROKERS[n - 1], probe, rules[n]) for n, probe in ends.items())
    return replace(
        WITHOUT_MAP, rules=tuple(rules.values()), unmapped="fail", bootstraps=WITHOUT_MAP.bootstraps[:1], paths=paths
    )


def closed(n: int) -> EndpointProbe:
    here = Attempt("127.0.0.1", "refused")
    return probed(f"localhost:{19050 + n}", BROKERS[n - 1].host, ("127.0.0.1",), attempts=(here,))


def test_a_tunnel_that_does_not_run_is_no_wrong_rule() -> None:
    found = diagnose(by_tunnel({n: closed(n) for n in (1, 2, 3)}))
    assert causes(found) == ["BN305"]
    assert remedy(found, "BN305").client == (
        "nothing listens at localhost:19051, localhost:19052, localhost:19053 of this machine: start the tunnel or the "
        "forward there",
    )
    assert remedy(found, "BN305").broker == ()
    assert remedy(found, "BN305").rules == ("192.168.1.23:9092 = 172.10.1.40:9093",)


def test_one_port_of_a_tunnel_that_runs_may_be_a_wrong_one() -> None:
    works = probed(
        "localhost:19051",
        BROKERS[0].host,
        ("127.0.0.1",),
        attempts=(Attempt("127.0.0.1", "connected"),),
        speaks="kafka",
    )
    found = diagnose(by_tunnel({1: works, 2: closed(2)}))
    assert "if it runs at another port, correct the rule `192.168.1.24:9092=localhost:19052`" in str(
        remedy(found, "BN305").client
    )


@pytest.mark.parametrize("kind", ["right", "another-node", "another-cluster"])
def test_a_node_is_reached_by_the_map_only_if_it_is_the_node(kind: str) -> None:
    evidence = mapped({1: 2 if kind == "another-node" else 1})
    (path,) = evidence.paths[:1]
    assert path.probe is not None
    probe = replace(path.probe, cluster_id="other") if kind == "another-cluster" else path.probe
    paths = (replace(path, probe=probe, direct=refused(path.broker.endpoint)), *evidence.paths[1:])
    assert ("BN304" in codes(diagnose(replace(evidence, paths=paths)))) == (kind == "right")


def test_connections_that_are_rejected_now_and_then_are_not_lost() -> None:
    tries = (Tries("connect", 6, 1, 0.01, 0.02, ("refused",)),)
    found = diagnose(third(replace(reached(3, BROKERS[2].endpoint), tries=tries)))
    (flaky,) = found.findings
    assert flaky.details == ("connect: 1 of 6 tries failed (refused)",)
    assert "rejects some connections" in flaky.remedy.broker[0]


def test_a_line_that_two_root_causes_have_is_printed_once() -> None:
    unknown = BrokerPath(Advertised(4, "kafka-4", 9092), probed("kafka-4:9092", "kafka-4", dns_error="unknown"))
    evidence = third(at("192.168.1.25"))
    found = diagnose(replace(evidence, paths=(*evidence.paths, unknown)))
    assert len(found.causes) == 2
    printed = [line for _, each in remedies_of_causes(found) for side in each.sides for line in side]
    assert len(printed) == len(set(printed))
    assert all(any(each.sides) for _, each in remedies_of_causes(found))


def listener(node_id: int, place: str, port: int, listener_name: str = "OFFICE") -> ListenerSeen:
    """Another listener of a node, which is proven there."""
    end = f"{place}:{port}"
    return ListenerSeen(node_id, listener_name, end, replace(reached(node_id, end), addresses=(place,)))


def test_a_port_that_gets_no_answer_at_hosts_whose_other_ports_answer_is_blocked() -> None:
    paths = tuple(BrokerPath(each, replace(at(each.host, "timeout"), endpoint=each.endpoint)) for each in BROKERS)
    others = tuple(listener(each.node_id, each.host, 19092) for each in BROKERS)
    found = diagnose(replace(WITHOUT_MAP, paths=paths, listeners=others))
    assert [each.code for each in found.causes] == ["BN308"]
    (first, *_) = (each for each in found.findings if each.code == "BN308")
    assert first.message == "packets get no answer, and other endpoints of its host answer"
    assert "answers on the same host: 192.168.1.23:19092" in first.details
    assert not any("is up" in line for line in first.remedy.broker)


def test_a_map_without_the_rule_of_a_node_gets_the_line_also_where_another_listener_works() -> None:
    evidence = mapped({1: 1, 2: 2})
    away = BrokerPath(BROKERS[2], replace(at("192.168.1.25", "timeout"), endpoint=BROKERS[2].endpoint))
    others = tuple(listener(each.node_id, "172.10.1.50", 19000 + each.node_id) for each in BROKERS)
    evidence = replace(evidence, unmapped="pass", paths=(*evidence.paths[:2], away), listeners=others)
    found = diagnose(replace(evidence, bootstraps=evidence.bootstraps[:2]))
    (unreached,) = (each for each in found.findings if each.code == "BN302")
    assert "no rule of the address map matches it (`unmapped: pass`)" in unreached.details
    assert unreached.remedy.rules == (f"{BROKERS[2].endpoint} = HOST:PORT that can be dialled from here",)


def test_an_advertised_port_unlike_that_of_the_others_may_be_a_typo() -> None:
    odd = replace(BROKERS[2], port=9029)
    away = replace(at(odd.host), endpoint=odd.endpoint)
    found = diagnose(replace(DIRECT, paths=(*WELL[:2], BrokerPath(odd, away))))
    assert remedy(found, "BN302").broker[0] == (
        "`advertised.listeners` of node 3 has port 9029, and the other nodes have 9092 for this listener: correct it "
        "if it is a typo"
    )


@pytest.mark.parametrize("icmp", ["", "admin-prohibited"])
def test_addresses_of_ipv6_on_a_machine_without_it_are_no_fault(icmp: str) -> None:
    attempts = (Attempt("fd20:30::3", "unreachable", icmp=icmp), Attempt("192.168.1.25", "connected"))
    assert WELL[2].probe is not None
    both = replace(WELL[2].probe, attempts=attempts, addresses=("fd20:30::3", "192.168.1.25"))
    (found,) = (each for each in diagnose(third(both)).findings if each.code == "BN303")
    assert found.severity is (Severity.WARNING if icmp else Severity.INFO)


def test_a_name_that_leads_elsewhere_than_the_node_s_other_listeners_is_a_wrong_record() -> None:
    """A gateway's address in another network says nothing about the node's."""
    brokers = tuple(Advertised(n, f"kafka-{n}.hq.example", 9092) for n in (1, 2, 3))
    ends = [replace(reached(n, f"10.9.0.{n}:9092"), endpoint=brokers[n - 1].endpoint, brokers=brokers) for n in (1, 2)]
    away = probed(brokers[2].endpoint, brokers[2].host, ("10.9.0.99",), attempts=(Attempt("10.9.0.99", "timeout"),))
    paths = tuple(BrokerPath(*each) for each in zip(brokers, (*ends, away), strict=True))
    gateway = listener(3, "203.0.113.7", 32003, "EDGE")
    evidence = replace(DIRECT, bootstraps=(ends[0],), paths=paths, listeners=(gateway,))
    assert [each.code for each in diagnose(evidence).causes] == ["BN308"]
    found = diagnose(replace(evidence, listeners=(gateway, listener(3, "10.9.0.3", 19092))))
    assert [each.code for each in found.causes] == ["BN302"]
    assert remedy(found, "BN302").client[0] == (
        "correct the DNS record (or the hosts file): `kafka-3.hq.example` resolves here to 10.9.0.99, and node 3 is at "
        "10.9.0.3 (listener OFFICE)"
    )


@pytest.mark.parametrize("host", ["169.254.10.3", "fe80::3"])
def test_a_link_local_address_needs_a_rule_and_no_firewall_lets_it_pass(host: str) -> None:
    broker = Advertised(1, host, 9092)
    server = replace(reached(1, GATEWAY[1]), brokers=(broker,))
    path = BrokerPath(broker, probed(broker.endpoint, host, (host,), attempts=(Attempt(host, "timeout"),)))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=(path,), replicas=(1,)))
    (told,) = (each for each in found.findings if each.code == "BN302")
    assert "a link-local address, which no router forwards" in told.remedy.client[0]
    assert "DHCP" in told.remedy.broker[0]
    assert "firewalls" not in str(told.remedy)


def test_a_refusal_by_this_machine_itself_is_no_neighbour_of_the_brokers() -> None:
    """A bridge of this machine has the brokers' network, and one broker's address is that of the machine."""
    own = at("192.168.1.23", "refused", reported_by="192.168.1.23")
    lost = (own, at("192.168.1.24", "unreachable", reported_by="192.168.1.23"), at("192.168.1.25", "timeout"))
    paths = tuple(BrokerPath(each, probe) for each, probe in zip(BROKERS, lost, strict=True))
    found = diagnose(replace(WITHOUT_MAP, paths=paths))
    assert causes(found) == ["BN302"]
    assert "this machine itself has the address 192.168.1.23" in str(remedy(found, "BN302").client)


def test_a_firewall_of_a_broker_that_rejects_is_an_answer_of_its_network() -> None:
    """Its ICMP error comes from the broker's address, as the refusal of this machine itself does without one."""
    rejects = at("192.168.1.23", icmp="port-unreachable", reported_by="192.168.1.23")
    lost = (rejects, at("192.168.1.24", "timeout"), at("192.168.1.25", "timeout"))
    paths = tuple(BrokerPath(each, probe) for each, probe in zip(BROKERS, lost, strict=True))
    found = diagnose(replace(WITHOUT_MAP, paths=paths))
    assert causes(found) == ["BN308"]
    assert "packets get no answer, and other hosts of its network answer" in str(found.findings)


def test_a_node_that_advertises_this_machines_own_address() -> None:
    """As after a copy of a developer's settings: this machine refuses, and no node is down."""
    own = replace(refused("10.8.1.2:9115"), attempts=(Attempt("10.8.1.2", "refused", reported_by="10.8.1.2"),))
    well = [BrokerPath(Advertised(n, f"10.8.2.1{n}", 9115), reached(n, f"10.8.2.1{n}:9115")) for n in (1, 3)]
    paths = (*well, BrokerPath(Advertised(2, "10.8.1.2", 9115), own))
    (found,) = (each for each in diagnose(replace(WITHOUT_MAP, paths=paths)).findings if each.code == "BN302")
    assert found.message == "10.8.1.2 refused the connection, and is an address of this machine"
    assert found.remedy.client == ()
    assert found.remedy.broker == (
        "correct `advertised.listeners` of node 2: it names this machine; if node 2 runs here, start it",
    )


@pytest.mark.parametrize("outcome", ["timeout", "refused"])
def test_a_node_that_is_proven_at_another_address_of_the_network_has_moved(outcome: str) -> None:
    """Whether or not packets to its former address are answered."""
    now = reached(3, "192.168.1.99:9092")
    former = at(BROKERS[2].host, outcome)
    paths = (*WELL[:2], replace(WELL[2], probe=former))
    found = diagnose(replace(DIRECT, bootstraps=(*DIRECT.bootstraps, now), paths=paths))
    assert [each.code for each in found.causes] == ["BN302"]
    (told,) = (each.remedy for each in found.findings if each.code == "BN302")
    assert told.broker[0] == (
        "node 3 answers at 192.168.1.99:9092: if it has moved, correct its `advertised.listeners`, which has "
        "192.168.1.25:9092"
    )
    assert told.rules == ("192.168.1.25:9092 = 192.168.1.99:9092",)
    # A gateway of another network is no new address of the node.
    gateway = replace(DIRECT, bootstraps=(*DIRECT.bootstraps, reached(3, "172.10.1.40:9092")), paths=paths)
    assert not any("has moved" in line for each in diagnose(gateway).findings for line in each.remedy.broker)


@pytest.mark.parametrize("outcome", ["timeout", "refused"])
def test_a_node_whose_other_listener_has_another_host_than_this_one_has_moved(outcome: str) -> None:
    """At the other nodes both listeners have one host."""
    paths = (*WELL[:2], replace(WELL[2], probe=at(BROKERS[2].host, outcome)))
    now = listener(3, "10.77.0.3", 9081, "INNER")
    inner = tuple(listener(each.node_id, each.host, 9081, "INNER") for each in BROKERS[:2])
    # Its network is one in which a node is reached.
    third = BrokerPath(Advertised(4, "10.77.0.4", 9092), reached(4, "10.77.0.4:9092"))
    evidence = replace(DIRECT, paths=(*paths, third), listeners=(*inner, now))
    found = diagnose(evidence)
    assert causes(found) == ["BN302"]
    assert remedy(found, "BN302").broker[0] == (
        "node 3 answers at 10.77.0.3 (listener INNER): if it has moved, correct its `advertised.listeners`, which has "
        "192.168.1.25:9092"
    )
    # A listener that has another host at every node says nothing.
    elsewhere = tuple(listener(each.node_id, f"10.77.0.{each.node_id}", 9081, "INNER") for each in BROKERS)
    usual = diagnose(replace(evidence, listeners=elsewhere))
    assert not any("has moved" in line for each in usual.findings for line in each.remedy.broker)


def test_a_port_that_a_gateway_drops_may_lack_its_forward() -> None:
    """Other nodes are reached at other ports there, so a firewall is no better guess than a forward."""
    brokers = tuple(Advertised(n, "203.0.113.7", 31000 + n) for n in (1, 2, 3))
    ends = [replace(reached(n, brokers[n - 1].endpoint), brokers=brokers) for n in (1, 2)]
    away = replace(at("203.0.113.7", "timeout"), endpoint=brokers[2].endpoint)
    paths = tuple(BrokerPath(*each) for each in zip(brokers, (*ends, away), strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(ends[0],), paths=paths))
    assert causes(found) == ["BN302"]
    assert remedy(found, "BN302").broker == (
        "203.0.113.7 leads to node 1, node 2 at other ports: add or correct the forward of port 31003 to node 3 there, "
        "or its listener if it is there, and check that the node runs, and that no firewall drops this port alone",
    )


def test_an_odd_port_that_gets_no_answer_is_no_firewall() -> None:
    odd = replace(BROKERS[2], port=9029)
    away = replace(at(odd.host, "timeout"), endpoint=odd.endpoint)
    own = (listener(3, odd.host, 19092),)
    found = diagnose(replace(DIRECT, paths=(*WELL[:2], BrokerPath(odd, away)), listeners=own))
    assert causes(found) == ["BN302"]
    assert "`advertised.listeners` of node 3 has port 9029" in remedy(found, "BN302").broker[0]


def test_rules_without_a_port_at_a_gateway_of_other_ports() -> None:
    rules = tuple(f"{each.host}=172.10.1.40" for each in BROKERS)
    kept = refused("172.10.1.40:9092")
    paths = tuple(BrokerPath(each, kept, rule) for each, rule in zip(BROKERS, rules, strict=True))
    found = diagnose(
        replace(WITHOUT_MAP, rules=rules, unmapped="fail", bootstraps=WITHOUT_MAP.bootstraps[:2], paths=paths)
    )
    assert causes(found) == ["BN305"]
    assert remedy(found, "BN305").client == (
        "rules without a port keep port 9092, and 172.10.1.40 answers at 9093, 9094: give each node a rule of its own "
        "with a port on both sides",
        "`brokernat discover -b HOST:PORT --candidates HOST:PORTS` finds and tests endpoints for the rules, such as "
        "the ports of a gateway",
    )
    assert remedy(found, "BN305").rules == (
        "192.168.1.23:9092 = 172.10.1.40:9093",
        "192.168.1.24:9092 = 172.10.1.40:9094",
        "192.168.1.25:9092 = HOST:PORT that can be dialled from here",
    )


def test_a_tunnel_that_leads_to_another_node_is_mended_on_this_machine() -> None:
    ends = {1: "localhost:19091", 2: "localhost:19092", 3: "localhost:19093"}
    rules = tuple(f"{each.endpoint}={ends[each.node_id]}" for each in BROKERS)
    met, own = {1: 1, 2: 2, 3: 2}, "127.0.0.1"
    here = (Attempt(own, "connected"),)
    paths = tuple(
        BrokerPath(each, replace(reached(met[each.node_id], ends[each.node_id]), addresses=(own,), attempts=here), rule)
        for each, rule in zip(BROKERS, rules, strict=True)
    )
    found = diagnose(replace(WITHOUT_MAP, rules=rules, unmapped="fail", bootstraps=(paths[0].probe,), paths=paths))
    assert causes(found) == ["BN601"]
    assert remedy(found, "BN601") == Remedy(
        ("localhost:19093 of this machine leads to node 2: correct the target of the forward or tunnel there",)
    )


def test_a_broker_that_advertises_the_name_of_this_machine() -> None:
    broker = Advertised(1, "laptop-7", 9092)
    line = "127.0.1.1 laptop-7"
    probe = replace(refused("127.0.1.1:9092"), endpoint="laptop-7:9092", hosts_entry=line, own_name=True)
    server = replace(reached(1, "10.9.1.60:9092"), brokers=(broker,))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=(BrokerPath(broker, probe),), replicas=(1,)))
    assert [each.code for each in found.causes] == ["BN302"]
    (told,) = (each for each in found.findings if each.code == "BN302")
    assert told.message == "127.0.1.1 refused the connection, and is the name of this machine"
    assert told.remedy.broker[0].startswith("correct `advertised.listeners` of node 1: it names this machine")
    assert not any("/etc/hosts" in line for line in told.remedy.client), "the line is the system's own"


@pytest.mark.parametrize("names", ["kafka-1.hq.example", "kafka-1.hq.example kafka-1"])
def test_a_line_with_127_0_1_1_and_the_name_of_another_machine_is_to_be_removed(names: str) -> None:
    broker, line = Advertised(1, "kafka-1.hq.example", 9092), f"127.0.1.1 {names}"
    probe = replace(refused("127.0.1.1:9092"), endpoint=broker.endpoint, hosts_entry=line)
    server = replace(reached(1, "10.9.1.60:9092"), brokers=(broker,))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=(BrokerPath(broker, probe),), replicas=(1,)))
    assert [each.code for each in found.causes] == ["BN306"]
    assert remedy(found, "BN306").client[0].startswith(f"correct or remove the line `{line}` of /etc/hosts")
    assert not any("names this machine" in line for each in found.findings for line in each.remedy.broker)


def test_an_address_to_bind_is_no_bootstrap_server() -> None:
    at = probed("0.0.0.0:9092", "0.0.0.0", ("0.0.0.0",), attempts=(Attempt("0.0.0.0", "refused"),))
    (finding,) = (
        each for each in diagnose(replace(DIRECT, bootstraps=(at,), paths=())).findings if each.code == "BN103"
    )
    assert finding.remedy.client == (
        "write the broker's host in `bootstrap_servers`: servers bind 0.0.0.0, nobody dials it",
    )


@pytest.mark.parametrize(("others", "own"), [("10.0.0.{}", True), ("kafka{}", False)])
def test_a_name_of_docker_among_others_is_what_one_node_advertises(others: str, *, own: bool) -> None:
    told = [Advertised(n, others.format(n), 9092) for n in (1, 2)]
    ends = [replace(reached(each.node_id, f"10.0.0.{each.node_id}:9092"), endpoint=each.endpoint) for each in told]
    right = [BrokerPath(each, end) for each, end in zip(told, ends, strict=True)]
    odd = Advertised(3, "broker", 9092)
    lost = BrokerPath(odd, probed(odd.endpoint, odd.host, (), dns_error="Name or service not known"))
    (found,) = (each for each in diagnose(replace(DIRECT, paths=(*right, lost))).findings if each.code == "BN301")
    assert any("node 3 alone advertises such a name" in line for line in found.remedy.broker) == own
    assert any("add `broker` to" in line for line in found.remedy.client) != own
