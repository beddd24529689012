"""Protobuf to columns and back: against a plain decoder, through schemas that have changed, and with a registry."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.steps import plain_protobuf
from tests.integration.steps.plain_protobuf import varint, zigzag
from tests.integration.steps.test_avro import mutated, plain, registry_of, shown
from tests.integration.steps.test_avro_tags import rows
from tests.support.protobuf_schemas import schema_of_text, schema_text

from brokernat.config.model import Decode, Sink
from brokernat.config.protobuf_schema import read_protobuf_schema, schema_of_descriptors
from brokernat.errors import ConfigError
from brokernat.pipelines.prepared import parse_schema
from brokernat.pipelines.steps.formats import Registry, SchemaTags, SchemaValues, decode
from brokernat.pipelines.steps.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.conformance]

MUTATED = 2_000
VECTORS = Path(__file__).parents[2] / "vectors" / "protobuf"
ORDER = read_protobuf_schema(str(VECTORS / "order.desc"), "acme.shop.Order").text
WRITTEN = (VECTORS / "order.bin").read_bytes()
"""By Google's library for Python, with a value in each field."""


def fields(**types: str) -> list[dict[str, Any]]:
    """Fields in their order from number 1 on: `optional int32`, or a type alone."""
    split = {name: declared.split() for name, declared in types.items()}
    return [
        {"name": name, "number": number, "type": words[-1], "label": words[0] if len(words) > 1 else "implicit"}
        for number, (name, words) in enumerate(split.items(), 1)
    ]


def order(*members: dict[str, Any], **types: str) -> dict[str, Any]:
    return {"message": "Order", "enums": {}, "messages": {"Order": list(members) or fields(**types)}}


def schema_of(*members: dict[str, Any], **types: str) -> str:
    return schema_text(order(*members, **types))


@pytest.fixture
def decoded(envelopes: Callable[..., DataFrame]) -> Callable[..., list[Any]]:
    """`decoded(values, schema, registry)`: of each record its kind and message, or its columns."""

    def decoded(values: list[bytes | None], schema: str, registry: Registry | None = None) -> list[Any]:
        frame = decode(
            envelopes(values),
            parse_schema(schema_of_descriptors(schema).columns),
            SchemaValues("protobuf", schema, registry),
        )
        rows = frame.orderBy("brokernat_src.offset").drop("brokernat_src", "brokernat_value").collect()
        found = [row.asDict(recursive=True) for row in rows]
        for row in found:
            fault = row.pop("brokernat_fault")
            if fault is not None:
                assert not any(value is not None for value in row.values())
                row["fault"] = (fault["kind"], fault["message"])
        return [row.get("fault") or {n: plain(value) for n, value in row.items()} for row in found]

    return decoded


def test_it_reads_and_refuses_what_the_plain_decoder_does(decoded: Callable[..., list[Any]]) -> None:
    dice = random.Random(7)
    schema = schema_of_text(ORDER)
    value = plain_protobuf.decode(schema, WRITTEN)
    assert isinstance(value, dict)
    well = plain_protobuf.encode(schema, value)
    values = [WRITTEN, well, well + well, None, b"", *(mutated(dice, well) for _ in range(MUTATED))]
    kinds = set()
    for each, found in zip(values, decoded(values, ORDER), strict=True):
        expected = plain_protobuf.decode(schema, each)
        kinds.add(expected if isinstance(expected, str) else "")
        assert shown(found[0] if isinstance(found, tuple) else found) == shown(expected), each
    assert kinds == {"", "Tombstone", "MalformedValue", "WrongType"}
    assert decoded([WRITTEN], ORDER) == [value]
    assert value["id"] == "é😀"
    assert str(value["ul"]) == "18446744073709551615"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"\x08" + varint(1 << 31), "field `i`: expected int32, found 2147483648"),
        (b"\x10" + varint(-1), "field `u`: expected uint32, found -1"),
        (b"\x18\x02", "field `b`: expected BOOLEAN, found 2"),
        (b"\x22\x01\xff", "field `s`: expected STRING, found bytes that are not UTF-8"),
        (b"\x0d\0\0\0\0", "the value does not fit the schema: field `i` has the wire type 5, not 0"),
        (b"\x22\xff\xff\xff\xff\x0f", "the value does not fit the schema: the value ends too early"),
        (b"\x22" + varint(-1), "the value does not fit the schema: a length is negative"),
        (b"\x08" + b"\xff" * 11, "the value does not fit the schema: a number has more than ten bytes"),
        (b"\0", "the value does not fit the schema: there is no field with the number 0"),
        (b"\x7b" * 101, "the value does not fit the schema: more than 100 groups are inside of each other"),
        (b"\x7b\x74", "the value does not fit the schema: a group ends that has not begun"),
        (b"\x7e", "the value does not fit the schema: there is no wire type 6"),
    ],
)
def test_a_fault_has_its_sentence(decoded: Callable[..., list[Any]], value: bytes, words: str) -> None:
    schema = schema_of(i="int32", u="uint32", b="bool", s="string")
    kind = "WrongType" if words.startswith("field") else "MalformedValue"
    # What no column needs is passed over, also a group.
    assert decoded([value, b"\x7b\x7b\x08\x01\x7c\x7c\x08\x05"], schema) == [
        (kind, words),
        {"i": 5, "u": 0, "b": False, "s": ""},
    ]


def wire(schema_id: int, schema: dict[str, Any], value: dict[str, Any], *index: int) -> bytes:
    path = zigzag(len(index)) + b"".join(map(zigzag, index)) if index else b"\0"
    return b"\0" + schema_id.to_bytes(4, "big") + path + plain_protobuf.encode(schema, value)


MINE = """
syntax = "proto3";
message Order { string name = 1; double amount = 2; optional int64 count = 3; State state = 4; repeated int32 more = 5;}
enum State { NONE = 0; OLD = 1; }
"""
OLDER = """
message Order { optional float amount = 2; required bytes name = 1; message Inner {} optional group G = 9 {} }
"""
NEWER = """
syntax = "proto3"; import "state.proto";
message First { string text = 1; }
message Order { sint32 count = 3; string name = 1; other.State state = 4; string extra = 7; }
"""
STATE = 'syntax = "proto3"; package other; enum State { NOTHING = 0; GONE = 1; NEW = 2; }'
RENUMBERED = 'syntax = "proto3"; message Order { string name = 2; }'
ONE = 'syntax = "proto3"; message Order { int32 more = 5; }'


def test_each_record_is_read_by_its_own_schema(spark: SparkSession, decoded: Callable[..., list[Any]]) -> None:
    def protobuf(text: str, *references: dict[str, Any]) -> dict[str, Any]:
        return {"schemaType": "PROTOBUF", "schema": text, "references": list(references)}

    texts = (MINE, OLDER, NEWER, RENUMBERED, ONE)
    answers: dict[str, Any] = {f"/schemas/ids/{n}": protobuf(text) for n, text in enumerate(texts, 1)}
    answers["/schemas/ids/3"]["references"] = [{"name": "state.proto", "subject": "state", "version": 1}]
    answers["/subjects/state/versions/1"] = protobuf(STATE)
    answers["/subjects/mine/versions/latest"] = protobuf(MINE) | {"id": 1, "version": 1}
    answers["/schemas/ids/6"] = {"schema": '"string"'}
    answers["/schemas/ids/7"] = protobuf("message {")
    answers["/schemas/ids/8"] = protobuf('edition = "2023"; message Order {}')
    older = order(name="bytes", amount="float")
    newer = {
        "message": "Order", "enums": {"State": {"NOTHING": 0, "GONE": 1, "NEW": 2}},
        "messages": {"Order": fields(name="string", skipped="string", count="sint32", state="State")},
    }  # fmt: skip
    bare = order(name="string")
    asked: list[tuple[str, str | None]] = []
    with registry_of(answers, asked) as url:
        registry = Registry(url)
        mine, schema_id = registry.newest("mine", Decode.model_construct(format="protobuf", message=None), spark)
        values = [
            wire(2, older, {"name": b"a", "amount": 1.5}),
            wire(3, newer, {"name": "b", "count": -3, "state": "NEW"}, 1),
            wire(2, older, {"amount": 1.5}),
            wire(3, newer, {"name": "b"}),
            wire(3, newer, {"name": "b"}, 1, 0),
            wire(4, bare, {"name": "c"}),
            wire(5, bare, {"name": "c"}),
            *(wire(number, bare, {"name": "c"}) for number in (6, 7, 8, 9)),
            b"\x01" + wire(1, bare, {"name": "c"})[1:],
            b"\0\0\0\0\1" + zigzag(1 << 40),
            b"\0\0\0\0\1",
            wire(1, bare, {"name": "d"}),
            None,
        ]
        found = decoded(values, mine, registry)
    assert schema_id == 1
    nothing: dict[str, Any] = {"amount": 0.0, "count": None, "state": "NONE", "more": []}
    assert found[:2] == [
        nothing | {"name": "a", "amount": 1.5},
        # The symbol is the one of the writer's schema.
        nothing | {"name": "b", "count": -3, "state": "NEW"},
    ]
    assert found[2] == nothing | {"name": "", "amount": 1.5}
    assert found[14] == nothing | {"name": "d"}
    kinds = ["IncompatibleSchema", "MalformedValue", "IncompatibleSchema", "IncompatibleSchema"]
    kinds += ["UnknownSchema"] * 4 + ["MalformedValue"] * 3
    assert [row[0] for row in found[3:14]] == kinds
    assert [row[1] for row in found[3:11]] == [
        "the value has schema id 3: it is a `First`, expected a `Order`",
        "the value does not fit schema id 3: it has no message at the place that the value names",
        "the value has schema id 4: field `amount`: it is written as string, expected double",
        "the value has schema id 5: field `more`: it is written as a single value, expected repeated",
        "the schema with the id 6 is AVRO, not PROTOBUF",
        "the schema with the id 7 is not one that is read: expected a name, found `{`",
        "the schema with the id 8 is not one that is read: it has an edition, which is not supported; proto2 and "
        "proto3 are",
        "the schema registry has no schema with the id 9",
    ]
    # Both tasks want the same answers, and the driver's JVM is their own.
    assert len(asked) == len(set(asked)) == 11


def test_a_text_is_what_protoc_makes_of_it(spark: SparkSession) -> None:
    texts = {name: (VECTORS / f"{name}.proto").read_text() for name in ("order", "parts")}
    reference = {"name": "parts.proto", "subject": "parts", "version": 3}
    answers: dict[str, Any] = {
        "/subjects/orders-value/versions/latest": {
            "id": 5, "schemaType": "PROTOBUF", "schema": texts["order"], "references": [reference],
        },
        "/subjects/parts/versions/3": {"schemaType": "PROTOBUF", "schema": texts["parts"]},
        "/subjects/other/versions/latest": {"id": 6, "schema": '{"type": "string"}'},
    }  # fmt: skip
    with registry_of(answers) as url:

        def newest(subject: str, message: str | None) -> tuple[str, int]:
            section = Decode.model_construct(format="protobuf", message=message)
            return Registry(url).newest(subject, section, spark)

        text, schema_id = newest("orders-value", "acme.shop.Order")
        assert (schema_of_text(text), schema_id) == (schema_of_text(ORDER), 5)
        assert schema_of_descriptors(text).columns == schema_of_descriptors(ORDER).columns
        for subject, message, words in (
            ("orders-value", None, "has 2 messages: name one of them by `message`: acme.shop.Header, acme.shop.Order"),
            ("orders-value", "acme.None", "has no message `acme.None`; it has acme.shop.Header, acme.shop.Order"),
            ("other", None, "the schema of the subject `other` is AVRO, not PROTOBUF"),
            ("none", None, "has no subject `none`"),
        ):
            with pytest.raises(ConfigError, match=words):
                newest(subject, message)


def tag_values(frame: DataFrame, schema: str, schema_id: int | None = None) -> list[bytes]:
    """The values of the tags of decoded records."""
    sink = Sink(cluster="local", topic="tags", dead_letters="tags.dead")
    tags = SchemaTags("protobuf", schema, parse_schema(schema_of_descriptors(schema).columns), schema_id)
    outgoing = Plan("p", parse_schema("a INT"), sink, tag_format=tags).outgoing(frame)
    assert outgoing is not None
    return [bytes(row["value"]) for row in outgoing.where("topic = 'tags'").collect()]


def test_what_is_read_is_written_again(envelopes: Callable[..., DataFrame]) -> None:
    schema = schema_of_text(ORDER)
    voucher = plain_protobuf.encode(schema, {"voucher": {"article": "v"}, "took": None})
    values = [WRITTEN, b"\xff", voucher, b""]
    frame = decode(
        envelopes(values), parse_schema(schema_of_descriptors(ORDER).columns), SchemaValues("protobuf", ORDER)
    )
    expected = [plain_protobuf.decode(schema, value) for value in (WRITTEN, voucher, b"")]
    assert [plain_protobuf.decode(schema, value) for value in tag_values(frame, ORDER)] == expected
    with_id = tag_values(frame, ORDER, 259)
    assert with_id[2] == b"\0\0\0\1\3\2\2"
    assert plain_protobuf.decode(schema, with_id[0][7:]) == expected[0]


def test_an_id_has_the_place_of_the_message_behind_it(spark: SparkSession) -> None:
    # The entry of a map stands before the message in the descriptors, and has no place.
    trace = read_protobuf_schema(str(VECTORS / "order.desc"), "acme.shop.Header.Trace").text
    assert tag_values(rows(spark, "'x' AS id"), trace, 259) == [b"\0\0\0\1\3\4\0\0\x0a\1x"]
    assert tag_values(rows(spark, "'x' AS a"), schema_of(a="string"), 259) == [b"\0\0\0\1\3\0\x0a\1x"]


@pytest.mark.parametrize(
    ("column", "declared", "words"),
    [
        ("cast(null as int) AS a", "int32", "field `a`: it is null"),
        ("-1L AS a", "uint32", "field `a`: -1 is no unsigned number of 32 bits"),
        ("cast(18446744073709551616 as decimal(20,0)) AS a", "fixed64", "field `a`: 18446744073709551616 is no unsig"),
        ("array('x', null) AS a", "repeated string", "field `a.*`: it is null"),
    ],
)
def test_a_tag_that_does_not_fit_stops(spark: SparkSession, column: str, declared: str, words: str) -> None:
    with pytest.raises(Exception, match=words):
        tag_values(rows(spark, column), schema_of(a=declared))


def test_two_members_of_a_oneof_do_not_fit(spark: SparkSession) -> None:
    members = [each | {"oneof": "one"} for each in fields(a="optional int32", b="optional string")]
    schema = schema_of(*members)
    (value,) = tag_values(rows(spark, "cast(null as int) AS a", "'' AS b"), schema)
    assert value == b"\x12\0"
    with pytest.raises(Exception, match="field `b`: `a` of the same oneof has a value, too"):
        tag_values(rows(spark, "0 AS a", "'' AS b"), schema)
