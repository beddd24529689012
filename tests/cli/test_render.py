import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.cli.render import TARGETS

Run = Callable[..., str]

BROKERNAT_YAML = """\
clusters:
  hq:
    bootstrap_servers: 172.10.1.40:9093,172.10.1.40:9094
    address_map:
      - 192.168.1.23:9092 = 172.10.1.40:9093
      - 192.168.1.24:9092 = 172.10.1.40:9094
    client:
      security.protocol: SASL_PLAINTEXT
      sasl.mechanism: PLAIN
      sasl.username: ${env:BROKERNAT_TEST_USER}
      sasl.password: canary
  named:
    bootstrap_servers: 10.9.0.1:9092
    address_map: [kafka-1.hq.internal = 10.9.0.1]
  local:
    bootstrap_servers: localhost:19092
"""
AGENT = ("--agent-path", "/opt/brokernat/brokernat-agent.jar")
OF_THE_TARGET = {"spark": AGENT, "spring": AGENT}


@pytest.fixture(autouse=True)
def file(folder: Path) -> Path:
    (folder / "brokernat.yaml").write_text(BROKERNAT_YAML)
    return folder / "brokernat.yaml"


@pytest.mark.parametrize("target", TARGETS)
def test_targets(run: Run, snapshot: SnapshotAssertion, target: str) -> None:
    """The exit code is 5 for the hosts file: the map is about ports."""
    text = run("render", target, "--cluster", "hq", *OF_THE_TARGET.get(target, ()))
    assert text == snapshot


@pytest.mark.parametrize(
    "arguments",
    [
        ["hosts", "--cluster", "named"],
        ["nginx"],
        ["nginx", "--cluster", "local"],
        ["nginx", "--cluster", "hp"],
        ["apache"],
        ["spring", "--cluster", "hq", "--syntax", "properties", *AGENT],
        ["nginx", "--cluster", "hq", "--config", "absent.yaml"],
    ],
    ids=" ".join,
)
def test_options(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run("render", *arguments) == snapshot


def test_a_file_that_holds_something_else_is_left_as_it_is(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    command = ("render", "nginx", "--cluster", "hq", "--output", "kafka.conf")
    assert run(*command) == snapshot
    first = (folder / "kafka.conf").read_text()
    assert run(*command).startswith("exit 0\n"), "the same text again"
    (folder / "kafka.conf").write_text("mine")
    assert run(*command) == snapshot
    assert (folder / "kafka.conf").read_text() == "mine"
    assert run(*command, "--replace").startswith("exit 0\n")
    assert (folder / "kafka.conf").read_text() == first


def test_a_dash_is_stdout(run: Run, folder: Path) -> None:
    command = ("render", "nginx", "--cluster", "hq")
    assert run(*command, "--output", "-") == run(*command)
    assert not (folder / "-").exists()


def test_the_command_in_the_header_makes_the_text_again(run: Run, file: Path) -> None:
    file.rename(file.with_name("other name.yaml"))
    text = run("render", "spring", "--config", "other name.yaml", "--cluster", "hq", "--syntax", "properties", *AGENT)
    line = next(line for line in text.splitlines() if line.startswith("# Made from other name.yaml by"))
    assert run(*shlex.split(line.partition("`brokernat ")[2].rstrip("`."))) == text


@pytest.mark.parametrize("target", ["spark", "spring"])
def test_a_relative_path_of_the_agent_is_refused(run: Callable[..., str], target: str) -> None:
    printed = run("render", target, "--cluster", "hq", "--agent-path", "brokernat-agent.jar")
    assert printed.startswith("exit 2\n")
    assert "the agent's path `brokernat-agent.jar` is relative" in printed
    assert "hint: pass an absolute path that exists on every host" in printed


def test_a_path_that_nobody_named_is_said_to_be_that_of_this_host(run: Callable[..., str]) -> None:
    assert "for executors on other hosts pass `--agent-path`" in run("render", "spark", "--cluster", "hq")
    assert "--agent-path" not in run("render", "spring", "--cluster", "hq").split("--- stderr")[1]


def test_a_relative_trust_store_starts_at_the_folder_of_the_file(run: Run, file: Path) -> None:
    """The service and the file that is made for it are in other folders."""
    file.write_text(BROKERNAT_YAML.replace("canary", "canary\n      ssl.truststore.location: trust.pem"))
    assert "ssl.truststore.location: 'FOLDER/trust.pem'" in run("render", "spring", "--cluster", "hq", *AGENT)
