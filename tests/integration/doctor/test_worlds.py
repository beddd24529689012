"""The doctor against real brokers: each world gives exactly its own findings, and none once it is healed.

The report of each is a snapshot, made of evidence that is the same on every machine (normal.py).
"""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.integration.doctor.cases import CASES, Case, client
from tests.integration.doctor.looking import looked_at, problems
from tests.integration.doctor.normal import normal
from tests.integration.doctor.scene import Scene
from tests.integration.doctor.telling import assert_told_whole

from brokernat.address import AddressMap
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.reports.terminal import terminal
from brokernat.testbed import LoopbackWorld, RunningCluster

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

_BEHIND = "\n\nskipped\n"
"""From here on a report counts checks, and each new check would change them all."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exactly_its_own_findings_and_none_when_healed(
    case: Case, doctor_scene: Scene, snapshot: SnapshotAssertion
) -> None:
    broken = looked_at(case.broken(doctor_scene))
    assert problems(broken) == case.codes
    found = diagnose(normal(broken, doctor_scene))
    assert found.cause is not None
    assert found.cause.code == case.cause
    assert terminal(found).partition(_BEHIND)[0] == snapshot
    assert_told_whole(found)
    assert problems(looked_at(case.healed(doctor_scene))) == set()


@pytest.mark.parametrize("name", ["hq", "hq2"])
def test_the_printed_rules_heal_a_nat(name: str, doctor_scene: Scene) -> None:
    assert_rules_heal(doctor_scene.world.clusters[name])


def test_three_brokers_of_the_usual_version(loopback_world: LoopbackWorld) -> None:
    assert_rules_heal(loopback_world.hq)
    assert problems(looked_at(loopback_world.local.cluster)) == set()


def assert_rules_heal(cluster: RunningCluster) -> None:
    servers = cluster.cluster.bootstrap_servers
    found = diagnose(looked_at(Cluster("hq", servers)))
    assert {each.code for each in found.findings} == {"BN302"}
    lines = [line for each in found.findings for line in each.remedy.rules]
    assert sorted(lines) == sorted(f"{cluster.advertised[node]} = {cluster.reachable[node]}" for node in cluster.nodes)
    assert problems(looked_at(Cluster("hq", servers, AddressMap.parse("\n".join(lines))))) == set()


@pytest.mark.parametrize(
    ("listener", "told", "works"),
    [("BOB", "kafka0", False), ("FRED", "localhost", True), ("ALICE", "alice.kafka.invalid", False)],
)
def test_what_a_client_is_told_depends_on_the_port_that_it_came_in_on(
    listener: str, told: str, works: bool, doctor_scene: Scene
) -> None:
    """From whichever listener one looks, all three are seen, and whether they work from here."""
    for entered in ("BOB", "FRED", "ALICE"):
        seen = looked_at(client(doctor_scene.at(entered))).listeners
        (mine,) = (each for each in seen if each.name == listener)
        assert mine.endpoint == f"{told}:{doctor_scene.at(listener).port}"
        assert mine.probe is not None
        assert mine.probe.answers == works
        assert bool(mine.entered) == (entered == listener)
