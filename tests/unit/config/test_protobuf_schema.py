from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.protobuf_schemas import schema_text

from brokernat.config import record_schema
from brokernat.config.model import Decode
from brokernat.config.protobuf_schema import read_protobuf_schema, schema_of_descriptors
from brokernat.errors import ConfigError, MissingToolError

VECTORS = Path(__file__).parents[2] / "vectors" / "protobuf"
DESCRIPTORS = VECTORS / "order.desc"
LINE = "STRUCT<`article`: STRING NOT NULL, `count`: INT NOT NULL, `states`: ARRAY<STRING> NOT NULL>"


def schema(*types: str, **more: list[dict[str, Any]]) -> str:
    """A message `Order` with a field of each type, and others."""
    listed = [{"name": f"f{n}", "number": n, "label": "optional", "type": kind} for n, kind in enumerate(types)]
    return schema_text({"message": "Order", "enums": {}, "messages": {"Order": listed} | more})


def field(kind: str, label: str = "optional") -> dict[str, Any]:
    return {"name": "x", "number": 1, "label": label, "type": kind}


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        schema_of_descriptors(text)
    return [problem.message for problem in caught.value.problems]


def test_each_type_has_a_column_type() -> None:
    columns = read_protobuf_schema(str(DESCRIPTORS), "acme.shop.Order").columns.replace(LINE, "LINE")
    assert columns == (
        "`id` STRING NOT NULL, `b` BOOLEAN NOT NULL, `i` INT NOT NULL, `si` INT NOT NULL, `fi` INT NOT NULL, "
        "`u` BIGINT NOT NULL, `fu` BIGINT NOT NULL, `l` BIGINT NOT NULL, `sl` BIGINT NOT NULL, `fl` BIGINT NOT NULL, "
        "`ul` DECIMAL(20,0) NOT NULL, `ful` DECIMAL(20,0) NOT NULL, `f` FLOAT NOT NULL, `d` DOUBLE NOT NULL, "
        "`y` BINARY NOT NULL, `state` STRING NOT NULL, `maybe` INT, `many` ARRAY<BIGINT> NOT NULL, "
        "`loose` ARRAY<DOUBLE> NOT NULL, `texts` ARRAY<STRING> NOT NULL, `sums` MAP<STRING, BIGINT> NOT NULL, "
        "`by_number` MAP<INT, LINE> NOT NULL, `first` LINE, `lines` ARRAY<LINE> NOT NULL, `card` STRING, "
        "`voucher` LINE, `cash` BOOLEAN, `total` STRUCT<`currency`: STRING NOT NULL, `units`: BIGINT>, `at` TIMESTAMP, "
        "`took` INTERVAL DAY TO SECOND, `note` STRING, `ticket` DECIMAL(20,0), `trace` STRUCT<`id`: STRING NOT NULL>"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (schema("int32", "group"), "field `f1`: a group has no column type"),
        (schema("Elsewhere"), "field `f0`: the schema has no type `Elsewhere`"),
        (schema("Order"), "field `f0`: message `Order` is recursive"),
        (schema("A", A=[field("B", "repeated")], B=[field("A")]), "field `f0.x[].x`: message `A` is recursive"),
        (schema("A", A=[]), "field `f0`: message `A` has no fields"),
        (schema(), "message `Order` has no fields"),
    ],
)
def test_what_has_no_column_type_is_refused_by_name(text: str, words: str) -> None:
    (problem,) = problems(text)
    assert words in problem


def test_every_field_is_refused_at_once() -> None:
    assert [problem.split(":")[0] for problem in problems(schema("A", "int32", "group"))] == [
        "field `f0`",
        "field `f2`",
    ]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (None, "the schema has 2 messages hint: name one of them: `message: acme.shop.Header`"),
        ("Order", "no message `Order` hint: it has `acme.shop.Header`, `acme.shop.Order`"),
    ],
)
def test_the_message_is_one_of_the_schema(message: str | None, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_protobuf_schema(str(DESCRIPTORS), message)
    assert words in " ".join(str(caught.value).split())


def test_what_is_no_set_of_descriptors_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "orders.desc"
    well = DESCRIPTORS.read_bytes()
    parts = [well[:length] for length in range(len(well))]
    for data in (*parts, b'syntax = "proto3";', b'{"type": "record"}', b"\0", b"\x0a\x02\x08", b"\x08\x01"):
        file.write_bytes(data)
        with pytest.raises(ConfigError):
            read_protobuf_schema(str(file), "acme.shop.Order")
    # An edition: file.syntax (12) is `editions`.
    file.write_bytes(b"\x0a\x0a\x62\x08editions")
    with pytest.raises(ConfigError, match="has an edition; only proto2"):
        read_protobuf_schema(str(file), None)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"orders\.desc"):
        read_protobuf_schema(str(tmp_path / "orders.desc"), None)


def test_a_message_that_the_columns_do_not_need_is_not_read() -> None:
    needed = schema_of_descriptors(schema("A", A=[field("int32")])).read
    assert schema_of_descriptors(schema("A", A=[field("int32")], B=[field("int32")])).read == needed
    assert schema_of_descriptors(schema("A", A=[field("sint32")])).read != needed


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_schema, "find_spec", lambda name: None)
    section = Decode.model_construct(format="protobuf", schema_file=str(DESCRIPTORS), message=None)
    with pytest.raises(MissingToolError, match="needs the package `protobuf`") as caught:
        record_schema.read_schema_file(section)
    assert caught.value.hint == "pip install 'brokernat[protobuf]'"
