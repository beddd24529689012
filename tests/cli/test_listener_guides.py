"""What the guides about listeners show is what the commands say."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Run

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
COMPOSE = """
services:
  kafka0:
    image: apache/kafka:4.3.1
    ports: ["9092:9092"]
    environment:
      KAFKA_NODE_ID: 0
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 0@kafka0:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
"""
CLOUD = """
broker.id=0
listeners=PLAINTEXT://0.0.0.0:9092
advertised.listeners=PLAINTEXT://ip-172-31-18-160.us-west-2.compute.internal:9092
"""
NAMES = {"PLAINTEXT1": 9090, "PLAINTEXT2": 9091, "PLAINTEXT3": 9092}


def mixed(node: int) -> str:
    """Situation 4: server1 lacks PLAINTEXT2."""
    names = {name: port for name, port in NAMES.items() if (node, name) != (1, "PLAINTEXT2")}
    return (
        f"broker.id={node}\ninter.broker.listener.name=PLAINTEXT1\n"
        f"listener.security.protocol.map={','.join(f'{name}:PLAINTEXT' for name in NAMES)}\n"
        f"listeners={','.join(f'{name}://:{port}' for name, port in names.items())}\n"
        f"advertised.listeners={','.join(f'{name}://10.0.0.{node + 1}:{port}' for name, port in names.items())}\n"
    )


def shown(guide: str) -> Iterator[tuple[list[str], list[str]]]:
    """Commands that need no network, and what they print as far as it is shown."""
    text = (GUIDES / guide).read_text("utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            words = shlex.split(command)
            if words[1] == "render" or "--server-properties" in words:
                yield words[1:], [line for line in lines if line not in ("", "…", "  …")]


@pytest.mark.parametrize("guide", ["listeners.md", "docker.md", "cloud.md", "mixed-listeners.md"])
def test_guide(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, guide: str) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    (folder / "docker-compose.yml").write_text(COMPOSE)
    (folder / "server.properties").write_text(CLOUD)
    for node in range(3):
        (folder / f"server{node}.properties").write_text(mixed(node))
    commands = list(shown(guide))
    assert commands
    for words, lines in commands:
        said = run(*words, *(["--replace"] if "--output" in words else []))
        assert not said.startswith(("exit 1\n", "exit 2\n")), said
        at = 0
        for line in lines:
            # In the order of the guide, which may leave something out.
            at = said.find(f"\n{line}\n", at)
            assert at >= 0, f"{line}\nis not what is said:\n{said}"
