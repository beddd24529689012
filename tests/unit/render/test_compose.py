"""The compose file: what is published, who is called what, and the words that compose knows."""

from typing import Any

import pytest
from ruamel.yaml import YAML
from syrupy.assertion import SnapshotAssertion

from brokernat.errors import ConfigError
from brokernat.render.broker_files import compose
from brokernat.render.listeners_plan import Quorum, Wanted, plan_listeners

BOB_FRED_ALICE = {
    "BOB": "kafka{id}:29092",
    "FRED": "localhost:{9092+id}",
    "ALICE": "docker-host.example:{29094+id}",
}


def text(advertised: dict[str, str], nodes: int = 2, **more: Any) -> str:
    wanted = Wanted(advertised, **{"bound": {}, "protocols": {}, **more})
    return compose(plan_listeners(wanted, range(nodes)), "brokernat render compose ...")


def services(advertised: dict[str, str], nodes: int = 2, **more: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(text(advertised, nodes, **more))
    # What the schema of the compose specification lets stand there.
    assert set(loaded) == {"services", "volumes"}
    for service in loaded["services"].values():
        assert set(service) <= {"image", "hostname", "ports", "volumes", "environment"}
        assert all(isinstance(value, str) for value in service["environment"].values())
        assert all(isinstance(port, str) for port in service.get("ports", ()))
    return dict(loaded["services"])


def test_file(snapshot: SnapshotAssertion) -> None:
    assert text(BOB_FRED_ALICE, 1) == snapshot


def test_what_is_for_containers_stays_inside() -> None:
    found = services(BOB_FRED_ALICE)
    assert list(found) == ["kafka0", "kafka1"]
    assert found["kafka1"]["ports"] == ["9093:9093", "29095:29095"]
    assert "ports" not in services({"BOB": "kafka{id}:29092"})["kafka0"]


def test_another_port_inside() -> None:
    found = services({"A": "kafka-{id}:9092", "B": "localhost:{19092+id}"}, bound={"B": "29092"})
    assert found["kafka-1"]["ports"] == ["19093:29092"]


def test_services_without_a_plain_name() -> None:
    found = services({"OUT": "gateway.example:{9092+id}"})
    assert list(found) == ["kafka-0", "kafka-1"]
    assert found["kafka-0"]["environment"]["KAFKA_CONTROLLER_QUORUM_VOTERS"] == "0@kafka-0:9094,1@kafka-1:9094"


def test_one_cluster_has_one_id() -> None:
    ids = {service["environment"]["CLUSTER_ID"] for service in services(BOB_FRED_ALICE, 3).values()}
    assert len(ids) == 1
    assert len(ids.pop()) == 22


@pytest.mark.parametrize(
    ("advertised", "more", "said"),
    [
        (
            {"BOB": "kafka{id}:1", "OUT": "host{id}.example:9092"},
            {},
            "port 9092 of this machine would be published twice",
        ),
        (
            {"BOB": "kafka{id}:1", "X": "a{id}.example:{2+id}", "Y": "b{id}.example:{2+id}"},
            {"bound": {"Y": "9"}},
            "published twice, by kafka0",
        ),
        ({"BOB": "kafka{id}:1"}, {"quorum": Quorum.SEPARATE}, "has its controllers in the brokers"),
    ],
)
def test_refused(advertised: dict[str, str], more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        text(advertised, **more)
