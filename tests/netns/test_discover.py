"""`brokernat discover` where the client stands: the addresses of both situations, black holes and closed ports among
the candidates."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brokernat.config import load
from brokernat.testbed import NetnsWorld
from brokernat.testbed.running_cluster import config_text

pytestmark = pytest.mark.netns


def without_map(world: NetnsWorld, folder: Path) -> Path:
    """The world's file before anybody knows what leads where."""
    servers = ",".join(map(str, world.hq.cluster.bootstrap_servers))
    lines = [
        f"    bootstrap_servers: '{servers}'" if "bootstrap_servers" in each else each
        for each in config_text([world.hq]).splitlines()
        if "address_map" not in each and "      - " not in each
    ]
    file = folder / "brokernat.yaml"
    file.write_text("\n".join(lines) + "\n")
    assert load(file).cluster("hq").address_map is None
    return file


def run(world: NetnsWorld, folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-m", "brokernat", "discover", *words, "--format", "json"]
    done = subprocess.run(
        world.client.command(command), cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert world.hq.plan.options.password not in done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_three_brokers_behind_one_host(nginx_world: NetnsWorld, tmp_path: Path) -> None:
    """Situation 1, with a login: the file has no map before."""
    file = without_map(nginx_world, tmp_path)
    found = run(nginx_world, tmp_path, "--candidates", "172.10.1.40:9090-9100", "--write", "--yes")
    assert [each["rule"] for each in found["rules"]] == [
        "192.168.1.23:9092=172.10.1.40:9093",
        "192.168.1.24:9092=172.10.1.40:9094",
        "192.168.1.25:9092=172.10.1.40:9095",
    ]
    assert found["other_candidates"] == {"refused": 8}
    assert load(file).cluster("hq").address_map == nginx_world.hq.cluster.address_map


def test_host_to_host(nat_world: NetnsWorld, tmp_path: Path) -> None:
    """Situation 2: the network of the NAT, most of whose addresses nobody has."""
    words = ("--bootstrap-server", "10.99.1.23:9092", "--candidates", "10.99.1.16/28:9092")
    found = run(nat_world, tmp_path, *words, "--output", "rules")
    assert [each["rule"] for each in found["rules"]] == [
        "192.168.1.23=10.99.1.23",
        "192.168.1.24=10.99.1.24",
        "192.168.1.25=10.99.1.25",
    ]
    assert sum(found["other_candidates"].values()) == 13
    assert len((tmp_path / "rules").read_text().splitlines()) == 4


def test_certificates_that_name_brokers_and_not_the_gateway(tls_world: NetnsWorld, tmp_path: Path) -> None:
    """Held against a broker's name at the bootstrap server, against each broker's own at the candidates."""
    file = without_map(tls_world, tmp_path)
    words = ("--candidates", "172.10.1.40:9090-9100", "--write", "--yes")
    first = tls_world.hq.advertised[1].host
    run(tls_world, tmp_path, *words, code=3)
    found = run(tls_world, tmp_path, *words, "--server-name", first)
    assert found["findings"] == []
    assert load(file).cluster("hq").address_map == tls_world.hq.cluster.address_map
