"""The proof that comes before every test: what it refuses, and that a world steps aside where it can."""

from __future__ import annotations

import socket

import pytest

from brokernat.errors import BrokernatError
from brokernat.testbed import ClusterOptions, LoopbackWorld
from brokernat.testbed.loopback import loopback_plan
from brokernat.testbed.place import Here
from brokernat.testbed.world import prove

pytestmark = pytest.mark.integration

_ONE = ClusterOptions(brokers=1)
# Below the slots that worlds take.
_SLOT = 9


def test_an_advertised_endpoint_that_answers_is_refused_by_name() -> None:
    with (
        socket.create_server((f"127.{_SLOT}.1.23", 9092)),
        pytest.raises(BrokernatError, match=r"127\.9\.1\.23:9092 should be unreachable, but it answers"),
    ):
        prove(loopback_plan(_SLOT, hq=_ONE), Here())


def test_a_world_takes_another_port_where_a_server_of_the_machine_answers_on_9092() -> None:
    world = LoopbackWorld(hq=_ONE, local=None)
    # As one on 0.0.0.0 would, which cannot be opened here while other worlds use the port.
    with socket.create_server((f"127.{_SLOT}.1.23", 9092)):
        plan = world._plan_for_slot(_SLOT)
    assert plan is not None
    assert [str(endpoint) for endpoint in plan.dead()] == [f"127.{_SLOT}.1.23:29092"]
