"""A hosts file's line that decides a name: an info while it leads somewhere, an error where the way ends there."""

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, EndpointProbe, Evidence
from brokernat.doctor.finding import CheckFinding, Remedy, Severity

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
LINE = "10.9.0.1 kafka-1.hq.internal"
FIRST = HEALTHY.bootstraps[0]


def told(evidence: Evidence) -> list[CheckFinding]:
    return [each for each in diagnose(evidence).findings if each.code == "BN306"]


def test_of_a_bootstrap_server() -> None:
    evidence = replace(HEALTHY, bootstraps=(replace(FIRST, hosts_entry=LINE), *HEALTHY.bootstraps[1:]))
    (found,) = told(evidence)
    assert (found.severity, found.subject, found.details) == (
        Severity.INFO,
        f"bootstrap {FIRST.endpoint}",
        (f"/etc/hosts: {LINE}",),
    )
    assert found.remedy == Remedy(), "a line that leads to the right place needs no change"


@pytest.mark.parametrize(("answers", "severity"), [(True, Severity.INFO), (False, Severity.ERROR)])
def test_of_a_broker(answers: bool, severity: Severity) -> None:
    there = replace(FIRST, endpoint="kafka-1:9092") if answers else refused("10.9.0.1:9092")
    probe = replace(there, endpoint="kafka-1:9092", hosts_entry=LINE)
    evidence = replace(WITHOUT_MAP, paths=(BrokerPath(Advertised(1, "kafka-1", 9092), probe),))
    (found,) = told(evidence)
    assert (found.severity, found.subject) == (severity, "node 1 at kafka-1:9092")
    assert [line.partition(" = ")[0] for line in found.remedy.rules] == ([] if answers else ["kafka-1:9092"])


def test_a_name_server_that_resolves_the_other_names_is_not_in_doubt() -> None:
    probe = replace(refused("10.9.0.1:9092"), endpoint="kafka-1:9092", hosts_entry=LINE)
    alone = replace(WITHOUT_MAP, paths=(BrokerPath(Advertised(1, "kafka-1", 9092), probe),))
    neighbour = replace(FIRST, endpoint="kafka-2:9092")
    beside = replace(alone, paths=(*alone.paths, BrokerPath(Advertised(2, "kafka-2", 9092), neighbour)))
    assert [bool(told(each)[0].remedy.broker) for each in (alone, beside)] == [True, False]


def test_no_line_is_no_finding() -> None:
    assert told(HEALTHY) == []


def named(node_id: int, place: str, probe: EndpointProbe) -> BrokerPath:
    """A node whose name has its address from a line of the hosts file."""
    host = f"kafka-{node_id}"
    line = f"{place} {host}"
    attempts = tuple(replace(each, address=place) for each in probe.attempts)
    there = replace(probe, endpoint=f"{host}:9092", name=host, addresses=(place,), hosts_entry=line, attempts=attempts)
    return BrokerPath(Advertised(node_id, host, 9092), there)


SILENT = replace(refused("10.8.2.13:9092"), attempts=(Attempt("10.8.2.13", "timeout"),))


@pytest.mark.parametrize(
    ("third", "cause"),
    [
        (named(3, "10.8.2.13", SILENT), "BN308"),
        (named(3, "10.8.2.13", refused("10.8.2.13:9092")), "BN302"),
        (named(3, "172.31.9.9", refused("172.31.9.9:9092")), "BN306"),
        (named(3, "10.8.2.12", reached(2, "10.8.2.12:9092")), "BN306"),
    ],
    ids=["dropped", "refused", "another-network", "another-node"],
)
def test_lines_beside_it_that_lead_to_their_nodes_speak_for_it(third: BrokerPath, cause: str) -> None:
    well = [named(n, f"10.8.2.1{n}", reached(n, f"10.8.2.1{n}:9092")) for n in (1, 2)]
    found = diagnose(replace(WITHOUT_MAP, paths=(*well, third), replicas=(1, 2, 3)))
    assert [each.code for each in found.causes] == [cause]
    if cause != "BN306":
        assert {each.severity for each in told(replace(WITHOUT_MAP, paths=(*well, third)))} == {Severity.INFO}
        advised = [line for each in found.findings if each.code == cause for line in each.remedy.client]
        assert "if node 3 is not at 10.8.2.13, correct the line `10.8.2.13 kafka-3` of /etc/hosts" in advised


def test_a_tunnel_that_was_not_started() -> None:
    well = [named(n, f"127.0.0.1{n}", reached(n, f"127.0.0.1{n}:9092")) for n in (1, 2)]
    third = named(3, "127.0.0.13", refused("127.0.0.13:9092"))
    found = diagnose(replace(WITHOUT_MAP, paths=(*well, third), replicas=(1, 2, 3)))
    (advised,) = (each.remedy.client for each in found.findings if each.code == "BN302")
    assert advised[0] == "nothing listens at kafka-3:9092 of this machine: start the tunnel or the forward there"


def test_two_names_that_lead_to_each_others_node_are_exchanged() -> None:
    crossed = {1: 1, 2: 3, 3: 2}
    paths = tuple(named(n, f"127.0.0.1{n}", reached(at, f"127.0.0.1{n}:9092")) for n, at in crossed.items())
    found = diagnose(replace(WITHOUT_MAP, paths=paths, replicas=(1, 2, 3)))
    advised = {line for each in found.findings if each.severity is Severity.ERROR for line in each.remedy.client}
    assert advised == {"exchange the addresses of `kafka-2` and `kafka-3` in /etc/hosts, or the forwards behind them"}


@pytest.mark.parametrize(("place", "nodes"), [("10.8.1.60", 3), ("127.0.0.1", 2)], ids=["docker", "port-forward"])
def test_one_address_for_all_names_is_no_wrong_line(place: str, nodes: int) -> None:
    """A host that publishes one port, and one `kubectl port-forward`: no line of the hosts file could be right."""
    paths = tuple(named(n, place, reached(1, f"{place}:9092")) for n in range(1, nodes + 1))
    found = diagnose(replace(WITHOUT_MAP, paths=paths, replicas=tuple(range(1, nodes + 1))))
    assert [each.code for each in found.causes] == ["BN601"]
    (advised,) = {line for each in found.findings if each.code == "BN601" for line in each.remedy.broker}
    assert f"all resolve to {place}, and port 9092 there leads to node 1" in advised


def test_another_server_at_the_address_of_a_name() -> None:
    """A name of an old domain that leads to a parked web server."""
    parked = replace(refused("10.8.1.72:9092"), endpoint="kafka-3.old.example:9092", name="kafka-3.old.example")
    parked = replace(parked, attempts=(Attempt("10.8.1.72", "connected"),), speaks="http")
    well = [BrokerPath(Advertised(n, f"10.8.2.1{n}", 9092), reached(n, f"10.8.2.1{n}:9092")) for n in (1, 2)]
    paths = (*well, BrokerPath(Advertised(3, "kafka-3.old.example", 9092), parked))
    (found,) = (each for each in diagnose(replace(WITHOUT_MAP, paths=paths)).findings if each.code == "BN104")
    assert found.remedy.broker[0] == (
        "`kafka-3.old.example` resolves here to 10.8.1.72: if node 3 is not at that address, correct the DNS record"
    )
