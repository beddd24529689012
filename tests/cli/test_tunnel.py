"""What `tunnel` refuses before it opens anything, and what it prints of a tunnel that cannot be opened."""

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

Run = Callable[..., str]

YAML = """\
clusters:
  hq:
    bootstrap_servers: kafka-1.hq.internal:9092
    tunnel: {via: "sh -c 'echo no session; exit 1' {host} {port} {local}"}
  local:
    bootstrap_servers: localhost:19092
pipelines:
  tags:
    source: {cluster: local, topics: [orders]}
    decode: {format: json, schema: id STRING}
    sink: {cluster: hq, topic: tags, dead_letters: tags.dead}
    checkpoint: state
"""
FAILING = "sh -c 'echo the token has expired' {host} {port} {local}"


@pytest.fixture(autouse=True)
def file(folder: Path) -> Path:
    (folder / "brokernat.yaml").write_text(YAML)
    return folder / "brokernat.yaml"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--cluster", "local"],
        ["--cluster", "hq", "--ssh", "user@bastion", "--kubectl"],
        ["--cluster", "local", "--ssh", "user@bastion", "--namespace", "kafka"],
        ["--cluster", "local", "--ssh", "user@'bastion"],
        ["--cluster", "local", "--via", "socat {host}:{port}"],
        ["--cluster", "hq", "--login"],
        ["--cluster", "hq", "--format", "json", "--", "true"],
        ["--cluster", "hq", "--no-such-option", "--", "true"],
        ["--ssh", "user@bastion", "--also", "registry", "-b", "kafka:9092"],
        ["--cluster", "local", "--kubectl", "--namespace", "", "--context", ""],
        ["--cluster", "local", "--kubectl", "--namespace", "", "--", "true"],
        ["--cluster", "local", "--ssh", ""],
        ["--kubectl", "-b", "10.244.0.7:9092", "-b", "kafka.example.com:9092"],
    ],
    ids=" ".join,
)
def test_usage(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run("tunnel", *arguments) == snapshot


def test_what_ended_and_the_codes_of_a_command(run: Run) -> None:
    alone = run("tunnel", "--cluster", "hq")
    assert alone.startswith("exit 3\n")
    assert "no session" in alone
    assert run("tunnel", "--cluster", "hq", "--", "true").startswith("exit 125\n")
    assert run("exec", "--cluster", "hq", "--", "true").startswith("exit 125\n")
    other = run("tunnel", "--cluster", "hq", "--via", FAILING)
    assert "the token has expired" in other


@pytest.mark.parametrize(
    "arguments",
    [
        ["doctor", "--cluster", "hq"],
        ["discover", "--cluster", "hq"],
        ["ship", "--cluster", "hq", "--topic", "audit", "--spool", "spool"],
        ["pipeline", "check", "tags"],
        ["pipeline", "run", "tags"],
        ["pipeline", "reconcile", "tags"],
        ["pipeline", "reconcile", "--cluster", "hq", "--topic", "audit"],
    ],
    ids=" ".join,
)
def test_commands_that_connect_open_the_tunnel_first(run: Run, arguments: list[str]) -> None:
    said = run(*arguments)
    assert said.startswith("exit 3\n")
    assert "no session" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["exec", "--cluster", "hq", "--dry-run", "--", "true"],
        ["discover", "--cluster", "hq", "--write"],
        ["proxy", "--cluster", "hq"],
    ],
    ids=" ".join,
)
def test_commands_that_a_tunnel_gives_the_map(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run(*arguments) == snapshot
