"""What is noted of a pipeline beside its checkpoint, and what each change is called."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from brokernat.config import Cluster, load
from brokernat.config.model import Decode, Encode
from brokernat.config.record_schema import RecordSchema
from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.checkpoint.definition import changes, definition
from brokernat.pipelines.prepared import Prepared

FILE = """
clusters:
  hq: {{bootstrap_servers: "a:1"}}
  local: {{bootstrap_servers: "b:1"}}
pipelines:
  tags:
    source: {{cluster: hq, topics: [{topics}], starting_offsets: {starting_offsets}}}
    decode: {decode}
    enrich: [{{reference: customers, key: {enrich}}}]
    references: {{customers: {{format: csv, path: customers.csv}}}}
    transform: {transform}
    sink: {{cluster: local, topic: {sink}, key: {key}, dead_letters: {dead_letters}, encode: {encode}}}
    checkpoint: state
    mode: {mode}
"""
BEFORE = {
    "decode": "{format: json, schema: 'id STRING, name STRING'}",
    "transform": "defined_tags:tag",
    "enrich": "id",
    "key": "id",
    "encode": "{format: avro, schema_file: tag.avsc}",
    "mode": "micro-batch",
    "topics": "orders",
    "starting_offsets": "earliest",
    "sink": "tags",
    "dead_letters": "dead",
}


def noted(folder: Path, **words: str) -> dict[str, str]:
    (folder / "brokernat.yaml").write_text(FILE.format(**BEFORE | words))
    return definition(Prepared.of(load(folder / "brokernat.yaml"), "tags"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    # The one of the test before.
    sys.modules.pop("defined_tags", None)
    (tmp_path / "defined_tags.py").write_text("def tag(records): return records\ndef other(records): return records\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("decode", "{format: json, schema: 'id STRING, amount DOUBLE'}"),
        ("transform", "defined_tags:other"),
        ("enrich", "name"),
        ("key", "name"),
        ("encode", "null"),
        ("mode", "realtime"),
        ("topics", "orders, more"),
        ("starting_offsets", "latest"),
        ("sink", "tags2"),
        ("dead_letters", "dead2"),
    ],
)
def test_what_has_changed_is_named(folder: Path, name: str, after: str) -> None:
    before, now = noted(folder), noted(folder, **{name: after})
    assert [change.name for change in changes(before, now)] == [name]
    assert list(changes(before, before)) == []
    # What a note of another version lacks is no change.
    del before[name]
    assert list(changes(before, now)) == []


def test_another_text_of_a_file_is_a_change(folder: Path) -> None:
    before = noted(folder)
    (folder / "defined_tags.py").write_text("def tag(records): return records.where('id > 1')\n")
    (folder / "tag.avsc").write_text('{"type": "record", "name": "Tag", "fields": []}')
    assert [change.name for change in changes(before, noted(folder))] == ["transform", "encode"]


def test_another_schema_of_a_subject_is_a_change_and_a_registry_that_is_away_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = {"orders-value": '{"type": "record"}', "tags-value": "{}"}

    def answer(section: Decode | Encode, cluster: Cluster, subject: str) -> tuple[RecordSchema, int]:
        if subject not in newest:
            raise ConfigError(Finding("registry", "it is away"))
        return RecordSchema(newest[subject], "id STRING"), 1

    monkeypatch.setattr("brokernat.pipelines.prepared.newest_schema", answer)
    registry = "registry: {url: 'http://registry'}"

    def now() -> dict[str, str]:
        decode = f"{{format: avro, subject: orders-value, {registry}}}"
        return noted(folder, decode=decode, encode=f"{{format: protobuf, {registry}}}")

    before = now()
    assert list(changes(before, now())) == []
    newest["orders-value"] += " "
    assert [change.name for change in changes(before, now())] == ["decode"]
    newest["tags-value"] += " "
    assert [change.name for change in changes(before, now())] == ["decode", "encode"]
    del newest["tags-value"]
    assert list(changes(before, now())) == []


@pytest.mark.parametrize(
    ("before", "after", "named"), [("4.1.1", "4.3.0", 0), ("4.3.0", "4.1.1", 1), ("4.10.0", "4.9.0", 1)]
)
def test_a_newer_spark_is_no_change_and_an_older_one_is(before: str, after: str, named: int) -> None:
    assert len(list(changes({"spark": before}, {"spark": after}))) == named


def test_a_topic_less_is_for_the_owner_to_refuse() -> None:
    assert list(changes({"topics": "orders more"}, {"topics": "orders"})) == []


def test_no_secret_is_noted(folder: Path) -> None:
    found: Any = noted(folder)
    assert len(found["decode"]) == len(found["enrich"]) == 64


def test_a_new_password_alone_is_no_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "order.avsc").write_text('{"type": "record", "name": "Order", "fields": []}')

    def with_login(name: str, login: str) -> dict[str, str]:
        monkeypatch.setenv("LOGIN", login)
        client = f"client: {{{name}: '${{env:LOGIN}}'}}"
        return noted(
            folder, decode=f"{{format: avro, schema_file: order.avsc, registry: {{url: 'http://r', {client}}}}}"
        )

    before = with_login("bearer.auth.token", "one")
    assert list(changes(before, with_login("bearer.auth.token", "two"))) == []
    assert [each.name for each in changes(before, with_login("basic.auth.user.info", "u:one"))] == ["decode"]
