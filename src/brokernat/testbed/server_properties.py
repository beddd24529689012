"""The text of the brokers' `server.properties`, from a plan; pure.

Internal topics have few partitions, and brokers few threads and short elections, because several brokers share two
cores and start for each test session. Everything that a client can see (listeners, responses, limits) is Kafka's
default.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.testbed.topology import BrokerPlan, ClusterPlan, Mechanism

STORE_PASSWORD = "testbed"
"""The password of the testbed's temporary key stores."""

_COMMON = {
    "inter.broker.listener.name": "PEER",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.min.isr": "1",
    "min.insync.replicas": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": "1048577",
    # Brokers decompress the records of producers, because record_batches.py does not read lz4 or zstd.
    "compression.type": "uncompressed",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "controlled.shutdown.max.retries": "1",
}
_KRAFT = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.election.timeout.ms": "500",
    # A follower that is delayed by a second on a busy machine must not start an election.
    "controller.quorum.fetch.timeout.ms": "3000",
    # By default the quorum's leader writes a no-op record twice a second, and every node reads it (KIP-835).
    "metadata.max.idle.interval.ms": "10000",
    "broker.session.timeout.ms": "6000",
}
_SCRAM_ITERATIONS = 4096
_STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_ZOOKEEPER_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"


def server_properties(
    cluster: ClusterPlan, broker: BrokerPlan, *, data: Path, stores: Path, zookeeper: Endpoint | None = None
) -> str:
    """The file of one broker.

    Args:
        cluster: the plan of the cluster.
        broker: the plan of the broker.
        data: the log directory of the broker.
        stores: the folder of the key stores, for TLS.
        zookeeper: the endpoint of ZooKeeper, for versions that need it.
    """
    options = cluster.options
    replicas = str(min(3, len(cluster.brokers)))
    bound = {"CLIENT": broker.bound, "PEER": broker.peer, **{each.name: each.bound for each in broker.more}}
    advertised = {**bound, "CLIENT": broker.advertised, **{each.name: each.advertised for each in broker.more}}
    protocols = {"CLIENT": options.protocol.value, "PEER": "PLAINTEXT"}
    protocols |= {each.name: each.protocol.value for each in options.listeners}
    if zookeeper is None:
        bound["CONTROLLER"] = broker.controller
        protocols["CONTROLLER"] = "PLAINTEXT"
    properties = {
        **_COMMON,
        "log.dirs": str(data),
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "default.replication.factor": replicas,
        **(_kraft(cluster, broker) if zookeeper is None else _zookeeper(broker, zookeeper)),
        "listeners": _listeners(bound),
        "advertised.listeners": _listeners(advertised),
        "listener.security.protocol.map": ",".join(f"{name}:{value}" for name, value in protocols.items()),
        **_tls_and_login(cluster, broker, stores),
    }
    if options.authorize:
        properties["authorizer.class.name"] = _STANDARD_AUTHORIZER if zookeeper is None else _ZOOKEEPER_AUTHORIZER
        # Only the testbed connects to PEER, where every client is ANONYMOUS.
        properties["super.users"] = "User:ANONYMOUS"
    return properties_text(properties | dict(options.broker_properties))


def properties_text(properties: Mapping[str, str]) -> str:
    """A Java properties file."""
    return "".join(f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())


def jaas_quoted(value: str) -> str:
    """A value of a JAAS line, in double quotes."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def scram_argument(mechanism: Mechanism, username: str, password: str, salt: bytes | None = None) -> str:
    """`SCRAM-SHA-256=[name=...,salt="...",saltedpassword="...",iterations=4096]` for the format tool (KIP-900).

    The tool also accepts the salted password, so the process list does not show the password.
    """
    salt = salt or os.urandom(16)
    salted = hashlib.pbkdf2_hmac(mechanism.value.removeprefix("SCRAM-"), password.encode(), salt, _SCRAM_ITERATIONS)
    parts = (
        f'name="{username}",salt="{_base64(salt)}",saltedpassword="{_base64(salted)}",iterations={_SCRAM_ITERATIONS}'
    )
    return f"{mechanism.value}=[{parts}]"


def zookeeper_properties(client: Endpoint, data: Path) -> str:
    """The file of a single ZooKeeper."""
    return properties_text(
        {
            "dataDir": str(data),
            "clientPort": str(client.port),
            "clientPortAddress": client.host,
            "admin.enableServer": "false",
            "maxClientCnxns": "0",
            "tickTime": "1000",
        }
    )


def _kraft(cluster: ClusterPlan, broker: BrokerPlan) -> dict[str, str]:
    voters = ",".join(f"{other.node_id}@{other.controller}" for other in cluster.brokers)
    return {**_KRAFT, "node.id": str(broker.node_id), "controller.quorum.voters": voters}


def _zookeeper(broker: BrokerPlan, zookeeper: Endpoint) -> dict[str, str]:
    return {
        "broker.id": str(broker.node_id),
        "zookeeper.connect": str(zookeeper),
        "zookeeper.session.timeout.ms": "6000",
    }


def _tls_and_login(cluster: ClusterPlan, broker: BrokerPlan, stores: Path) -> dict[str, str]:
    """The settings of each listener with TLS or a login."""
    options = cluster.options
    properties: dict[str, str] = {}
    for prefix, protocol, store in (
        ("listener.name.client", options.protocol, f"node-{broker.node_id}"),
        *((each.prefix, each.listener.protocol, each.store(broker.node_id)) for each in broker.more),
    ):
        if protocol.tls:
            properties |= _store(f"{prefix}.ssl.keystore", stores / f"{store}.p12")
            properties[f"{prefix}.ssl.key.password"] = STORE_PASSWORD
        if protocol.sasl:
            mechanism = options.mechanism.value
            properties["sasl.enabled.mechanisms"] = mechanism
            properties[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = _login(cluster)
    return properties


def _store(prefix: str, file: Path) -> dict[str, str]:
    store = {"location": str(file), "password": STORE_PASSWORD, "type": "PKCS12"}
    return {f"{prefix}.{name}": value for name, value in store.items()}


def _listeners(endpoints: Mapping[str, Endpoint]) -> str:
    return ",".join(f"{name}://{endpoint}" for name, endpoint in endpoints.items())


def _login(cluster: ClusterPlan) -> str:
    options = cluster.options
    if options.mechanism is Mechanism.PLAIN:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return f"{module} required user_{options.username}={jaas_quoted(options.password)};"
    return "org.apache.kafka.common.security.scram.ScramLoginModule required;"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
