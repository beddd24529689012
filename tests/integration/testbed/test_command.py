"""`brokernat testbed`: up prints and writes what a client needs, status sees it from elsewhere, down ends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from brokernat.address import Endpoint
from brokernat.clients import confluent
from brokernat.config import load
from brokernat.testbed import running_worlds
from brokernat.testbed.kafka import speaks_kafka
from brokernat.testbed.keeper import members
from brokernat.testbed.place import Here

pytestmark = pytest.mark.integration

_PATIENCE = 30


def brokernat(*words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "brokernat", "testbed", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == expect, done.stderr
    return done


def test_up_status_down(tmp_path: Path) -> None:
    file = tmp_path / "brokernat.yaml"
    wanted = ("--brokers", "1", "--protocol", "SASL_PLAINTEXT", "--topic", "orders:6", "--topic", "tags")
    up = brokernat("up", *wanted, "--output", str(file), "--format", "json")
    world = json.loads(up.stdout)["world"]
    state = running_worlds.state_root() / world["name"]
    try:
        config = load(file)
        hq = config.clusters["hq"]
        assert hq.address_map is not None
        assert (
            str(hq.address_map.translate(Endpoint.parse(world["clusters"]["hq"]["advertised"]["1"])).endpoint)
            == (world["clusters"]["hq"]["reachable"]["1"])
        )
        assert 'password="app-secret"' in hq.kafka_properties()["sasl.jaas.config"]
        assert "app-secret" not in file.read_text() + up.stdout + up.stderr
        assert speaks_kafka(hq.bootstrap_servers[0], Here(), tls=False)
        client = AdminClient(confluent.configure({}, hq))
        topics = client.list_topics(timeout=_PATIENCE).topics
        assert {name: len(topic.partitions) for name, topic in topics.items()} == {"orders": 6, "tags": 3}

        names = [one["name"] for one in json.loads(brokernat("status", "--format", "json").stdout)["worlds"]]
        assert world["name"] in names
        refused = brokernat("up", "--output", str(file), expect=2)
        assert "exists and is not overwritten" in refused.stderr
    finally:
        down = brokernat("down", world["name"])
    assert down.stdout == f"ended {world['name']}\n"
    assert not state.exists()
    assert not members(state)


def test_down_of_an_unknown_world_says_where_to_look() -> None:
    refused = brokernat("down", "loopback-0", expect=2)
    assert "no testbed `loopback-0` is running" in refused.stderr
    assert "brokernat testbed status" in refused.stderr
