"""Brokers die, come back and hand leadership over while producers and groups run: nothing acknowledged is lost."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.integration.python_clients.conftest import Orders
from tests.integration.python_clients.libraries import LIBRARIES
from tests.matrix.traffic import State, Traffic

from brokernat.testbed import LoopbackWorld, RunningCluster

pytestmark = pytest.mark.integration


def test_kill_restart_and_orderly_stop(plain: LoopbackWorld, order: Orders, tmp_path: Path) -> None:
    """All libraries at once, each with a topic and a group of its own: what costs time here is the brokers."""
    hq = plain.hq
    killed, stopped, _ = hq.nodes
    with ExitStack() as programs:
        programs.callback(_bring_back, hq)
        running: list[Traffic] = []
        for library in LIBRARIES:
            # aiokafka gives a record up after its request time-out, 40 s.
            conf = {"request_timeout_ms": 120_000} if library.driver == "aiokafka" else {}
            wanted = order(hq, conf=conf)
            hq.create_topic(wanted["topic"], partitions=3, replicas=3)
            log = tmp_path / f"{library.name}.log"
            running.append(programs.enter_context(library.traffic(wanted, log)))

        for one in running:
            one.until(lambda state: len(state["leaders"]) == 3, "first metadata")
            one.progress()
        hq.kill(killed)
        _all_leave(running, killed)
        hq.start(killed)
        hq.stop(stopped)
        _all_leave(running, stopped)
        hq.start(stopped)
        for library, one in zip(LIBRARIES, running, strict=True):
            one.progress()
            end = one.ask("stop")
            assert end["failures"] == [], library.name
            assert end["lost"] == 0, library.name
            assert end["acked"] > 0
            for node in hq.nodes:
                assert f"translated {hq.advertised[node]} -> {hq.reachable[node]} " in one.log()


def _bring_back(hq: RunningCluster) -> None:
    """Other tests use these brokers too."""
    for node in hq.nodes:
        if not hq.running(node):
            hq.start(node)


def _all_leave(running: list[Traffic], node: int) -> None:
    """Every client goes on with other leaders."""

    def leads_nothing(state: State) -> bool:
        return node not in state["leaders"].values()

    for one in running:
        one.until(leads_nothing, f"node {node} leads nothing any more")
        one.progress()
