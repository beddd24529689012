"""Evidence that invites a wrong conclusion: a cause that is none, or health where a client fails."""

from __future__ import annotations

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import (
    Advertised,
    Attempt,
    BrokerPath,
    Coordinator,
    Evidence,
    Identity,
    ListenerSeen,
    Login,
    SizeTest,
    TlsHandshake,
    Transfer,
)
from brokernat.doctor.finding import Severity
from brokernat.doctor.host_kinds import address, is_loopback

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
FIRST, *OTHERS = HEALTHY.bootstraps
OPEN = probed("gw:9094", "gw", ("10.9.0.1",), attempts=(Attempt("10.9.0.1", "connected"),))
OF_4_4 = (("ApiVersions", 5),)


def codes(found: Diagnosis) -> set[str]:
    return {finding.code for finding in found.findings}


def cause(found: Diagnosis) -> str | None:
    return found.cause.code if found.cause else None


def advertising(host: str, *, answers: bool, cluster_id: str = "c") -> Evidence:
    """Without a map, one broker that is bootstrapped at an address of another network."""
    broker = Advertised(1, host, 9092)
    at = replace(reached(1, broker.endpoint), brokers=(broker,), cluster_id=cluster_id)
    known = address(host) is not None or is_loopback(host)
    away = refused(broker.endpoint) if known else probed(broker.endpoint, host, dns_error="unknown")
    path = BrokerPath(broker, at if answers else away)
    return replace(WITHOUT_MAP, bootstraps=(replace(FIRST, brokers=(broker,)),), paths=(path,), replicas=(1,))


def answering(own: dict[int, Identity], knows: tuple[tuple[str, int], ...] = (), **changes: object) -> Evidence:
    """The healthy cluster where nodes call themselves so."""
    paths = tuple(
        replace(
            path,
            probe=path.probe
            and replace(path.probe, identity=own.get(path.broker.node_id, path.probe.identity), knows=knows, **changes),
        )
        for path in HEALTHY.paths
    )
    return replace(HEALTHY, paths=paths)


# A cause that is none


@pytest.mark.parametrize("host", ["10.7.0.1", "kafka-0.kafka.svc", "c0ffee", "100.64.0.9", "fe80::1%eth0"])
def test_an_address_of_another_network_that_is_reached_is_no_news(host: str) -> None:
    assert codes(diagnose(advertising(host, answers=True))) <= {"BN206"}
    assert codes(diagnose(advertising(host, answers=False))) & {"BN202", "BN203"}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "::ffff:127.0.0.1", "LOCALHOST.", "kafka.localhost"])
def test_a_loopback_address_stops_nobody_on_the_brokers_own_host(host: str) -> None:
    assert is_loopback(host)
    here = diagnose(advertising(host, answers=True))
    assert {(each.code, each.severity) for each in here.findings if each.code != "BN206"} == {
        ("BN201", Severity.WARNING)
    }
    assert cause(here) is None
    assert cause(diagnose(advertising(host, answers=False))) == "BN201"
    another = diagnose(advertising(host, answers=True, cluster_id="of this machine"))
    assert cause(another) == "BN201"
    assert {each.code for each in another.findings if each.severity is Severity.ERROR} == {"BN201", "BN501"}


def test_a_wildcard_that_a_rule_makes_something_of() -> None:
    broker = Advertised(1, "0.0.0.0", 9092)
    probe = replace(reached(1, GATEWAY[1]), brokers=(broker,))
    evidence = replace(
        HEALTHY,
        rules=("0.0.0.0:9092=172.10.1.40:9093",),
        bootstraps=(probe,),
        paths=(BrokerPath(broker, probe, "0.0.0.0:9092=172.10.1.40:9093"),),
        replicas=(1,),
    )
    assert codes(diagnose(evidence)) == set()


def test_a_server_that_knows_a_node_less_is_of_the_same_listener() -> None:
    """As while a broker restarts, when not all have heard of it, or where one is cut off from the controllers."""
    lagging = replace(HEALTHY, bootstraps=(replace(FIRST, brokers=BROKERS[:2]), *OTHERS))
    found = diagnose(lagging)
    assert (cause(found), codes(found)) == (None, {"BN510"})
    assert "another listener" not in str(found.findings)
    none_yet = diagnose(replace(HEALTHY, bootstraps=(replace(FIRST, brokers=()), *OTHERS)))
    assert (cause(none_yet), codes(none_yet)) == (None, {"BN510"})
    behind_a_rule = replace(HEALTHY.paths[0], probe=replace(FIRST, endpoint="gw:1", brokers=BROKERS[:2]))
    assert codes(diagnose(replace(HEALTHY, paths=(behind_a_rule, *HEALTHY.paths[1:])))) == set()


def test_a_node_that_only_another_server_names_is_told_without_any_right() -> None:
    evidence = replace(HEALTHY, bootstraps=(replace(FIRST, brokers=BROKERS[:2]), *OTHERS), replicas=None)
    (found,) = diagnose(evidence).findings
    assert (found.code, found.subject) == ("BN510", "node 3")


def test_a_node_that_only_an_old_list_names_is_down() -> None:
    """One broker is cut off from the controllers and still lists a broker that was stopped."""
    away = BrokerPath(BROKERS[2], refused("172.10.1.40:9095"), HEALTHY.paths[2].rule)
    servers = (replace(FIRST, brokers=BROKERS[:2]), OTHERS[0])
    evidence = replace(HEALTHY, bootstraps=servers, paths=(*HEALTHY.paths[:2], away), in_sync=(1, 2))
    found = diagnose(evidence)
    assert not any(each.code == "BN503" for each in found.findings)
    (down,) = (each for each in found.findings if each.code == "BN507")
    assert down.subject == "node 3"
    assert all("BN507" in each.because for each in found.findings if each.code == "BN305")


def test_listeners_are_mixed_where_one_node_is_told_twice() -> None:
    elsewhere = tuple(replace(each, port=9192) for each in BROKERS[:2])
    found = diagnose(replace(HEALTHY, bootstraps=(replace(FIRST, brokers=elsewhere), *OTHERS)))
    assert cause(found) == "BN502"


def test_a_balancer_is_no_wrong_forward() -> None:
    found = diagnose(answering({1: Identity(2, "apiversions", others=(1, 3))}, OF_4_4))
    assert cause(found) == "BN602"
    assert "BN601" not in codes(found)


def test_a_dead_server_beside_one_that_refuses_the_login_is_not_the_cause() -> None:
    refusing = replace(OPEN, speaks="kafka", sasl=Login("rejected"))
    login = replace(WITHOUT_MAP, bootstraps=(refused("gw:9093"), refusing), paths=(), replicas=None)
    assert (cause(diagnose(login)), codes(diagnose(login))) == ("BN404", {"BN103", "BN404"})
    untrusted = replace(
        login, bootstraps=(replace(OPEN, endpoint="x:1", dns_error="no"), replace(OPEN, tls=TlsHandshake("untrusted")))
    )
    assert cause(diagnose(untrusted)) == "BN403"


def test_a_broker_that_hangs_is_not_one_that_wants_a_login() -> None:
    hangs = replace(OPEN, speaks="kafka", slow=True)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(hangs,), paths=(), replicas=None))
    assert (cause(found), codes(found)) == ("BN309", {"BN309"})


def test_a_rule_for_a_bootstrap_server_is_used() -> None:
    """As BN402 advises it: by the name that the certificate holds."""
    rule = "kafka.example:9093=172.10.1.40:9093"
    entered = replace(FIRST, name="kafka.example", rule=rule)
    evidence = replace(HEALTHY, rules=(*(HEALTHY.rules or ()), rule), bootstraps=(entered, *OTHERS))
    assert codes(diagnose(evidence)) <= {"BN607"}
    alone = replace(WITHOUT_MAP, rules=(rule,), bootstraps=(entered, *OTHERS))
    reachable = tuple(BrokerPath(each, reached(each.node_id, each.endpoint)) for each in BROKERS)
    assert "BN609" not in codes(diagnose(replace(alone, paths=reachable)))


def test_a_rule_for_a_broker_that_is_down_is_not_to_be_removed() -> None:
    gone = replace(HEALTHY, paths=HEALTHY.paths[:2], bootstraps=(replace(FIRST, brokers=BROKERS[:2]),))
    (unused,) = (each for each in diagnose(gone).findings if each.code == "BN606")
    assert unused.remedy.client[0].endswith(", unless it is for node 3, which is missing")


def test_a_coordinator_that_there_was_no_time_for_is_no_finding() -> None:
    cut = replace(OPEN, complete=False)
    evidence = replace(
        HEALTHY,
        paths=(replace(HEALTHY.paths[0], probe=cut), *HEALTHY.paths[1:]),
        coordinators=(Coordinator("group", "app", BROKERS[0]),),
    )
    found = diagnose(evidence)
    assert (cause(found), codes(found)) == (None, {"BN004"})


# Health, or something milder, where a client fails


def test_rules_that_are_off_by_one_are_no_proxy() -> None:
    """The last leads to a broker that the listener lacks and a partition names."""
    shifted = {n: Identity(n + 1, "apiversions") for n in (1, 2, 3)}
    found = diagnose(replace(answering(shifted), replicas=(1, 2, 3, 4)))
    assert {each.subject for each in found.findings if each.code == "BN601"} == {
        f"node {each.node_id} at {each.endpoint}" for each in BROKERS
    }
    assert "BN612" not in codes(found)


def test_rules_that_lead_into_another_cluster_are_no_proxy() -> None:
    elsewhere = {n: Identity(n + 100, "describeconfigs") for n in (1, 2, 3)}
    brokers = tuple(replace(each, node_id=each.node_id + 100) for each in BROKERS)
    found = diagnose(answering(elsewhere, cluster_id="other", brokers=brokers))
    assert cause(found) == "BN501"
    assert "BN601" in codes(found)
    assert "BN612" not in codes(found)


@pytest.mark.parametrize(("knows", "expected"), [(OF_4_4, {"BN611"}), ((("ApiVersions", 4),), set())])
def test_a_renumbering_proxy_without_the_right_to_ask_still_turns_new_clients_away(
    knows: tuple[tuple[str, int], ...], expected: set[str]
) -> None:
    """Every id was asked for and refused; then leadership fits what is advertised."""
    found = diagnose(answering({n: Identity(n, "listoffsets") for n in (1, 2, 3)}, knows))
    assert codes(found) == expected


def test_a_controller_that_nobody_lists_is_a_broker_without_the_listener() -> None:
    """All that a user without any right can see of it, on whichever answer names that node."""
    blind = replace(WITHOUT_MAP, replicas=(), bootstraps=(replace(FIRST, controller_id=7), *OTHERS))
    assert ("BN506", "node 7", Severity.WARNING) in {
        (each.code, each.subject, each.severity) for each in diagnose(blind).findings
    }
    listed = ListenerSeen(1, "OTHER", "b1:1", replace(FIRST, brokers=(*BROKERS, Advertised(7, "b7", 9092))))
    assert "BN506" not in codes(diagnose(replace(blind, listeners=(listed,))))
    other_cluster = replace(FIRST, endpoint="gw:7", cluster_id="other", controller_id=9)
    assert "node 9" not in {
        each.subject for each in diagnose(replace(blind, bootstraps=(FIRST, other_cluster))).findings
    }


@pytest.mark.parametrize("error", ["UNKNOWN_SERVER_ERROR", "INVALID_REQUEST"])
def test_any_error_about_a_coordinator_is_told(error: str) -> None:
    found = diagnose(replace(HEALTHY, coordinators=(Coordinator("group", "app", error=error),)))
    assert codes(found) == {"BN703"}
    assert error in found.findings[0].details[0]


def test_a_coordinator_that_nobody_told_of_in_time_is_a_doubt() -> None:
    found = diagnose(replace(HEALTHY, coordinators=(Coordinator("group", "app", error="not-answered"),)))
    assert {(each.code, each.severity) for each in found.findings} == {("BN703", Severity.WARNING)}


def test_brokers_that_were_not_probed_are_no_all_clear() -> None:
    found = diagnose(replace(HEALTHY, unprobed=4))
    (named,) = found.findings
    assert (named.code, named.severity) == ("BN004", Severity.WARNING)
    assert named.message == "4 advertised brokers were not probed"


@pytest.mark.parametrize(("home", "other"), [("c", ""), (None, "d"), ("", "d")])
def test_a_cluster_that_has_no_id_is_no_other_cluster(home: str | None, other: str) -> None:
    """Brokers before 0.10.1 have none, and whoever stands in between may leave it out."""
    bootstraps = tuple(replace(each, cluster_id=home) for each in HEALTHY.bootstraps)
    first, *rest = HEALTHY.paths
    paths = (replace(first, probe=first.probe and replace(first.probe, cluster_id=other)), *rest)
    strangers = paths if home else paths[:1]
    assert "BN501" not in codes(diagnose(replace(HEALTHY, bootstraps=bootstraps, paths=strangers)))


def test_a_server_of_the_meant_cluster_that_is_a_node_too_counts_as_one_of_it() -> None:
    """Both are one endpoint in one state, so it is reported once, as the node."""
    fails = SizeTest((Transfer("request", 9000, "silent"),))
    first = replace(FIRST, size=fails)
    at_node = replace(FIRST, size=fails, cluster_id=None)
    paths = (replace(HEALTHY.paths[0], probe=at_node),)
    stranger = replace(OTHERS[0], cluster_id="other")
    found = diagnose(replace(HEALTHY, bootstraps=(first, stranger), paths=paths))
    (named,) = [each for each in found.findings if each.code == "BN501"]
    choice = f"{first.endpoint} ({FIRST.cluster_id}); or {stranger.endpoint} (other)"
    assert named.remedy.client == (f"keep the bootstrap servers, and the rules, of one cluster only: {choice}",)


def test_no_rule_is_offered_where_servers_are_of_two_clusters_with_the_same_addresses() -> None:
    """The third server is the other headquarters', which advertises the same three addresses."""
    evidence = replace(WITHOUT_MAP, bootstraps=(*WITHOUT_MAP.bootstraps[:2], replace(OTHERS[1], cluster_id="other")))
    found = diagnose(evidence)
    assert cause(found) == "BN501"
    assert not any("172.10.1.40" in line for each in found.findings for line in each.remedy.rules)


def test_two_nodes_on_one_endpoint_are_found_on_whichever_server_tells_them() -> None:
    doubled = (BROKERS[0], replace(BROKERS[1], host=BROKERS[0].host), BROKERS[2])
    found = diagnose(replace(HEALTHY, bootstraps=(FIRST, replace(OTHERS[0], brokers=doubled))))
    assert "BN205" in codes(found)


@pytest.mark.parametrize(("sharing", "fix"), [(2, "node 2: 192.168.1.23:9092 is node 1"), (3, "its own port or name")])
def test_an_endpoint_is_called_a_copy_where_another_broker_has_its_own(sharing: int, fix: str) -> None:
    """Node 1 answers at the endpoint that the others advertise, too."""
    brokers = tuple(replace(each, host=BROKERS[0].host) for each in BROKERS[:sharing]) + BROKERS[sharing:]
    paths = tuple(BrokerPath(each, reached(3 if each is BROKERS[2] else 1, each.endpoint)) for each in brokers)
    servers = tuple(replace(each, brokers=brokers) for each in WITHOUT_MAP.bootstraps)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=servers, paths=paths))
    (shared,) = [each for each in found.findings if each.code == "BN205"]
    assert shared.remedy.broker[0].endswith(fix)


@pytest.mark.parametrize("first", ["c", "other"])
def test_a_name_with_addresses_of_two_clusters_is_the_cause_and_not_the_map(first: str) -> None:
    """Whichever answers first; the map is for one of them."""
    second = "c" if first == "other" else "other"
    known = replace(HEALTHY.bootstraps[0], addresses=("10.9.0.1", "10.9.0.2"), cluster_id=first)
    assert known.identity is not None
    server = replace(known, identity=replace(known.identity, strangers=(("10.9.0.2", second),)))
    paths = (
        HEALTHY.paths if first == "c" else tuple(BrokerPath(replace(each, host="10.8.0.1"), None) for each in BROKERS)
    )
    found = diagnose(replace(HEALTHY, bootstraps=(server,), paths=paths, unmapped="fail"))
    assert cause(found) == "BN501"
    (named,) = [each for each in found.findings if each.code == "BN501"]
    assert f"10.9.0.1: {first}, 10.9.0.2: {second}" in named.message
    assert not any(each.remedy.rules for each in found.findings)


def test_nobody_says_that_a_group_was_not_asked_for_when_no_server_let_the_client_in() -> None:
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(refused("gw:1"),), paths=(), replicas=None))
    reasons = {each.code: each.reason for each in found.skipped}
    assert reasons["BN003"] == reasons["BN701"] == reasons["BN703"]
    assert "no bootstrap server" in reasons["BN003"]
