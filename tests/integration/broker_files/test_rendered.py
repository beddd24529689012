"""Real brokers from rendered lines: each place is told what it can dial, and the doctor finds nothing from there.

`three_places` is what `render listeners --listener ...` makes: for the brokers' own network, behind a gateway, and by
names that nobody here knows. `behind_nat` is an address map turned round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pytest
from tests.integration.broker_files.rendered import RenderedCluster, bound, bound_on

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.doctor.broker_files import read_broker_files
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Severity
from brokernat.doctor.probes.collecting import collect
from brokernat.render import Forward, forwards
from brokernat.render.listeners_plan import Wanted, forwards_to_make, plan_behind_nat, plan_listeners
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.gateways import ForwarderGateway
from brokernat.testbed.place import Here

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

TIMEOUT = 60


@dataclass(frozen=True)
class Scene:
    three_places: RenderedCluster
    behind_nat: RenderedCluster


@pytest.fixture(scope="module")
def running() -> Iterator[Scene]:
    with LoopbackWorld(hq=None, local=None) as world:
        launcher = world._launcher
        assert launcher is not None
        net = f"127.{world.plan.name.rpartition('-')[2]}"
        wanted = Wanted(
            {
                "INTERNAL": f"{net}.2.{{id}}:19092",
                "EXTERNAL": f"{net}.3.40:{{9092+id}}",
                "CLOUD": "broker-{id}.hq.invalid:29092",
            },
            {name: f"{net}.2.{{id}}:{port}" for name, port in {"EXTERNAL": "9092", "CLOUD": "29092"}.items()},
            {},
        )
        three = plan_listeners(wanted, range(1, 4))
        three = bound_on(three, f"{net}.2.{{id}}")
        address_map = AddressMap.parse(f"{net}.4.1:9092={net}.5.40:9093,{net}.4.2:9092={net}.5.40:9094")
        nat = plan_behind_nat(forwards(address_map, ()))
        scene = Scene(
            RenderedCluster(three, "4.3.1", world.state / "three", launcher),
            RenderedCluster(bound_on(nat, f"{net}.4.{{id}}"), "4.4.0", world.state / "nat", launcher),
        )
        outside = scene.three_places.listener("EXTERNAL").values()
        gateway = [Forward(each.advertised, bound(each)) for each in outside]
        gateway += [Forward(*map(Endpoint.parse, line.split(" -> "))) for line in forwards_to_make(nat)]
        ForwarderGateway(gateway, launcher=launcher, place=Here(), log=world.state / "forwards.log").start()
        for cluster in (scene.three_places, scene.behind_nat):
            cluster.begin()
        for cluster in (scene.three_places, scene.behind_nat):
            cluster.wait()
        yield scene


def seen(servers: Iterable[Endpoint], rules: str = "") -> Evidence:
    return collect(Cluster("hq", tuple(servers), AddressMap.parse(rules) if rules else None), TIMEOUT)


def problems(evidence: Evidence) -> list[CheckFinding]:
    return [each for each in diagnose(evidence).findings if each.severity is not Severity.INFO]


def of_the_files(evidence: Evidence) -> list[CheckFinding]:
    """That all of this runs on one machine is no news."""
    return [each for each in problems(evidence) if each.code != "BN825"]


def told(evidence: Evidence) -> list[set[str]]:
    return [{f"{each.node_id} {each.endpoint}" for each in probe.brokers or ()} for probe in evidence.bootstraps]


def planned(cluster: RenderedCluster, listener: str) -> set[str]:
    return {f"{node} {each.advertised}" for node, each in cluster.listener(listener).items()}


@pytest.mark.parametrize("listener", ["INTERNAL", "EXTERNAL"])
def test_clients_of_each_place_are_told_what_they_can_dial(running: Scene, listener: str) -> None:
    cluster = running.three_places
    evidence = seen(each.advertised for each in cluster.listener(listener).values())
    assert told(evidence) == [planned(cluster, listener)] * 3
    assert problems(evidence) == []


def test_names_that_nobody_here_knows(running: Scene) -> None:
    cluster = running.three_places
    evidence = seen(bound(each) for each in cluster.listener("CLOUD").values())
    assert told(evidence) == [planned(cluster, "CLOUD")] * 3
    found = diagnose(evidence)
    assert found.cause is not None
    assert found.cause.code == "BN301"
    rules = ",".join(f"{each.advertised}={bound(each)}" for each in cluster.listener("CLOUD").values())
    assert problems(seen((bound(each) for each in cluster.listener("CLOUD").values()), rules)) == []


def test_bootstrap_servers_of_two_listeners(running: Scene) -> None:
    cluster = running.three_places
    mixed = [cluster.listener("INTERNAL")[1].advertised, cluster.listener("EXTERNAL")[2].advertised]
    assert "BN502" in {each.code for each in problems(seen(mixed))}


@pytest.mark.parametrize("listener", ["INTERNAL", "EXTERNAL"])
def test_a_map_turned_round_is_needed_no_more(running: Scene, listener: str) -> None:
    cluster = running.behind_nat
    evidence = seen(each.advertised for each in cluster.listener(listener).values())
    assert told(evidence) == [planned(cluster, listener)] * 2
    assert problems(evidence) == []


def test_files_and_running_brokers(running: Scene) -> None:
    """Nothing to find until a file is edited, and then that broker alone."""
    cluster = running.three_places
    files = [cluster.file(node) for node in cluster.nodes]
    evidence = seen(each.advertised for each in cluster.listener("EXTERNAL").values())
    assert of_the_files(replace(evidence, files=read_broker_files(files))) == []
    other = cluster.folder / "edited.properties"
    other.write_text(cluster.file(2).read_text().replace("EXTERNAL://127.", "EXTERNAL://10."))
    files[1] = other
    (found,) = of_the_files(replace(evidence, files=read_broker_files(files)))
    assert (found.code, found.subject) == ("BN828", f"node 2 ({other})")
    assert any(line.startswith("advertised.listeners: the file has ") for line in found.details)
    assert any("which the file does not advertise" in line for line in found.details)
