"""What the doctor says of a certificate, held against what Kafka's own client and librdkafka do with it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka import admin as untyped
from tests.integration.doctor.cases import with_the_certificate
from tests.integration.doctor.scene import Scene

from brokernat.clients import librdkafka
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.finding import Severity
from brokernat.doctor.probes.collecting import collect
from brokernat.jvm import find_java
from brokernat.testbed import RunningCluster
from brokernat.testbed.broker import BrokerVersion
from brokernat.testbed.key_stores import TRUST_PEM
from brokernat.testbed.place import wait_until
from brokernat.testbed.server_properties import properties_text

pytestmark = pytest.mark.integration

# What it exports it declares nowhere.
kafka: Any = untyped
TIMEOUT = 60
_PROGRAM = Path(__file__).parent / "java" / "Nodes.java"


def java_says(running: RunningCluster, cluster: Cluster, folder: Path) -> str:
    """What a program with kafka-clients prints."""
    file = folder / "client.properties"
    patience = {"default.api.timeout.ms": "60000", "request.timeout.ms": "60000"}
    file.write_text(properties_text(cluster.kafka_properties() | patience))
    java = find_java(17)
    jars = BrokerVersion(running.plan.options.version).jars()[0].parent
    command = [str(java.binary), "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", str(_PROGRAM), str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=4 * TIMEOUT, check=True).stdout


def librdkafka_says(running: RunningCluster, cluster: Cluster) -> str:
    """What librdkafka complains of, or the nodes that it was told."""
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(running.folder / TRUST_PEM)}
    others = {name: value for name, value in cluster.client.items() if not name.startswith("ssl.truststore")}
    said: list[str] = []
    properties: dict[str, Any] = dict(librdkafka.properties(replace(cluster, client=others | trust)))
    admin = kafka.AdminClient({**properties, "log_level": 0, "error_cb": lambda error: said.append(error.str())})

    def answered() -> bool:
        try:
            said.extend(f"node {node}" for node in admin.list_topics(timeout=2).brokers)
        except KafkaException:
            admin.poll(0.5)
        return any(word in each for each in said for word in ("node", "certificate"))

    wait_until(answered, "librdkafka to get in or to say why not", timeout=TIMEOUT)
    return " ".join(said)


@pytest.mark.parametrize(
    ("listener", "store", "severity", "java", "others"),
    [
        ("EXPIRED", "node-1-expired", Severity.ERROR, "validity check failed", "certificate verify failed"),
        ("EXPIRED", "node-1-expired-renewed", None, "node 1", "node 1"),
        ("ANCHOR", None, Severity.WARNING, "node 1", "certificate verify failed"),
    ],
    ids=["expired", "renewed", "expired-and-trusted-itself"],
)
def test_the_doctor_says_what_clients_do(
    doctor_scene: Scene,
    tmp_path: Path,
    listener: str,
    store: str | None,
    severity: Severity | None,
    java: str,
    others: str,
) -> None:
    local = doctor_scene.local
    cluster = local.through(listener) if store is None else with_the_certificate(doctor_scene, store)
    found = diagnose(collect(cluster, TIMEOUT)).findings
    problems = [(each.code, each.severity) for each in found if each.severity is not Severity.INFO]
    assert problems == ([] if severity is None else [("BN403", severity)])
    assert java in java_says(local, cluster, tmp_path)
    assert others in librdkafka_says(local, cluster)
