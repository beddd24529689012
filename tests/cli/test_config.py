import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.config.model import json_schema

Run = Callable[..., str]

DOUBTFUL = """\
clusters:
  hq:
    bootstrap_servers: gw:9093
    address_map: [{}]
    client:
      security.protocl: SSL
      ssl.key.password: canary
"""
WITH_SCHEMA_FILES = """\
clusters:
  hq: {bootstrap_servers: "gw:9093"}
pipelines:
  tags:
    source: {cluster: hq, topics: [orders]}
    decode: {format: avro, schema_file: union.avsc}
    sink:
      cluster: hq
      topic: tags
      encode: {format: avro, schema_file: missing.avsc}
      dead_letters: tags.dead
    checkpoint: state
"""


def test_a_file_in_order(run: Run, snapshot: SnapshotAssertion) -> None:
    assert run("config", "check") == snapshot
    assert run("config", "check", "--format", "json") == snapshot


def test_a_broken_file(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    text = (folder / "brokernat.yaml").read_text().replace("unmapped", "x").replace("19092", "99999")
    (folder / "brokernat.yaml").write_text(text.replace("23:9092 =", "23 ="))
    assert run("config", "check") == snapshot
    assert run("config", "check", "--format", "json") == snapshot


def test_secrets_that_are_not_there(run: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.delenv("BROKERNAT_TEST_USER")
    assert run("config", "check").startswith("exit 2\n")
    assert run("config", "check", "--skip-secrets") == snapshot


@pytest.mark.parametrize(
    ("rules", "options", "code"),
    [("a=b", [], 0), ("a=b", ["--fail-on", "warning"], 4), ("a=b, a=c", [], 5), ("a=b, a=c", ["--format", "json"], 5)],
)
def test_doubts(run: Run, folder: Path, snapshot: SnapshotAssertion, rules: str, options: list[str], code: int) -> None:
    (folder / "brokernat.yaml").write_text(DOUBTFUL.format(rules))
    text = run("config", "check", *options)
    assert text.startswith(f"exit {code}\n")
    assert text == snapshot


def test_schema_files_that_have_no_columns(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "brokernat.yaml").write_text(WITH_SCHEMA_FILES)
    (folder / "union.avsc").write_text(
        '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": ["int", "string"]},'
        ' {"name": "parts", "type": {"type": "array", "items": "Order"}}]}'
    )
    assert run("config", "check") == snapshot
    assert run("config", "check", "--format", "json").startswith("exit 2\n")


def test_no_file(run: Run, snapshot: SnapshotAssertion) -> None:
    assert run("config", "check", "--config", "other.yaml") == snapshot


def test_schema(run: Run) -> None:
    out = run("config", "schema").partition("--- stdout\n")[2].partition("--- stderr\n")[0]
    assert out == json_schema()
    assert json.loads(out)["title"] == "brokernat.yaml"


def test_errors_and_warnings_of_a_file_come_together(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    text = DOUBTFUL.format("a=b, a:1=b")
    (folder / "bad.yaml").write_text(text + "      sasl.usrname: me\n")
    assert run("config", "check", "bad.yaml") == snapshot
    assert run("config", "check", "bad.yaml", "--format", "json") == snapshot


def test_the_file_is_an_argument_or_an_option(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "good.yaml").write_text("clusters: {hq: {bootstrap_servers: 'gw:1'}}\n")
    monkeypatch.setenv("BROKERNAT_CONFIG", "missing.yaml")
    printed = run("config", "check", "good.yaml")
    assert printed == run("config", "check", "--config", "good.yaml")
    assert printed.startswith("exit 0\n")
    assert "`none.yaml` (the argument)" in run("config", "check", "none.yaml")
    assert "give the file once" in run("config", "check", "good.yaml", "--config", "good.yaml")


def test_two_topics_with_one_spool(run: Run, folder: Path) -> None:
    sections = "shipping: {a: {cluster: hq, topic: a, spool: s}, b: {cluster: hq, topic: b, spool: ./s}}\n"
    (folder / "brokernat.yaml").write_text("clusters: {hq: {bootstrap_servers: 'gw:1'}}\n" + sections)
    printed = run("config", "check")
    assert printed.startswith("exit 2\n")
    assert "error: `./s` is the spool of `a`, too" in printed
