"""What bootstrap servers are and tell: each record gives its own findings and no others."""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import BROKERS, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    BrokerPath,
    ClusterMetadata,
    Evidence,
    Leaderless,
)
from brokernat.doctor.finding import Confidence, Severity

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
CANONICAL = "resolve_canonical_bootstrap_servers_only"
# Behind a virtual address: the nodes are dialled as they are advertised.
VIRTUAL = replace(
    HEALTHY,
    rules=None,
    bootstraps=(reached(1, "192.168.1.99:9092"),),
    paths=tuple(BrokerPath(each, reached(each.node_id, each.endpoint)) for each in BROKERS),
)


def codes(found: Diagnosis) -> set[str]:
    return {finding.code for finding in found.findings}


def cause(found: Diagnosis) -> str | None:
    return found.cause.code if found.cause else None


def each_look(evidence: Evidence, **changes: object) -> Evidence:
    probes = tuple(replace(probe, **changes) for probe in evidence.bootstraps)
    return replace(evidence, bootstraps=probes)


def told(*endpoints: tuple[str, int]) -> Evidence:
    """A cluster of other endpoints, behind a map that names them all."""
    brokers = tuple(Advertised(n, host, port) for n, (host, port) in enumerate(endpoints, 1))
    paths = tuple(
        BrokerPath(
            each, replace(reached(each.node_id, f"gw:{each.node_id}"), brokers=brokers), f"{each.endpoint}=gw:{n}"
        )
        for n, each in enumerate(brokers, 1)
    )
    rules = tuple(path.rule or "" for path in paths)
    return each_look(replace(HEALTHY, rules=rules, paths=paths, replicas=()), brokers=brokers)


@pytest.mark.parametrize("speaks", ["kafka", "controller"])
def test_a_controllers_listener(speaks: str) -> None:
    probe = probed("gw:9093", "gw", ("10.0.0.1",), attempts=(Attempt("10.0.0.1", "connected"),), speaks=speaks)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=(), replicas=None))
    assert cause(found) == ("BN105" if speaks == "controller" else "BN404")
    assert codes(found) == {cause(found)}


@pytest.mark.parametrize(
    ("mechanisms", "cause_of_it", "confidence"),
    [(None, "BN404", Confidence.LIKELY), (("PLAIN",), "BN404", Confidence.PROVEN), ((), "BN310", Confidence.PROVEN)],
)
def test_a_listener_that_closes_at_metadata_is_asked_for_its_mechanisms(
    mechanisms: tuple[str, ...] | None, cause_of_it: str, confidence: Confidence
) -> None:
    closed = ClusterMetadata("closed", mechanisms=mechanisms)
    connected = (Attempt("10.0.0.1", "connected"),)
    probe = probed("gw:9093", "gw", ("10.0.0.1",), attempts=connected, speaks="kafka")
    probe = dataclasses.replace(probe, metadata=closed)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(probe,), paths=(), replicas=None))
    assert cause(found) == cause_of_it
    (told,) = (each for each in found.findings if each.code == cause_of_it)
    assert told.confidence is confidence
    assert ("`sasl.mechanism` (PLAIN)" in str(told.remedy)) == bool(mechanisms)


@pytest.mark.parametrize(
    ("mode", "canonical", "expected"),
    [
        (CANONICAL, ("gw.example.",), {"BN106"}),
        (CANONICAL, ("172.10.1.40",), set()),
        ("use_all_dns_ips", (), set()),
    ],
)
def test_canonical_names(mode: str, canonical: tuple[str, ...], expected: set[str]) -> None:
    assert codes(diagnose(each_look(replace(HEALTHY, dns_lookup=mode), canonical=canonical))) == expected


def test_a_virtual_address_is_worth_a_word_and_no_more() -> None:
    found = diagnose(VIRTUAL)
    assert codes(found) == {"BN206"}
    assert found.cause is None
    by_address = each_look(VIRTUAL, endpoint="kafka-1:9092", addresses=("192.168.1.23",))
    assert codes(diagnose(by_address)) == set()
    broken = replace(VIRTUAL, paths=(replace(VIRTUAL.paths[0], probe=refused("192.168.1.23:9092")), *VIRTUAL.paths[1:]))
    assert codes(diagnose(broken)) == {"BN302"}


@pytest.mark.parametrize(
    ("endpoints", "odd"),
    [
        ([("b1.example", 9094), ("b2.example", 9094), ("10.0.0.3", 9092)], {"node 3 at 10.0.0.3:9092"}),
        ([("8.8.8.1", 9094), ("8.8.8.2", 9094), ("10.0.0.3", 9092)], {"node 3 at 10.0.0.3:9092"}),
        ([("10.1.0.1", 9094), ("10.1.0.2", 9094), ("10.2.0.3", 9094)], set()),
        ([("gw", 9093), ("gw", 9094), ("gw", 9095)], set()),
        ([("b1.example", 9094), ("10.0.0.3", 9092)], set()),
    ],
)
def test_one_broker_unlike_its_peers(endpoints: list[tuple[str, int]], odd: set[str]) -> None:
    reachable = told(*endpoints)
    assert "BN505" not in codes(diagnose(reachable))
    *peers, last = reachable.paths
    found = diagnose(replace(reachable, paths=(*peers, replace(last, probe=refused("gw:9")))))
    assert {each.subject for each in found.findings if each.code == "BN505"} == odd


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"controller_id": 2}, set()), ({"controller_id": 9}, {"BN506"}), ({"controller_id": -1}, {"BN506"})],
)
def test_the_controller(changes: dict[str, int], expected: set[str]) -> None:
    found = diagnose(each_look(HEALTHY, **changes))
    assert codes(found) == expected
    assert {each.severity for each in found.findings} <= {
        Severity.WARNING if changes["controller_id"] > 0 else Severity.INFO
    }


def test_a_controller_that_partitions_name_is_a_missing_broker_and_nothing_else() -> None:
    evidence = replace(each_look(HEALTHY, controller_id=4), replicas=(1, 2, 3, 4))
    assert codes(diagnose(evidence)) == {"BN503"}


def test_partitions_without_a_leader_follow_from_a_missing_listener() -> None:
    lacking = (Leaderless("LISTENER_NOT_FOUND", 2, "orders-1", (4,)), Leaderless("LEADER_NOT_AVAILABLE", 1, "a-0"))
    alone = diagnose(replace(HEALTHY, leaderless=lacking))
    assert codes(alone) == {"BN504"}
    assert cause(alone) == "BN504"
    messages = [each.message for each in alone.findings]
    assert messages[0] == "2 partitions have no leader on this listener (LISTENER_NOT_FOUND)"
    assert messages[1].startswith("1 partition has")
    both = diagnose(replace(HEALTHY, leaderless=lacking[:1], replicas=(1, 2, 3, 4)))
    assert codes(both) == {"BN503", "BN504"}
    assert cause(both) == "BN503"


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("HTTP", Severity.ERROR),
        ("SSH", Severity.ERROR),
        ("", Severity.WARNING),
        ("SOCKS", Severity.WARNING),
        ("ZooKeeper", Severity.WARNING),
    ],
)
def test_another_server_among_bootstrap_servers_that_answer_ends_java_clients(
    protocol: str, expected: Severity
) -> None:
    """They read `HTTP` and `SSH-` as a size. A broker's unreadable answer may be anything."""
    other = probed("gw:8080", "gw", ("10.0.0.1",), attempts=(Attempt("10.0.0.1", "connected"),), speaks="kafka")
    versions = ApiVersions("other-protocol", protocol=protocol) if protocol else ApiVersions("unreadable")
    other = dataclasses.replace(other, versions=versions)
    found = diagnose(replace(HEALTHY, bootstraps=(*HEALTHY.bootstraps, other)))
    (odd,) = (each for each in found.findings if each.code == "BN104")
    assert odd.severity is expected
    assert any("OutOfMemoryError" in each for each in odd.details) == (expected is Severity.ERROR)
    proxy = "let it pass TCP through (HAProxy `mode tcp`, nginx `stream`)"
    assert any(proxy in line for line in odd.remedy.broker) == (protocol == "HTTP")
    assert any("brokernat tunnel --ssh" in line for line in odd.remedy.client) == (protocol == "SOCKS")


def test_a_broker_that_lists_nobody_is_not_registered() -> None:
    empty = each_look(replace(WITHOUT_MAP, paths=(), replicas=(), bootstraps=WITHOUT_MAP.bootstraps[:1]), brokers=())
    found = diagnose(empty)
    assert cause(found) == "BN503"
    assert "it lists no broker, not even itself" in found.causes[0].sentence
    (first, _) = next(each.remedy.broker for each in found.findings if each.code == "BN503")
    assert "could not register" in first


def test_a_forward_on_this_machine_leads_to_one_node() -> None:
    local = replace(reached(1, "127.0.0.1:9092"), endpoint="localhost:9092")
    paths = tuple(BrokerPath(each, replace(refused(each.endpoint), attempts=())) for each in BROKERS)
    found = diagnose(replace(WITHOUT_MAP, bootstraps=(local,), paths=paths))
    advice = {line for each in found.findings for line in each.remedy.client}
    assert (
        "localhost:9092 on this machine leads to node 1 only: each node needs a forward of its own (`brokernat tunnel "
        "--ssh user@HOST -b HOST:PORT -- COMMAND` opens them)"
    ) in advice


def test_packets_without_an_answer_may_be_dropped_by_a_firewall() -> None:
    paths = tuple(
        BrokerPath(each, replace(refused(each.endpoint), attempts=(Attempt(each.host, "timeout"),))) for each in BROKERS
    )
    advised = "if this machine is meant to reach the advertised endpoints: have the firewalls on the path allow it"
    for evidence, expected in ((replace(WITHOUT_MAP, paths=paths), True), (WITHOUT_MAP, False)):
        lines = {line for each in diagnose(evidence).findings for line in each.remedy.client}
        assert (advised in lines) == expected
