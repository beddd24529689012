"""Where several nodes share a gateway, a network or the host of their rules, the advice is about that place."""

from __future__ import annotations

import dataclasses

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.checks.places import dialled_nodes
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, Evidence
from brokernat.doctor.finding import Remedy


def cluster(ends: list[tuple[str, int]], lost: set[int], address: str = "") -> Evidence:
    """Nodes 1 and so on that advertise these endpoints, all at one address or each at its own; some refuse."""
    brokers = tuple(Advertised(number, *end) for number, end in enumerate(ends, 1))
    paths = []
    for each in brokers:
        place = address or each.host
        attempts = (Attempt(place, "refused" if each.node_id in lost else "connected"),)
        probe = probed(each.endpoint, each.host, (place,), attempts=attempts)
        if each.node_id not in lost:
            met = reached(each.node_id, each.endpoint)
            probe = replace(met, name=each.host, addresses=(place,), brokers=brokers, attempts=attempts)
        paths.append(BrokerPath(each, probe))
    servers = tuple(path.probe for path in paths if path.probe is not None and path.broker.node_id not in lost)[:2]
    nodes = tuple(each.node_id for each in brokers)
    return replace(WITHOUT_MAP, bootstraps=servers, paths=tuple(paths), replicas=nodes, in_sync=nodes)


def remedy(found: Diagnosis, code: str) -> Remedy:
    return Remedy().and_also(each.remedy for each in found.findings if each.code == code)


def test_a_missing_forward_of_a_gateway() -> None:
    found = diagnose(cluster([("gw.example", 40001), ("gw.example", 40002), ("gw.example", 40003)], {3}, "10.9.8.140"))
    told = remedy(found, "BN302")
    assert told.broker == (
        "gw.example leads to node 1, node 2 at other ports, and node 3 runs (it is an in-sync replica): add or correct "
        "the forward of port 40003 to node 3 there, or its listener if it is there",
    )
    assert told.rules == ()
    assert "unmapped" not in str(told)
    assert "DNS" not in str(told)


def test_a_tunnel_that_was_not_started_is_this_machines_matter() -> None:
    found = diagnose(cluster([("localhost", 19091), ("localhost", 19092), ("localhost", 19093)], {3}, "127.0.0.1"))
    told = remedy(found, "BN302")
    start = "start the tunnel, the forward or the broker at localhost:19093 of this machine"
    assert told.client == (f"{start}: node 1, node 2 answer at other ports",)
    assert (told.broker, told.rules) == ((), ())


@pytest.mark.parametrize(
    ("third", "words"),
    [
        (("10.44.2.14", 9092), "node 3, node 4 are all the nodes of 10.44.2.0/24 and run (they are in-sync replicas)"),
        # One of its network is reached.
        (("10.44.1.14", 9092), "check that a listener is bound to 10.44.2.15:9092"),
    ],
)
def test_a_network_that_is_lost_as_a_whole(third: tuple[str, int], words: str) -> None:
    ends = [*((f"10.44.1.1{n}", 9092) for n in (1, 2)), third, ("10.44.2.15", 9092), ("10.44.1.16", 9092)]
    told = remedy(diagnose(cluster(ends, {3, 4})), "BN302")
    assert words in str(told.broker)
    # Rules that are to be filled in are the last resort here.
    assert "unmapped" not in str(told.client)


def test_a_gateway_that_all_rules_name_and_that_is_gone() -> None:
    evidence = mapped({1: 1, 2: 2, 3: 3})
    gone = tuple(replace(each, probe=refused("10.9.8.99:9093")) for each in evidence.paths)
    found = diagnose(replace(evidence, paths=gone))
    first = remedy(found, "BN305").client[0]
    assert first.startswith("all rules lead to 10.9.8.99, where nothing answers, and the bootstrap server 172.10.1.40:")
    assert first.endswith("answers: change the host in the rules")


def test_a_rule_beside_rules_that_work_is_more_likely_wrong_than_a_route() -> None:
    evidence = mapped({1: 1, 2: 2, 3: 3})
    away = probed("172.10.1.99:9093", attempts=(Attempt("172.10.1.99", "unreachable"),))
    lost = replace(evidence.paths[2], probe=away)
    client = remedy(diagnose(replace(evidence, paths=(*evidence.paths[:2], lost))), "BN305").client
    assert "the rule" in client[0]
    assert "nothing answers at 172.10.1.99, and other addresses of its network do" in client[1]


def test_a_place_is_hashed_without_its_evidence() -> None:
    """Otherwise a set of places would take time with the square of the brokers."""
    place = dialled_nodes(cluster([("gw.example", 40001), ("gw.example", 40002)], set(), "10.9.8.140"))[0]
    other = replace(place.evidence, cluster="another")
    assert hash(dataclasses.replace(place, evidence=other)) == hash(place)


def test_of_many_nodes_only_some_are_named() -> None:
    ends = [("gw.example", 40000 + number) for number in range(1, 7)]
    told = remedy(diagnose(cluster(ends, {6}, "10.9.8.140")), "BN302")
    assert "gw.example leads to node 1, node 2, node 3 and 2 more at other ports" in told.broker[0]
