"""Clients of three families work through the proxy while brokers die, the map is read again and the proxy restarts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from tests.integration.proxy.conftest import Proxies, ProxyCommand
from tests.integration.python_clients.libraries import KAFKA_PYTHON_3
from tests.matrix.conftest import IMPATIENT
from tests.matrix.programs import Loader, Programs, kafka_clients
from tests.matrix.traffic import State, Traffic, traffic

from brokernat.testbed import LoopbackWorld, RunningCluster

pytestmark = pytest.mark.integration


@pytest.fixture
def java(tmp_path: Path) -> Programs:
    return Programs.compile(tmp_path)


def test_nothing_is_lost_and_no_broker_is_seen(
    world: LoopbackWorld, proxy_of: Proxies, java: Programs, tmp_path: Path
) -> None:
    hq, proxy = world.hq, proxy_of(world.hq)
    killed, stopped, _ = hq.nodes
    with ExitStack() as programs:
        programs.callback(_bring_back, hq)
        clients = [
            programs.enter_context(_java_traffic(java, "4.4.0", hq, proxy, tmp_path / "java.log")),
            programs.enter_context(_python_traffic(hq, proxy, tmp_path)),
        ]
        for client in clients:
            client.until(lambda state: len(state["leaders"]) == 3, "first metadata")
            client.progress()

        hq.kill(killed)
        for client in clients:
            client.until(_leads_nothing(killed), "the killed broker's partitions have another leader")
            client.progress()
        hq.start(killed)
        proxy.reload()
        hq.stop(stopped)
        for client in clients:
            client.until(_leads_nothing(stopped), "the stopped broker's partitions have another leader")
            client.progress()
        hq.start(stopped)
        assert proxy.stop() == 143
        proxy.start()
        for client in clients:
            client.progress()
            end = client.ask("stop")
            assert end["failures"] == []
            assert end["lost"] == 0
            assert end["acked"] > 0
            for node in hq.nodes:
                assert str(hq.advertised[node]) not in client.log()
                assert str(hq.reachable[node]) not in client.log()
        assert "a new map is in use" in proxy.log()
        assert "ERROR" not in proxy.log()


def _leads_nothing(node: int) -> Callable[[State], bool]:
    return lambda state: node not in state["leaders"].values() and -1 not in state["leaders"].values()


def _java_traffic(
    java: Programs, version: str, hq: RunningCluster, proxy: ProxyCommand, log: Path
) -> AbstractContextManager[Traffic]:
    hq.create_topic("java", partitions=3, replicas=3)
    properties = {"bootstrap.servers": str(proxy.listen), **IMPATIENT}
    file = java.write(properties, Loader.NONE, "traffic")
    command = java.command("Traffic", [java.classes, *kafka_clients(version)], properties, Loader.NONE)
    return traffic([*command, str(file), "java"], log)


def _python_traffic(hq: RunningCluster, proxy: ProxyCommand, folder: Path) -> AbstractContextManager[Traffic]:
    hq.create_topic("python", partitions=3, replicas=3)
    file = folder / "through.yaml"
    file.write_text(f"clusters: {{through: {{bootstrap_servers: '{proxy.listen}'}}}}\n")
    order = {"file": str(file), "cluster": "through", "topic": "python", "partitions": 3, "replicas": 3}
    return KAFKA_PYTHON_3.traffic(order, folder / "python.log")


def _bring_back(hq: RunningCluster) -> None:
    for node in hq.nodes:
        if not hq.running(node):
            hq.start(node)
