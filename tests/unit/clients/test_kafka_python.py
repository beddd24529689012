"""Keyword arguments that kafka-python takes; the release here is 3, the integration tests run both."""

from typing import Any

import kafka
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from brokernat.address import AddressMap, Endpoint
from brokernat.clients import kafka_python, kafka_python_network
from brokernat.clients.kafka_python import configure
from brokernat.clients.translation import As
from brokernat.config import Cluster, Secret
from brokernat.errors import ConfigError, MissingToolError

MAP = AddressMap.parse("192.168.1.23:9092 = 172.10.1.40:9093")


def cluster(client: dict[str, str | Secret] | None = None, address_map: AddressMap | None = MAP) -> Cluster:
    return Cluster("hq", (Endpoint.parse("172.10.1.40:9093"),), address_map, client or {})


LOGIN: dict[str, str | Secret] = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "app",
    "sasl.password": Secret("hidden"),
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": "/trust.pem",
    "ssl.endpoint.identification.algorithm": "",
}


def test_the_section_in_the_library_s_names() -> None:
    found = configure({"client_id": "mine"}, cluster({**LOGIN, "client.id": "theirs", "linger.ms": "5"}))
    network = found.pop("kafka_client")
    assert (network.address_map, network.owner) == (MAP, "cluster hq")
    assert found == {
        "bootstrap_servers": ["172.10.1.40:9093"],
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "app",
        "sasl_plain_password": "hidden",
        "ssl_cafile": "/trust.pem",
        "ssl_check_hostname": False,
        "client_id": "mine",
        "linger_ms": 5,
    }


def test_the_library_s_debug_line_does_not_hold_the_password() -> None:
    found = configure({}, cluster({**LOGIN, "ssl.key.password": "hidden"}))
    assert "hidden" not in str(found)
    assert "\0".join(["", "app", found["sasl_plain_password"]]).encode() == b"\0app\0hidden"


@pytest.mark.parametrize("client", [KafkaProducer, KafkaConsumer, KafkaAdminClient])
def test_one_class_gets_only_what_it_takes(client: type) -> None:
    both: dict[str, str | Secret] = {"acks": "all", "group.id": "g", "request.timeout.ms": "1000"}
    found = configure({}, cluster(both), client)
    assert found.keys() <= client.DEFAULT_CONFIG.keys()  # type: ignore[attr-defined]
    assert found["request_timeout_ms"] == 1000
    assert ("acks" in found) == (client is KafkaProducer)
    assert ("group_id" in found) == (client is KafkaConsumer)


def test_every_name_of_the_table_is_one_of_the_library() -> None:
    known = {name for client in (KafkaProducer, KafkaConsumer, KafkaAdminClient) for name in client.DEFAULT_CONFIG}
    named = {
        name
        for entry in kafka_python.ENTRIES.values()
        if (name := entry.name if isinstance(entry, As) else entry.instead)
    }
    assert named <= known


def test_without_a_map_the_library_s_own_network_client_stays() -> None:
    assert "kafka_client" not in configure({}, cluster(address_map=None))


def test_a_rule_that_a_client_cannot_decide_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs the node id"):
        configure({}, cluster(address_map=AddressMap.parse("*.hq:9092 = gateway:{9092+id}")))


def test_a_release_that_dials_in_another_way_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka.net.manager import KafkaConnectionManager

    monkeypatch.delattr(KafkaConnectionManager, "_build_transport")
    with pytest.raises(MissingToolError, match=r"kafka-python 3\.0\.12 opens connections in an unknown way"):
        configure({}, cluster())["kafka_client"](bootstrap_servers=["172.10.1.40:9093"])


def test_classes_that_are_wrapped_bring_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    for client in (KafkaProducer, KafkaConsumer, KafkaAdminClient):
        monkeypatch.setattr(client, "DEFAULT_CONFIG", dict(client.DEFAULT_CONFIG))
    kafka_python_network.wrap_classes(kafka, MAP)
    for client in (KafkaProducer, KafkaConsumer, KafkaAdminClient):
        assert client.DEFAULT_CONFIG["kafka_client"] == kafka_python_network.MappedClient(MAP, "brokernat exec")


def test_a_proxy_that_resolves_names_past_the_map_is_refused() -> None:
    """Of kafka-python 2."""
    kafka_python_network._refuse_proxy({"socks5_proxy": None})
    with pytest.raises(ConfigError, match=r"`socks5_proxy` of kafka-python .* resolves names without the address map"):
        kafka_python_network._refuse_proxy({"socks5_proxy": "socks5://proxy:1080"})


def test_what_is_no_cluster() -> None:
    name: Any = "hq"
    with pytest.raises(TypeError, match=r'not str: load\("brokernat.yaml"\).cluster\("hq"\)'):
        configure({}, name)
