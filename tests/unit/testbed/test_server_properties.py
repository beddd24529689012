"""What the brokers are configured with."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, Listener, Mechanism, Protocol
from brokernat.testbed.loopback_plan import loopback_plan
from brokernat.testbed.server_properties import jaas_quoted, minimum_java, properties_text, server_properties
from brokernat.testbed.versions import BrokerVersion


def properties(options: ClusterOptions, zookeeper: Endpoint | None = None) -> dict[str, str]:
    (cluster,) = loopback_plan(17, hq=options).clusters
    text = server_properties(
        cluster, cluster.brokers[0], data=Path("/data"), stores=Path("/stores"), zookeeper=zookeeper
    )
    return dict(line.split("=", 1) for line in text.splitlines())


def test_listeners_bind_exact_addresses_and_only_the_client_s_is_advertised_elsewhere() -> None:
    found = properties(ClusterOptions())
    assert found["listeners"] == "CLIENT://127.17.2.23:9092,PEER://127.17.2.23:19090,CONTROLLER://127.17.2.23:19091"
    assert found["advertised.listeners"] == "CLIENT://127.17.1.23:9092,PEER://127.17.2.23:19090"
    assert found["controller.quorum.voters"].startswith("1@127.17.2.23:19091,2@")


def test_a_zookeeper_broker_has_no_controller_listener() -> None:
    found = properties(ClusterOptions(version="2.4.1"), Endpoint("127.17.2.23", 2181))
    assert found["zookeeper.connect"] == "127.17.2.23:2181"
    assert "CONTROLLER" not in found["listeners"]
    assert "process.roles" not in found


@pytest.mark.parametrize("password", ["plain", 'quo"te', "back\\slash", "semi;colon = #"])
def test_a_password_survives_jaas_and_properties(password: str) -> None:
    found = properties(ClusterOptions(protocol=Protocol.SASL_PLAINTEXT, password=password))
    line = found["listener.name.client.plain.sasl.jaas.config"]
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    assert line.replace("\\\\", "\\").endswith(f'user_app="{quoted}";')
    assert properties_text({"a": jaas_quoted(password)}).count("\n") == 1


def test_the_user_s_own_settings_win() -> None:
    assert properties(ClusterOptions(broker_properties={"message.max.bytes": "10"}))["message.max.bytes"] == "10"


def test_tls_and_scram_and_rights() -> None:
    found = properties(ClusterOptions(protocol=Protocol.SASL_SSL, mechanism=Mechanism.SCRAM_SHA_256, authorize=True))
    assert found["listener.name.client.ssl.keystore.location"] == "/stores/node-1.p12"
    assert found["listener.security.protocol.map"] == "CLIENT:SASL_SSL,PEER:PLAINTEXT,CONTROLLER:PLAINTEXT"
    assert "password" not in found["listener.name.client.scram-sha-256.sasl.jaas.config"]
    assert found["super.users"] == "User:ANONYMOUS"


def test_listeners_that_a_test_adds() -> None:
    listeners = (
        Listener("FRED", Protocol.PLAINTEXT, advertised="localhost"),
        Listener("OTHERS", Protocol.PLAINTEXT, nodes=(2,)),
        Listener("MTLS", Protocol.SSL, advertised="kafka.invalid", demands_certificate=True),
    )
    found = properties(ClusterOptions(listeners=listeners))
    bound = dict(each.split("://") for each in found["listeners"].split(","))
    told = dict(each.split("://") for each in found["advertised.listeners"].split(","))
    assert bound["FRED"].startswith("127.0.0.1:")
    assert told["FRED"] == bound["FRED"].replace("127.0.0.1", "localhost")
    assert told["MTLS"] == bound["MTLS"].replace("127.17.2.23", "kafka.invalid")
    assert "OTHERS" not in bound
    assert found["listener.name.mtls.ssl.client.auth"] == "required"
    assert found["listener.name.mtls.ssl.keystore.location"] == "/stores/node-1-mtls.p12"


@pytest.mark.parametrize(
    ("version", "zookeeper", "java"), [("2.4.1", True, 11), ("3.9.2", False, 11), ("4.4.0", False, 17)]
)
def test_versions(version: str, zookeeper: bool, java: int) -> None:
    assert BrokerVersion(version).zookeeper is zookeeper
    assert minimum_java(BrokerVersion(version)) == java
