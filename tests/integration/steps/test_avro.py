"""Avro to columns: against a plain decoder, through schemas that have changed, and with a registry."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.steps import plain_avro

from brokernat.config import Secret
from brokernat.config.avro_schema import avro_columns
from brokernat.pipelines.prepared import parse_schema
from brokernat.pipelines.steps.formats import Registry, SchemaValues, decode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = [pytest.mark.spark, pytest.mark.conformance]

MUTATED = 2_000
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}


def record(**fields: Any) -> dict[str, Any]:
    return {
        "type": "record",
        "name": "Order",
        "fields": [{"name": n, "type": declared} for n, declared in fields.items()],
    }


EVERYTHING = record(
    b="boolean",
    i="int",
    l="long",
    f="float",
    d="double",
    s="string",
    y="bytes",
    n=["null", "string"],
    m=["int", "null"],
    e={"type": "enum", "name": "E", "symbols": ["A", "B"]},
    x={"type": "fixed", "name": "X", "size": 3},
    p=PRICE,
    q={"type": "fixed", "name": "Q", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 0},
    a={"type": "array", "items": ["null", "long"]},
    o={"type": "map", "values": {"type": "array", "items": "string"}},
    r={"type": "record", "name": "Inner", "fields": [{"name": "u", "type": "string"}, {"name": "v", "type": "double"}]},
)
VALUE: dict[str, Any] = {
    "b": True, "i": -2147483648, "l": 9223372036854775807, "f": 1.5, "d": -0.1, "s": "é😀", "y": b"\x00\xff",
    "n": None, "m": 7, "e": "B", "x": b"abc", "p": Decimal("-123.45"), "q": Decimal(99), "a": [1, None, -3],
    "o": {"k": ["x", ""], "": []}, "r": {"u": "", "v": 1e300},
}  # fmt: skip


@pytest.fixture
def decoded(envelopes: Callable[..., DataFrame]) -> Callable[..., list[Any]]:
    """`decoded(values, schema, registry)`: of each record its kind and message, or its columns."""

    def decoded(values: list[bytes | None], schema: dict[str, Any], registry: Registry | None = None) -> list[Any]:
        text = json.dumps(schema)
        frame = decode(envelopes(values), parse_schema(avro_columns(text)), SchemaValues("avro", text, registry))
        rows = frame.orderBy("brokernat_src.offset").drop("brokernat_src", "brokernat_value").collect()
        found = [row.asDict(recursive=True) for row in rows]
        for row in found:
            fault = row.pop("brokernat_fault")
            if fault is not None:
                assert not any(value is not None for value in row.values())
                row["fault"] = (fault["kind"], fault["message"])
        return [row.get("fault") or {n: plain(value) for n, value in row.items()} for row in found]

    return decoded


def plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


def shown(value: Any) -> str:
    """A value by its text, because NaN is not itself; maps without the order of their keys."""
    if isinstance(value, dict):
        return repr(sorted((key, shown(each)) for key, each in value.items()))
    return repr(value)


def mutated(dice: random.Random, value: bytes) -> bytes | None:
    data = bytearray(value)
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(data) + 1)
        match dice.randrange(5):
            case 0:
                data[place : place + 1] = bytes([dice.choice([0, 1, 2, 3, 0x7F, 0x80, 0xFF, dice.randrange(256)])])
            case 1:
                data[place:place] = dice.choice([b"\xff" * 9 + b"\x01", b"\xfe\xff\xff\xff\x0f", b"\0", b"\xff" * 11])
            case 2:
                del data[place : place + dice.randint(1, 9)]
            case 3:
                del data[place:]
            case 4:
                data += data[:place]
        if not data:
            return dice.choice([b"", None])
    return bytes(data)


def test_it_reads_and_refuses_what_the_plain_decoder_does(decoded: Callable[..., list[Any]]) -> None:
    dice = random.Random(7)
    well = plain_avro.encode(EVERYTHING, VALUE)
    values = [well, None, b"", *(mutated(dice, well) for _ in range(MUTATED))]
    kinds = set()
    for value, found in zip(values, decoded(values, EVERYTHING), strict=True):
        expected = plain_avro.decode(EVERYTHING, value)
        kinds.add(expected if isinstance(expected, str) else "")
        assert shown(found[0] if isinstance(found, tuple) else found) == shown(expected), value
    assert kinds == {"", "Tombstone", "MalformedValue", "WrongType"}
    assert decoded([well], EVERYTHING) == [VALUE]


def test_times_are_those_of_spark(decoded: Callable[..., list[Any]]) -> None:
    logical = {"date": "int"} | dict.fromkeys(
        ("timestamp-millis", "timestamp-micros", "local-timestamp-micros"), "long"
    )
    schema = record(**{name.replace("-", "_"): {"type": of, "logicalType": name} for name, of in logical.items()})
    moment = 1_767_600_000_123_456
    number = {
        "date": 20458,
        "timestamp_millis": moment // 1000,
        "timestamp_micros": moment,
        "local_timestamp_micros": moment,
    }
    far = number | {"timestamp_millis": 1 << 60}
    found, fault = decoded([plain_avro.encode(schema, value) for value in (number, far)], schema)
    at = dt.datetime(2026, 1, 5, 8, 0, 0, 123_456)  # noqa: DTZ001
    assert found == {
        "date": dt.date(2026, 1, 5),
        "timestamp_millis": at.replace(microsecond=123_000),
        "timestamp_micros": at,
        "local_timestamp_micros": at,
    }
    assert fault == ("WrongType", f"field `timestamp_millis`: expected TIMESTAMP, found {1 << 60} milliseconds")


@contextmanager
def registry_of(answers: dict[str, Any], asked: list[tuple[str, str | None]] | None = None) -> Iterator[str]:
    """A server that gives each path its answer: an object, or a status with an object or text."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if asked is not None:
                asked.append((self.path, self.headers.get("Authorization")))
            unknown = (404, {"error_code": 40403, "message": "Schema not found"})
            answer = answers.get(self.path, unknown)
            if isinstance(answer, list):
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
            status, content = answer if isinstance(answer, tuple) else (200, answer)
            body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def wire(schema_id: int, schema: dict[str, Any], value: dict[str, Any]) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + plain_avro.encode(schema, value)


def test_each_record_is_read_by_its_own_schema(decoded: Callable[..., list[Any]]) -> None:
    older = record(extra="string", amount="int", name="string")
    newer = record(name="string", amount="long", later=["null", "string"], more={"type": "array", "items": "string"})
    other = record(name="string")
    optional = record(name=["null", "string"], amount="int")
    mine = record(name="string", amount="double")
    mine["fields"].append({"name": "later", "type": ["null", "string"], "default": None})
    answers = {f"/schemas/ids/{n}": {"schema": json.dumps(s)} for n, s in enumerate((older, newer, other, optional), 1)}
    answers["/schemas/ids/5"] = {"schemaType": "PROTOBUF", "schema": "message M {}"}
    answers["/schemas/ids/6"] = {"schema": "{"}
    asked: list[tuple[str, str | None]] = []
    values = [
        wire(1, older, {"extra": "x", "amount": 3, "name": "a"}),
        wire(2, newer, {"name": "b", "amount": 4, "later": "l", "more": ["x", "y", "z"]}),
        wire(3, other, {"name": "c"}),
        wire(4, optional, {"name": "d", "amount": 1}),
        wire(4, optional, {"name": None, "amount": 1}),
        wire(5, other, {"name": "c"}),
        wire(6, other, {"name": "c"}),
        wire(7, other, {"name": "c"}),
        b"\x01" + wire(3, other, {"name": "c"})[1:],
        b"\0\0\0",
        wire(2, newer, {"name": "b", "amount": 4, "later": None, "more": []})[:-1],
        None,
    ]
    with registry_of(answers, asked) as url:
        found = decoded(values, mine, Registry(url))
    assert found[:2] == [{"name": "a", "amount": 3.0, "later": None}, {"name": "b", "amount": 4.0, "later": "l"}]
    assert found[3] == {"name": "d", "amount": 1.0, "later": None}
    assert [row if isinstance(row, dict) else row[0] for row in (found[2], *found[4:])] == [
        "IncompatibleSchema", "IncompatibleSchema", "UnknownSchema", "UnknownSchema", "UnknownSchema", "MalformedValue",
        "MalformedValue", "MalformedValue", "Tombstone",
    ]  # fmt: skip
    assert "schema id 3" in found[2][1]
    assert "amount" in found[2][1]
    assert found[5][1] == "the schema with the id 5 is PROTOBUF, not AVRO"
    assert found[7][1] == "the schema registry has no schema with the id 7"
    # Both tasks want the same answers, and the driver's JVM is their own.
    assert sorted(asked) == [(f"/schemas/ids/{n}", None) for n in range(1, 8)]


def test_a_schema_may_refer_to_others(decoded: Callable[..., list[Any]]) -> None:
    unit = {"type": "enum", "name": "Unit", "namespace": "shop", "symbols": ["KG", "L"]}
    price = {"type": "record", "name": "Price", "namespace": "shop", "fields": [{"name": "unit", "type": "shop.Unit"}]}
    order = record(price="shop.Price")
    answers = {
        "/schemas/ids/1": {
            "schema": json.dumps(order), "references": [{"name": "shop.Price", "subject": "a price", "version": 2}],
        },
        "/subjects/a%20price/versions/2": {
            "schema": json.dumps(price), "references": [{"name": "shop.Unit", "subject": "unit", "version": 1}],
        },
        "/subjects/unit/versions/1": {"schema": json.dumps(unit)},
    }  # fmt: skip
    whole = record(price=price | {"fields": [{"name": "unit", "type": unit}]})
    with registry_of(answers) as url:
        found = decoded([wire(1, whole, {"price": {"unit": "L"}})], whole, Registry(url))
    assert found == [{"price": {"unit": "L"}}]


def test_a_registry_that_comes_back_is_waited_for_and_asked_with_its_login(decoded: Callable[..., list[Any]]) -> None:
    schema = record(name="string")
    well = {"schema": json.dumps(schema)}
    asked: list[tuple[str, str | None]] = []
    with registry_of({"/api/schemas/ids/1": [(503, "busy"), (500, {"error_code": 50001}), well]}, asked) as url:
        host = url.removeprefix("http://")
        # The address is where the map leads to: nothing answers under the URL's own host.
        registry = Registry("http://registry.invalid:8081/api", host, Secret("Bearer canary"))
        assert decoded([wire(1, schema, {"name": "a"})], schema, registry) == [{"name": "a"}]
    assert asked == [("/api/schemas/ids/1", "Bearer canary")] * 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, "<html>nginx</html>"), "HTTP status 404"),
        ((404, {"error": "no such page"}), "HTTP status 404"),
        ((401, {"error_code": 401}), "HTTP status 401"),
        ((302, ""), "HTTP status 302"),
        ((200, "[]"), "HTTP status 200 without a JSON object"),
    ],
)
def test_no_record_is_blamed_for_a_registry_that_is_none(
    decoded: Callable[..., list[Any]], answer: object, words: str
) -> None:
    schema = record(name="string")
    with registry_of({"/schemas/ids/1": answer}) as url, pytest.raises(Exception, match=words) as caught:
        decoded([wire(1, schema, {"name": "a"})], schema, Registry(url, None, Secret("Basic canary")))
    assert url in str(caught.value)
    assert "canary" not in str(caught.value)


def test_an_unknown_schema_stops_where_that_is_wanted(decoded: Callable[..., list[Any]]) -> None:
    schema = record(name="string")
    with registry_of({}) as url, pytest.raises(Exception, match="no schema with the id 1") as caught:
        decoded([wire(1, schema, {"name": "a"})], schema, Registry(url, stops_on_unknown=True))
    assert "on_unknown_schema: stop" in str(caught.value)


def test_spark_shows_neither_login_nor_url(envelopes: Callable[..., DataFrame]) -> None:
    text = json.dumps(record(name="string"))
    registry = Registry("http://secret.host", None, Secret("Basic canary"))
    frame = decode(envelopes([b""]), parse_schema(avro_columns(text)), SchemaValues("avro", text, registry))
    plans = frame._jdf.queryExecution().toString()
    assert "canary" not in plans
    assert "secret.host" not in plans
