"""What the image `apache/kafka` makes of a rendered compose file, by the program that the image runs at its start.

It turns the variables into a server.properties, reads that with Kafka's own configuration, and formats the storage.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from brokernat.doctor.broker_files.compose import parse_compose
from brokernat.doctor.broker_files.listeners import parse_server_properties
from brokernat.jvm import find_java
from brokernat.render.broker_files import compose
from brokernat.render.listeners_plan import Wanted, plan_listeners
from brokernat.testbed.broker import BrokerVersion
from brokernat.testbed.topology import DEFAULT_VERSION

pytestmark = pytest.mark.integration

TIMEOUT = 180
BOB_FRED_ALICE = {"BOB": "kafka{id}:29092", "FRED": "localhost:{9092+id}", "ALICE": "docker-host.example:{29094+id}"}


def test_the_image_starts_with_what_was_rendered_and_read(tmp_path: Path) -> None:
    text = compose(plan_listeners(Wanted(BOB_FRED_ALICE, {}, {"ALICE": "SASL_PLAINTEXT"}), range(3)), "a test")
    environment = YAML(typ="safe", pure=True).load(text)["services"]["kafka1"]["environment"]
    for folder in ("defaults", "mounted", "final"):
        (tmp_path / folder).mkdir()
    command = [
        *(str(find_java(17).binary), "-XX:TieredStopAtLevel=1", "-cp"),
        ":".join(map(str, BrokerVersion(DEFAULT_VERSION).jars())),
        *("kafka.docker.KafkaDockerWrapper", "setup"),
        *("-D", str(tmp_path / "defaults"), "-M", str(tmp_path / "mounted"), "-F", str(tmp_path / "final")),
    ]
    done = subprocess.run(
        command,
        env={**environment, "KAFKA_LOG_DIRS": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"cluster.id={environment['CLUSTER_ID']}" in (tmp_path / "data" / "meta.properties").read_text()
    made = parse_server_properties((tmp_path / "final" / "server.properties").read_text(), "made")
    (read,) = (file for file in parse_compose(text, "c") if file.name == "c kafka1")
    assert dict(made) == dict(read.settings)
