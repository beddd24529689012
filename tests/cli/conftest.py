"""Runs a command line in this process, in a folder of its own."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brokernat.cli.app import main

Run = Callable[..., str]

BROKERNAT_YAML = """\
clusters:
  hq:
    bootstrap_servers: 172.10.1.40:9093,172.10.1.40:9094
    address_map:
      - 192.168.1.23:9092 = 172.10.1.40:9093
      - 192.168.1.24:9092 = 172.10.1.40:9094
      - "[fd00::1]:9092 = 172.10.1.40:9095"
      - "*.hq.internal = gateway"
    client:
      security.protocol: SASL_PLAINTEXT
      sasl.mechanism: PLAIN
      sasl.username: ${env:BROKERNAT_TEST_USER}
      sasl.password: ${file:password}
  local:
    bootstrap_servers: localhost:19092
"""

PIPELINE = """
pipelines:
  tags:
    source: {cluster: hq, topics: [orders]}
    decode: {format: json, schema: "id STRING"}
    sink: {cluster: local, topic: tags, dead_letters: tags.dead}
    checkpoint: state
"""


@pytest.fixture(autouse=True)
def _log_left_as_it_was() -> Iterator[None]:
    """A command that ran leaves the library's log to the program around it."""
    log = logging.getLogger("brokernat")
    before = log.level, log.propagate, list(log.handlers)
    yield
    assert (log.level, log.propagate, log.handlers) == before


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a brokernat.yaml whose secrets can be looked up."""
    (tmp_path / "brokernat.yaml").write_text(BROKERNAT_YAML)
    (tmp_path / "password").write_text("canary\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROKERNAT_TEST_USER", "me")
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs arguments; the result is what a person sees: exit code, stdout, stderr."""

    def run_it(*arguments: str) -> str:
        code = main(arguments)
        out, err = (text.replace(str(folder), "FOLDER") for text in capsys.readouterr())
        assert "canary" not in out + err
        return f"exit {code}\n--- stdout\n{out}--- stderr\n{err}"

    return run_it
