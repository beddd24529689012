"""A pipeline of Avro records: real brokers behind dead addresses, and a real registry behind one, too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.integration.pipelines.conftest import Workplace, sources
from tests.integration.steps import plain_avro
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
    # The name is dead: the map of either cluster leads to the registry.
    port = urlsplit(registry).port
    login = {"basic.auth.user.info": "me:canary"}
    named = {"url": registry.replace("127.0.0.1", "registry.invalid"), "client": login}
    for name in ("hq", "local"):
        given = workplace.world.clusters[name].cluster.address_map
        rules = [str(rule) for rule in given.rules] if given else []
        workplace.rules[name] = [*rules, f"registry.invalid:{port} = 127.0.0.1:{port}"]
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
