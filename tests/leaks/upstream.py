"""Brokers whose endpoints occur nowhere by chance, and what moves their leaders and coordinators.

Names, addresses and ports of the CLIENT, PEER and CONTROLLER listeners are all the upstream's: none may reach a client.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace

from kio.schema.elect_leaders.v1.request import ElectLeadersRequest
from kio.schema.elect_leaders.v1.response import ElectLeadersResponse
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v1.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v1.response import FindCoordinatorResponse
from kio.static.primitive import i8
from tests.leaks.scan import Needles

from brokernat.address import Endpoint
from brokernat.testbed import LoopbackWorld, RunningCluster
from brokernat.testbed.kafka import milliseconds
from brokernat.testbed.place import wait_until
from brokernat.testbed.topology import BrokerPlan, WorldPlan

PROXY_PORT = 21000
_HOST = "kafka-{node}.upstream-7c1f9d42.invalid"
_ADVERTISED, _BOUND, _PEER, _CONTROLLER = 43711, 45817, 47903, 49033
_GROUP, _PREFERRED = i8(0), i8(0)
_PATIENCE = 300


class Upstream(LoopbackWorld):
    """One cluster, `hq`, without a gateway; its map leads to where the brokers bind."""

    def _plan_for_slot(self, slot: int) -> WorldPlan | None:
        plan = super()._plan_for_slot(slot)
        if plan is None:
            return None
        (cluster,) = plan.clusters
        brokers = tuple(map(_distinct, cluster.brokers))
        return replace(plan, clusters=(replace(cluster, brokers=brokers),), forwards=())

    @property
    def proxy_host(self) -> str:
        """Where the proxy listens; an address that no other world uses."""
        return self._beside(7)

    @property
    def advertised_host(self) -> str:
        """What clients are told: where a recorder listens."""
        return self._beside(8)

    @property
    def needles(self) -> Needles:
        """Every endpoint of every broker."""
        brokers = self.hq.plan.brokers
        ends = [end for each in brokers for end in (each.advertised, each.bound, each.peer, each.controller)]
        return Needles.of(ends, [self.advertised_host, self.proxy_host])

    def _beside(self, net: int) -> str:
        slot = self.hq.bound[1].host.split(".")[1]
        return f"127.{slot}.{net}.40"


def _distinct(broker: BrokerPlan) -> BrokerPlan:
    node = broker.node_id
    bound = Endpoint(broker.bound.host, _BOUND + node)
    return replace(
        broker,
        bound=bound,
        advertised=Endpoint(_HOST.format(node=node), _ADVERTISED + node),
        reachable=bound,
        peer=Endpoint(broker.peer.host, _PEER + node),
        controller=Endpoint(broker.controller.host, _CONTROLLER + node),
    )


def ports(cluster: RunningCluster) -> list[int]:
    """Where the proxy listens: for the bootstrap server and for each node."""
    return [PROXY_PORT, *(PROXY_PORT + 1 + node for node in cluster.nodes)]


def coordinator(cluster: RunningCluster, group: str) -> int:
    """The node that coordinates a group."""
    request = FindCoordinatorRequest(key=group, key_type=_GROUP)
    found: list[int] = []

    def known() -> bool:
        # A broker that has missed its heartbeats answers COORDINATOR_NOT_AVAILABLE for a while.
        with closing(cluster.operations.connect(cluster.nodes[0])) as connection:
            answer = connection.ask(request, FindCoordinatorResponse)
        if answer.error_code is ErrorCode.none:
            found.append(int(answer.node_id))
        return bool(found)

    wait_until(known, f"the coordinator of {group}", timeout=_PATIENCE)
    return found[0]


def give_back_leaders(cluster: RunningCluster, preferred: Mapping[str, Mapping[int, int]]) -> None:
    """Elect the preferred leaders with all brokers running, which is what KIP-951 answers are for. A broker that was
    away gets its partitions back as soon as it has caught up.

    Args:
        cluster: whose brokers all run.
        preferred: the leaders of each topic when it was made.
    """
    request = ElectLeadersRequest(election_type=_PREFERRED, topic_partitions=None, timeout=milliseconds(10_000))

    def elected() -> bool:
        # Asking once more does no harm, whatever became of the last answer.
        with suppress(OSError):
            cluster.operations.request_controller(
                "elect preferred leaders", request, ElectLeadersResponse, lambda answer: [(answer.error_code, None)]
            )
        return all(cluster.leaders(topic) == leaders for topic, leaders in preferred.items())

    wait_until(elected, "the preferred leaders", timeout=_PATIENCE)
