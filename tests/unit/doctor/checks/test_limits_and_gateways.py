"""Faults of one place that show at several endpoints: limits of connections, gateways, fenced and hanging brokers."""

from __future__ import annotations

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.checks.test_neighbours import HEALTHY, TIMED_OUT, advice, at_third, causes, third
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WELL, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.checks.proven_rules import proven_lines
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    BrokerPath,
    EndpointProbe,
    Identity,
    Leaderless,
    NameLookup,
    TlsHandshake,
    Tries,
)
from brokernat.doctor.finding import Severity

LISTED = BROKERS[:2]
HELD = (Leaderless("LEADER_NOT_AVAILABLE", 1, "a-0", (3,)),)


@pytest.mark.parametrize("hung", [True, False])
def test_a_broker_that_hangs_is_found_behind_the_silent_bootstrap_server(*, hung: bool) -> None:
    silent = at_third(versions=ApiVersions("silent")) if hung else refused(BROKERS[2].endpoint)
    servers = (silent, *(replace(each, brokers=LISTED) for each in HEALTHY.bootstraps))
    paths = tuple(replace(each, probe=replace(each.probe, brokers=LISTED)) for each in WELL[:2])
    found = diagnose(replace(HEALTHY, bootstraps=servers, paths=paths, in_sync=(1, 2), leaderless=HELD))
    assert causes(found) == ["BN507"]
    said = "it probably hangs and is fenced: 192.168.1.25:9092 accepts connections and does not answer"
    assert (said in found.causes[0].sentence) == hung
    assert ("check what node 3 waits for" in advice(found)) == hung
    if hung:
        assert {each.because for each in found.findings if each.code == "BN309"} == {("BN507",)}


@pytest.mark.parametrize("identified", [True, False])
def test_a_node_that_only_itself_still_lists_is_fenced(*, identified: bool) -> None:
    own = reached(3, BROKERS[2].endpoint)
    servers = (
        replace(reached(1, BROKERS[0].endpoint), brokers=LISTED),
        own if identified else replace(own, identity=None),
    )
    found = diagnose(replace(HEALTHY, bootstraps=servers, in_sync=(1, 2), leaderless=HELD))
    (told,) = (each for each in found.findings if each.code == "BN510")
    assert ("the controllers have fenced it" in told.message) == identified
    place = "node 3" if identified else "the broker at 192.168.1.23:9092"
    assert f"check the log of {place} and its connection to the controllers" in str(told.remedy.broker)
    assert causes(found) == (["BN510"] if identified else ["BN504"])


def unresolved(broker: Advertised) -> BrokerPath:
    return BrokerPath(broker, EndpointProbe(broker.endpoint, broker.host, NameLookup("no-answer", detail="try again")))


@pytest.mark.parametrize("others", [True, False])
def test_a_name_server_that_fails_for_some_names_does_answer(*, others: bool) -> None:
    named = tuple(Advertised(n, f"kafka-{n}.hq.example", 9092) for n in (1, 2))
    well = replace(reached(1, named[0].endpoint), brokers=named, addresses=("192.168.1.23",))
    paths = (BrokerPath(named[0], well) if others else unresolved(named[0]), unresolved(named[1]))
    server = replace(reached(1, "10.9.0.1:9092"), brokers=named)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(server,), paths=paths, replicas=(1, 2)))
    assert causes(found) == ["BN307"]
    assert ("the name server has an answer for `kafka-1.hq.example`" in found.causes[0].sentence) == others
    assert ("`dig kafka-2.hq.example`" in advice(found)) == others


@pytest.mark.parametrize(("gateway", "cause"), [("192.168.7.70:9092", "BN302"), ("192.168.1.70:9092", "BN308")])
def test_a_gateway_in_a_large_network_is_no_neighbour_of_brokers_inside(gateway: str, cause: str) -> None:
    def lost(broker: Advertised) -> BrokerPath:
        return BrokerPath(broker, replace(refused(broker.endpoint), attempts=(Attempt(broker.host, "timeout"),)))

    found = diagnose(replace(WITHOUT_MAP, bootstraps=(reached(1, gateway),), paths=tuple(map(lost, BROKERS))))
    assert causes(found) == [cause]


@pytest.mark.parametrize("proven", [True, False])
def test_the_rule_that_hides_the_right_one_is_to_be_removed(*, proven: bool) -> None:
    wrong = f"{BROKERS[1].endpoint}={GATEWAY[1]}"
    right = f"{BROKERS[1].endpoint}={GATEWAY[2] if proven else '172.10.1.40:9999'}"
    evidence = mapped({1: 1, 2: 1, 3: 3})
    servers = evidence.bootstraps if proven else evidence.bootstraps[:1]
    found = diagnose(replace(evidence, bootstraps=servers, rules=(*(evidence.rules or ()), right)))
    assert causes(found) == ["BN607"]
    assert f"put `{right}` before `{wrong}`, or remove that one" in advice(found)
    assert ("was not tested" in advice(found)) == (not proven)


@pytest.mark.parametrize(("one_address", "port"), [(True, 9092), (False, 9092), (True, 9093)])
def test_a_gateway_that_closes_the_handshake_does_not_know_the_name(*, one_address: bool, port: int) -> None:
    hosts = tuple(replace(each, host=f"kafka-{each.node_id}.hq") for each in BROKERS)
    names = (*hosts[:2], replace(hosts[2], port=port))
    place = {each.node_id: "172.10.1.40" if one_address else f"172.10.1.{each.node_id}" for each in names}
    ends = [
        replace(
            reached(each.node_id, each.endpoint),
            brokers=names,
            tls=TlsHandshake("ok"),
            addresses=(place[each.node_id],),
        )
        for each in names[:2]
    ]
    host = names[2].host
    lost = probed(
        names[2].endpoint, host, (place[3],), attempts=(Attempt(place[3], "connected"),), tls=TlsHandshake("reset")
    )
    paths = tuple(BrokerPath(*each) for each in zip(names, (*ends, lost), strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=tuple(ends), paths=paths, security_protocol="SSL"))
    assert causes(found) == ["BN310"]
    by_name = "the broker by the TLS name (SNI) and knows node 1, node 2: add or correct `kafka-3.hq` there, for node 3"
    assert (by_name in advice(found)) == (one_address and port == BROKERS[0].port)


def flaky(probe: EndpointProbe, fault: str) -> EndpointProbe:
    return replace(probe, tries=(Tries("connect", 4, 2, 0.1, 0.1, (fault,)),))


@pytest.mark.parametrize(("fault", "cause"), [("timeout", "BN313"), ("refused", "BN308")])
def test_an_endpoint_without_an_answer_is_lost_like_those_with_some(fault: str, cause: str) -> None:
    evidence = third(TIMED_OUT)
    some = replace(evidence.paths[1], probe=flaky(reached(2, BROKERS[1].endpoint), fault))
    found = diagnose(
        replace(evidence, bootstraps=evidence.bootstraps[:1], paths=(evidence.paths[0], some, evidence.paths[2]))
    )
    assert causes(found) == [cause]
    limited = "find what limits the connections of this machine, or their rate"
    assert (limited in advice(found)) == (cause == "BN313")


def test_a_limit_of_one_connection_is_named_and_stops_nobody() -> None:
    paths = (*WELL[:2], replace(WELL[2], probe=flaky(reached(3, BROKERS[2].endpoint), "refused")))
    evidence = replace(HEALTHY, paths=paths, one_at_a_time=(BROKERS[2].endpoint,))
    (told,) = (each for each in diagnose(evidence).findings if each.code == "BN313")
    assert (told.severity, told.message) == (
        Severity.WARNING,
        "it accepts only one connection at a time from this machine",
    )
    assert "a consumer in a group has two connections to its coordinator" in told.remedy.broker[0]


def test_a_balancer_that_leads_to_two_clusters_in_turn_stops_clients() -> None:
    """A broker of the other cluster may have the same node id."""
    server = reached(1, "172.10.1.40:9092")
    met = Identity(1, "describeconfigs", met=(("172.10.1.40", 1),), strangers=(("172.10.1.40", "other"),))
    found = diagnose(replace(HEALTHY, bootstraps=(replace(server, identity=met),)))
    assert causes(found) == ["BN501"]
    assert "172.10.1.40:9092 leads to several clusters in turn (c, other)" in found.causes[0].sentence
    assert "remove the brokers of the other cluster from the balancer at 172.10.1.40:9092" in advice(found)
    assert not any(each.remedy.rules for each in found.findings)


def test_an_endpoint_that_leads_to_two_clusters_in_turn_proves_no_rule() -> None:
    """The same node of the other cluster could get the records."""
    met = Identity(1, "describeconfigs", met=(("172.10.1.40", 1),))
    server = replace(reached(1, "172.10.1.40:9092"), identity=met)
    alone = replace(WITHOUT_MAP, bootstraps=(server,))
    assert proven_lines(alone) == (f"{BROKERS[0].endpoint} = 172.10.1.40:9092",)
    both = replace(server, identity=replace(met, strangers=(("172.10.1.40", "other"),)))
    assert proven_lines(replace(WITHOUT_MAP, bootstraps=(both,))) == ()


@pytest.mark.parametrize("verified", [True, False])
def test_a_gateway_that_sends_an_unknown_name_to_some_node_does_not_know_the_name(*, verified: bool) -> None:
    names = tuple(replace(each, host=f"kafka-{each.node_id}.hq") for each in BROKERS)
    ends = [
        replace(
            reached(1 if each.node_id == 3 else each.node_id, each.endpoint),
            brokers=names,
            tls=TlsHandshake("ok"),
            addresses=("172.10.1.40",),
        )
        for each in names
    ]
    if verified:
        other = TlsHandshake("name-mismatch", names=("kafka-1.hq",))
        host = names[2].host
        ends[2] = probed(
            names[2].endpoint, host, ("172.10.1.40",), attempts=(Attempt("172.10.1.40", "connected"),), tls=other
        )
    paths = tuple(BrokerPath(*each) for each in zip(names, ends, strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=tuple(ends[:2]), paths=paths, security_protocol="SSL"))
    assert causes(found) == ["BN402" if verified else "BN601"]
    assert "knows node 1, node 2: add or correct `kafka-3.hq` there, for node 3" in advice(found)
    assert "DNS record" not in advice(found)


def test_an_address_of_another_network_than_the_others_is_reported() -> None:
    foreign = Advertised(3, "172.20.0.12", 9092)
    away = replace(refused(foreign.endpoint), attempts=(Attempt(foreign.host, "timeout"),))
    found = diagnose(replace(HEALTHY, paths=(*WELL[:2], BrokerPath(foreign, away))))
    assert causes(found) == ["BN302"]
    assert "`advertised.listeners` of node 3 has 172.20.0.12, an address of another network" in advice(found)


def test_two_nodes_that_answer_at_one_address_by_name_need_no_rule() -> None:
    """A rule keeps the name, by which the gateway chooses."""
    names = tuple(replace(each, host=f"kafka-{each.node_id}.hq", port=443) for each in BROKERS)
    answering = {1: 2, 2: 1}
    ends = [
        replace(
            reached(answering.get(each.node_id, each.node_id), each.endpoint),
            brokers=names,
            tls=TlsHandshake("ok"),
            addresses=("172.10.1.40" if each.node_id in answering else "172.10.1.41",),
        )
        for each in names
    ]
    paths = tuple(BrokerPath(*each) for each in zip(names, ends, strict=True))
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(ends[2],), paths=paths, security_protocol="SSL"))
    assert causes(found) == ["BN601"]
    for node_id in answering:
        line = (
            f"chooses the broker by the TLS name (SNI): add or correct `kafka-{node_id}.hq` there, for node {node_id}"
        )
        assert line in advice(found)
    assert not any(each.remedy.rules for each in found.findings)
