"""The lines of each broker."""

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.errors import ConfigError
from brokernat.render.broker_files import broker_properties, listeners
from brokernat.render.listeners_plan import Quorum, Wanted, plan_listeners

WANTED = Wanted({"INTERNAL": "kafka-{id}:19092", "EXTERNAL": "broker-{id}.example.com:9092"}, {}, {"EXTERNAL": "SSL"})


def test_file(snapshot: SnapshotAssertion) -> None:
    assert listeners(plan_listeners(WANTED, range(1, 4)), "brokernat render listeners ...") == snapshot


def test_one_node() -> None:
    text = listeners(plan_listeners(WANTED, range(2)), "x", 1, ("more",))
    assert "# node 1\n" in text
    assert "# node 0\n" not in text
    assert "# more\n" in text


@pytest.mark.parametrize(
    ("quorum", "names"),
    [
        (Quorum.SEPARATE, {"node.id", "process.roles", "controller.listener.names"}),
        (Quorum.ZOOKEEPER, {"broker.id"}),
    ],
)
def test_controllers_elsewhere(quorum: Quorum, names: set[str]) -> None:
    plan = plan_listeners(Wanted({"A": "h:1"}, {}, {}, quorum=quorum), [5])
    settings = broker_properties(plan, plan.brokers[0])
    assert settings["listeners"] == "A://:1"
    assert names | {
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
    } == set(settings)
    assert ("CONTROLLER" in settings["listener.security.protocol.map"]) is (quorum is Quorum.SEPARATE)


def test_controllers_bind_where_all_listeners_do() -> None:
    bound = {"A": "127.0.0.{id}:1", "B": "127.0.0.{id}:2"}
    plan = plan_listeners(Wanted({"A": "h{id}:1", "B": "g{id}:2"}, bound, {}), [1])
    assert "CONTROLLER://127.0.0.1:9093" in broker_properties(plan, plan.brokers[0])["listeners"]


def test_controllers_that_would_be_at_one_endpoint_are_refused() -> None:
    outside = {"OUT": "gateway:{9092+id}"}
    with pytest.raises(ConfigError, match="the controllers of all nodes would be at gateway:9095") as caught:
        listeners(plan_listeners(Wanted(outside, {}, {}), range(3)), "x")
    assert "--controller 'HOST-{id}:PORT'" in str(caught.value)
    for accepted in (
        plan_listeners(Wanted(outside, {}, {}, controller="kafka-{id}:9999"), range(3)),
        plan_listeners(Wanted(outside, {}, {}, quorum=Quorum.SEPARATE), range(3)),
        plan_listeners(Wanted(outside, {}, {}), range(1)),
    ):
        assert "gateway:9092" in listeners(accepted, "x")
