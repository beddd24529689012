"""Pipelines of Avro and Protobuf records: real brokers behind dead addresses, and a real registry behind one, too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.integration.pipelines.conftest import Workplace, sources
from tests.integration.steps import plain_avro, plain_protobuf
from tests.support.apicurio import apicurio, register

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "customer_id", "type": ["null", "string"], "default": None},
        {"name": "amount", "type": "double"},
    ],
}
OLDER = {"type": "record", "name": "Order", "fields": [{"name": "amount", "type": "int"}, ORDER["fields"][0]]}
OTHER = {"type": "record", "name": "Other", "fields": [{"name": "text", "type": "string"}]}
TAG = {
    "type": "record",
    "name": "Tag",
    "fields": [*ORDER["fields"], *({"name": name, "type": ["null", "string"]} for name in ("name", "segment"))],
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with apicurio(tmp_path_factory.mktemp("apicurio")) as url:
        yield url


def wire(schema_id: int, schema: object, value: object) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + plain_avro.encode(schema, value)


def behind_a_dead_name(workplace: Workplace, registry: str) -> dict[str, object]:
    """The registry as a file names it: the map of either cluster leads to it."""
    port = urlsplit(registry).port
    for name in ("hq", "local"):
        given = workplace.world.clusters[name].cluster.address_map
        rules = [str(rule) for rule in given.rules] if given else []
        workplace.rules[name] = [*rules, f"registry.invalid:{port} = 127.0.0.1:{port}"]
    login = {"basic.auth.user.info": "me:canary"}
    return {"url": registry.replace("127.0.0.1", "registry.invalid"), "client": login}


def test_each_record_is_read_by_its_schema_and_tags_carry_theirs(workplace: Workplace, registry: str) -> None:
    subject = f"{workplace.topic}-value"
    new, old, other = (
        register(registry, subject, ORDER),
        register(registry, "older", OLDER),
        register(registry, "o", OTHER),
    )
    tag_id = register(registry, f"{workplace.tags}-value", TAG)
    Path(workplace.folder, "order.avsc").write_text(json.dumps(ORDER, indent=2))
    Path(workplace.folder, "tag.avsc").write_text(json.dumps(TAG))
    named = behind_a_dead_name(workplace, registry)
    workplace.pipeline["decode"] = {"format": "avro", "schema_file": "order.avsc", "registry": named}
    workplace.pipeline["sink"]["encode"] = {"format": "avro", "schema_file": "tag.avsc", "registry": named}
    well = [wire(new, ORDER, {"order_id": f"o{n}", "customer_id": f"c{n % 10}", "amount": n / 2}) for n in range(50)]
    dead = [
        wire(old, OLDER, {"amount": 3, "order_id": "old"}),
        wire(other, OTHER, {"text": "x"}),
        wire(999_999, ORDER, {"order_id": "x", "customer_id": None, "amount": 1.0}),
        well[0][:-1],
        b'{"order_id": "json"}',
    ]
    workplace.write([*well, *dead])

    batches = workplace.drain()

    assert {name: sum(batch[name] for batch in batches) for name in ("received", "tags", "dead_letters")} == {
        "received": 55, "tags": 50, "dead_letters": 5,
    }  # fmt: skip
    tags = workplace.read_tags()
    assert len(set(sources(tags))) == 50
    assert {(record.value or b"")[:5] for record in tags} == {b"\0" + tag_id.to_bytes(4, "big")}
    found = [plain_avro.decode(TAG, (record.value or b"")[5:]) for record in tags]
    orders = {tag["order_id"]: tag for tag in found if isinstance(tag, dict)}
    assert orders["o7"] == {
        "order_id": "o7", "customer_id": "c7", "amount": 3.5, "name": "Name 7", "segment": "retail",
    }  # fmt: skip
    letters = {record.value: record.header("__connect.errors.exception.class.name") for record in workplace.read_dead()}
    # The older record was read: it lacks a customer, and so its reference.
    kinds = ("NullKey", "IncompatibleSchema", "UnknownSchema", "MalformedValue", "MalformedValue")
    assert letters == dict(zip(dead, (f"brokernat.{kind}".encode() for kind in kinds), strict=True))
    for file in workplace.folder.rglob("*"):
        if file.is_file() and file.name != "brokernat.yaml":
            assert not re.search(rb"canary|bWU6Y2FuYXJ5", file.read_bytes()), file


MONEY = 'syntax = "proto3"; package shop; message Money { string currency = 1; uint64 units = 2; }'
FIRST = """
syntax = "proto3"; package shop;
message Order { string order_id = 1; optional string customer_id = 2; }
"""
SECOND = """
syntax = "proto3"; package shop; import "money.proto"; import "google/protobuf/timestamp.proto";
message Order {
  string order_id = 1; optional string customer_id = 2; Money price = 3; google.protobuf.Timestamp at = 4;
}
message Other { string text = 1; }
"""
PROTOBUF_TAG = """
syntax = "proto3"; package shop; import "money.proto"; import "google/protobuf/timestamp.proto";
message Tag {
  string order_id = 1; optional string customer_id = 2; Money price = 3; google.protobuf.Timestamp at = 4;
  optional string name = 5; optional string segment = 6;
}
"""


def message(schema_id: int, *fields: str, index: bytes = b"\0") -> bytes:
    """A record whose first fields are texts."""
    texts = enumerate((each.encode() for each in fields), 1)
    body = b"".join(bytes([number << 3 | 2, len(text)]) + text for number, text in texts)
    return b"\0" + schema_id.to_bytes(4, "big") + index + body


def test_the_subject_of_protobuf_has_the_columns(workplace: Workplace, registry: str) -> None:
    subject, money = f"{workplace.topic}-value", f"{workplace.topic}-money"
    imported = {"name": "money.proto", "subject": money, "version": 1}
    register(registry, money, MONEY)
    first, second = register(registry, subject, FIRST), register(registry, subject, SECOND, imported)
    tag_id = register(registry, f"{workplace.tags}-value", PROTOBUF_TAG, imported)
    named = behind_a_dead_name(workplace, registry)
    decode = {"format": "protobuf", "registry": named, "subject": subject, "message": "shop.Order"}
    workplace.pipeline["decode"] = decode
    workplace.pipeline["sink"]["encode"] = {"format": "protobuf", "registry": named}
    price = b"\x1a\x0f" + b"\x0a\x03EUR" + b"\x10" + plain_protobuf.varint(1 << 56)
    dead = [message(second, "x", index=b"\2\2"), message(999_999, "x"), message(second, "x")[:-1], b'{"json": 1}']
    workplace.write([message(first, "o1", "c1"), message(second, "o2", "c2") + price, *dead])

    checked = workplace.run("check").stdout
    columns = "order_id string, customer_id string, price struct<currency:string,units:decimal(20,0)>, at timestamp"
    assert f"subject {subject}: {columns}" in " ".join(checked.split())
    batches = workplace.drain()
    register(registry, subject, SECOND.replace("Other {", "Another { int32 more = 3; } message Other {"), imported)
    same = workplace.run("check").stdout
    register(registry, subject, SECOND.replace("at = 4", "at = 9"), imported)
    other = workplace.run("check").stdout

    assert {name: sum(batch[name] for batch in batches) for name in ("tags", "dead_letters")} == {
        "tags": 2, "dead_letters": 4,
    }  # fmt: skip
    name, header = b"\x2a\x06Name ", b"\0" + tag_id.to_bytes(4, "big") + b"\0"
    assert sorted(record.value or b"" for record in workplace.read_tags()) == [
        header + b"\x0a\x02o1\x12\x02c1" + name + b"1" + b"\x32\x06retail",
        header + b"\x0a\x02o2\x12\x02c2" + price + name + b"2" + b"\x32\x06retail",
    ]
    letters = {record.value: record.header("__connect.errors.exception.class.name") for record in workplace.read_dead()}
    kinds = ("IncompatibleSchema", "UnknownSchema", "MalformedValue", "MalformedValue")
    assert letters == dict(zip(dead, (f"brokernat.{kind}".encode() for kind in kinds), strict=True))
    # A message that the columns do not need is no change of theirs.
    changed = "`decode`, or the file or the subject of its schema has changed since the last start: it applies"
    assert changed not in " ".join(same.split())
    assert changed in " ".join(other.split())
