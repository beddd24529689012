"""Two hundred brokers, simulated in the real protocol: as many findings as there are faults, and each in its place."""

import pytest
from tests.support.simulated_brokers import serving

from brokernat.address import AddressMap
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.finding import Severity
from brokernat.doctor.probes.collecting import collect
from brokernat.doctor.reports.terminal import terminal

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

COUNT = 200
TIMEOUT = 120
BEFORE_4_4 = 3
SLOW = "BN314"  # true of two hundred brokers in one process, when the machine has other work


def test_healthy_ones_are_all_reached_and_proven_and_nothing_is_found() -> None:
    with serving(COUNT) as served:
        evidence = collect(Cluster("hq", tuple(served.reachable.values())[:3]), TIMEOUT)
    diagnosis = diagnose(evidence)
    assert [each for each in diagnosis.findings if each.code != SLOW] == []
    met = [path.probe.identity.node_id for path in evidence.paths if path.probe and path.probe.identity]
    assert met == list(range(1, COUNT + 1))


@pytest.mark.parametrize("newest_api_versions", [5, BEFORE_4_4])
def test_two_exchanged_rules_and_a_missing_one_among_all(newest_api_versions: int) -> None:
    with serving(COUNT, dead="127.0.77", newest_api_versions=newest_api_versions) as served:
        advertised, reachable = served.cluster.advertised, served.reachable
        leads = {**{node: node for node in advertised if node != 99}, 17: 42, 42: 17}
        rules = ",".join(f"{advertised[node]}={reachable[to]}" for node, to in leads.items())
        cluster = Cluster("hq", (reachable[1],), AddressMap.parse(rules))
        diagnosis = diagnose(collect(cluster, TIMEOUT))
    wrong = {(each.code, each.subject) for each in diagnosis.findings if each.severity is not Severity.INFO}
    assert wrong == {
        ("BN601", f"node 17 at {advertised[17]}"),
        ("BN601", f"node 42 at {advertised[42]}"),
        ("BN605", f"node 99 at {advertised[99]}"),
    } | ({("BN611", f"node {node} at {advertised[node]}") for node in (17, 42)} if newest_api_versions == 5 else set())
    lines = {line for each in diagnosis.findings if each.code == "BN601" for line in each.remedy.rules}
    assert lines == {f"{advertised[node]} = {reachable[node]}" for node in (17, 42)}
    assert "root cause 1 of 2: " in terminal(diagnosis)
