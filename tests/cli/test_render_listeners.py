"""`render listeners` and `render compose` as a person says them."""

import shlex
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Run
from tests.unit.doctor.conftest import WITHOUT_MAP

from brokernat.doctor.evidence import to_json

IN_AND_OUT = ("--listener", "INTERNAL=kafka-{id}:19092", "--listener", "external=gateway.example:{9092+id}")
SITUATION_1 = """\
clusters:
  hq:
    bootstrap_servers: 172.10.1.40:9093
    address_map:
      - 192.168.1.25:9092 = 172.10.1.40:9095
      - 192.168.1.24:9092 = 172.10.1.40:9094
    client: {security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: a, sasl.password: canary}
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("listeners", "--brokers", "2", *IN_AND_OUT, "--protocol", "EXTERNAL=SASL_SSL"),
        ("listeners", "--first-id", "0", "--listener", "CLIENTS=broker-{id}.example.com:9092", "--quorum", "separate"),
        ("compose", "--brokers", "1", *IN_AND_OUT, "--image", "confluentinc/cp-kafka:8.0.0"),
        ("listeners", "--listener", "A=b"),
        ("listeners", "--listener", "A=b:1", "--cluster", "hq"),
        ("listeners", "--cluster", "local"),
        ("listeners", "--cluster", "hq"),
        ("listeners", "--cluster", "hq", "--bind", "EXTERNAL=1"),
        ("compose",),
    ],
    ids=" ".join,
)
def test_said(run: Run, snapshot: SnapshotAssertion, arguments: tuple[str, ...]) -> None:
    assert run("render", *arguments) == snapshot


def test_an_address_map_turned_round(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "brokernat.yaml").write_text(SITUATION_1)
    (folder / "seen.json").write_text(to_json(WITHOUT_MAP))
    assert run("render", "listeners", "--from", "seen.json", "--node", "3") == snapshot
    counted = run("render", "listeners", "--quorum", "zookeeper")
    assert "broker.id=1\nlisteners=INTERNAL://:9092,EXTERNAL://:9095\n" in counted


@pytest.mark.parametrize("target", ["listeners", "compose"])
def test_the_command_in_the_header_makes_the_text_again(run: Run, target: str) -> None:
    text = run("render", target, *IN_AND_OUT, "--first-id", "0", "--brokers", "3", "--inter-broker", "internal")
    line = next(line for line in text.splitlines() if line.startswith("# Made by"))
    assert run(*shlex.split(line.partition("`brokernat ")[2].rstrip("`."))) == text


def test_a_file_for_each_node(run: Run, folder: Path) -> None:
    said = run("render", "listeners", "--brokers", "2", *IN_AND_OUT, "--output", "node-{id}.properties")
    assert said.startswith("exit 0\n")
    assert "node.id=2\n" in (folder / "node-2.properties").read_text()
    files = [word for n in (1, 2) for word in ("--server-properties", f"node-{n}.properties")]
    assert run("doctor", *files, "--fail-on", "warning").startswith("exit 0\n")


def test_a_compose_file_is_read_back(run: Run) -> None:
    run("render", "compose", "--brokers", "3", *IN_AND_OUT, "--output", "docker-compose.yml")
    assert run("doctor", "--server-properties", "docker-compose.yml", "--fail-on", "warning").startswith("exit 0\n")
