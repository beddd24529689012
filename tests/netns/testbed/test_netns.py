"""The netns world keeps what it promises: what the client reaches, what it does not, and what faults do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.faults import Faults

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, NetnsWorld
from brokernat.testbed.kafka import speaks_kafka
from brokernat.testbed.namespaces import run
from brokernat.testbed.place import connects

pytestmark = pytest.mark.netns


@pytest.fixture(params=["nginx_world", "nat_world"])
def world(request: pytest.FixtureRequest) -> NetnsWorld:
    found: NetnsWorld = request.getfixturevalue(request.param)
    return found


def test_the_client_reaches_each_broker_by_the_map_only(world: NetnsWorld) -> None:
    for node in world.hq.nodes:
        assert not connects(world.hq.advertised[node], world.client)
        assert speaks_kafka(world.hq.reachable[node], world.client, tls=False)


def test_headquarters_does_not_reach_the_client_s_network(world: NetnsWorld) -> None:
    assert not connects(world.local.bound[1], world.namespace("hq"))


def test_unknown_names_fail_at_once_in_a_namespace(world: NetnsWorld) -> None:
    said = world.client.run("sh", "-c", "getent hosts kafka-1.hq.internal; echo $?; wc -c < /etc/resolv.conf")
    assert said.split() == ["2", "0"]


def test_the_gateway_goes_and_comes_back(world: NetnsWorld) -> None:
    endpoint = world.hq.reachable[2]
    world.gateway.stop()
    try:
        assert not world.gateway.running()
        assert not connects(endpoint, world.client)
    finally:
        world.gateway.start()
    assert speaks_kafka(endpoint, world.client, tls=False)


def test_faults_hit_one_endpoint_and_heal(world: NetnsWorld) -> None:
    hit, spared = world.hq.reachable[1], world.hq.reachable[2]
    # A refusal is given time to arrive, a silence has to be sat out.
    outcomes: list[tuple[Callable[[Endpoint], AbstractContextManager[None]], type[OSError], float]] = [
        (Faults(world.client).dropped, TimeoutError, 0.5),
        (Faults(world.client).refused, ConnectionRefusedError, 20),
    ]
    for fault, error, patience in outcomes:
        with fault(hit):
            with pytest.raises(error):
                world.client.dial(hit, timeout=patience)
            assert speaks_kafka(spared, world.client, tls=False)
        assert speaks_kafka(hit, world.client, tls=False)


def test_two_headquarters_with_the_same_addresses_are_two_clusters() -> None:
    with NetnsWorld(hq=ClusterOptions(brokers=1), second_hq=ClusterOptions(brokers=1), local=None) as world:
        assert world.hq.advertised == world.hq2.advertised
        assert world.hq.cluster_id != world.hq2.cluster_id
        assert set(world.hq.reachable.values()).isdisjoint(world.hq2.reachable.values())
        name = world.plan.name
    # With what stands around it in a namespace: other worlds may have a longer number.
    assert f"-{name}-" not in run("ip", "netns", "list")
    assert not any(f"-{name}-" in folder.name for folder in Path("/etc/netns").iterdir())
