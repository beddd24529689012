from pathlib import Path
from typing import Any

import pytest

from brokernat.address import AddressMap, Endpoint
from brokernat.clients.confluent import configure
from brokernat.config import Cluster, Secret

HQ = Cluster(
    "hq",
    (Endpoint("172.10.1.40", 9093),),
    AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093"),
    {"sasl.username": "app", "sasl.password": Secret("s3cret"), "acks": "all"},
)


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The package as the wheel has it."""
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    file = tmp_path / "_native" / "libbrokernat-rdkafka.so"
    file.parent.mkdir()
    file.write_bytes(b"")
    return str(file)


def test_everything_that_a_client_needs(plugin: str) -> None:
    assert configure({"group.id": "tags"}, HQ) == {
        "plugin.library.paths": plugin,
        "brokernat.map": "192.168.1.23:9092=172.10.1.40:9093",
        "brokernat.unmapped": "fail",
        "bootstrap.servers": "172.10.1.40:9093",
        "sasl.username": "app",
        "sasl.password": "s3cret",
        "acks": "all",
        "group.id": "tags",
    }


@pytest.mark.parametrize(("given", "words"), [("hq", r'str: load\("brokernat.yaml"\).cluster\("hq"\)'), ({}, "dict: ")])
def test_what_is_no_cluster(given: Any, words: str) -> None:
    with pytest.raises(TypeError, match=f"a brokernat.config.Cluster is needed, not {words}"):
        configure({}, given)


def test_the_programs_own_properties_win_and_it_keeps_its_dict() -> None:
    own = {"acks": "1", "brokernat.unmapped": "pass", "logger": object()}
    found = configure(own, HQ)
    assert own.items() <= found.items()
    assert len(own) == 3


def test_the_programs_plugins_are_kept_behind_ours(plugin: str) -> None:
    conf = {"plugin.library.paths": "monitoring-interceptor"}
    assert configure(conf, HQ)["plugin.library.paths"] == f"{plugin};monitoring-interceptor"
    without_map = Cluster("local", HQ.bootstrap_servers)
    assert configure(conf, without_map)["plugin.library.paths"] == "monitoring-interceptor"
    assert "plugin.library.paths" not in configure({}, without_map)


def test_librdkafkas_other_name_for_the_bootstrap_servers() -> None:
    found = configure({"metadata.broker.list": "kafka-1:9092"}, HQ)
    assert "bootstrap.servers" not in found
    assert found["metadata.broker.list"] == "kafka-1:9092"
