"""Brokers die, come back and hand leadership over while a producer and a group run: nothing acknowledged is lost."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.matrix.conftest import Clients
from tests.matrix.programs import Loader, Programs, kafka_clients
from tests.matrix.traffic import State, traffic

from brokernat.testbed import LoopbackWorld, RunningCluster

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def hq() -> Iterator[RunningCluster]:
    """A world of its own: nobody else's brokers die."""
    with LoopbackWorld(local=None) as world:
        yield world.hq


@pytest.mark.parametrize(
    ("version", "loader"),
    [
        ("3.9.2", Loader.CLIENT_MAP),
        pytest.param("2.4.1", Loader.JVM_MAP, marks=pytest.mark.soak),
        pytest.param("4.4.0", Loader.REPORTER, marks=pytest.mark.soak),
    ],
)
def test_kill_restart_and_preferred_election(
    version: str,
    loader: Loader,
    hq: RunningCluster,
    programs: Programs,
    client_of: Clients,
    tmp_path: Path,
) -> None:
    client = client_of(hq, ("admin",))
    assert programs.exercise(version, client).of("admin")["ok"]
    preferred = {str(partition): node for partition, node in enumerate(hq.nodes)}
    killed, stopped, _ = hq.nodes

    def leads_nothing(node: int) -> Callable[[State], bool]:
        return lambda state: node not in state["leaders"].values() and -1 not in state["leaders"].values()

    file = programs.write(client.properties, loader, "traffic")
    command = programs.command("Traffic", [programs.classes, *kafka_clients(version)], client.properties, loader)
    with traffic([*command, str(file), client.topic], tmp_path / "traffic.log") as running:
        assert running.progress()["leaders"] == preferred

        hq.kill(killed)
        running.until(leads_nothing(killed), "the killed broker's partitions have another leader")
        running.progress()
        hq.start(killed)
        running.until(lambda state: state["leaders"] == preferred, "leadership is back", command="elect")
        running.progress()

        hq.stop(stopped)
        running.until(leads_nothing(stopped), "the stopped broker's partitions have another leader")
        running.progress()
        hq.start(stopped)
        running.until(lambda state: state["leaders"] == preferred, "leadership is back", command="elect")
        running.progress()

        end = running.ask("stop")
        assert end["failures"] == []
        assert end["lost"] == 0
        assert end["acked"] > 0
        for node in hq.nodes:
            assert running.log().count(f"translated {hq.advertised[node]} -> {hq.reachable[node]} ") == 1
