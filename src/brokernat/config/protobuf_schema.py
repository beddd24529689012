"""A Protobuf message as the columns that a pipeline gets of it, in Spark's DDL.

The schema is a file that `protoc --descriptor_set_out --include_imports` writes, or comes from a registry. Either is
made the JSON that `ProtobufSchema.java` reads, with the types that the message needs::

    {"message": "acme.Order", "index": [0], "enums": {"acme.State": {"NEW": 0}}, "messages": {"acme.Order": [
        {"name": "id", "number": 1, "label": "implicit", "type": "string"},
        {"name": "notes", "number": 2, "label": "map", "key": "string", "type": "acme.Note"},
        {"name": "card", "number": 3, "label": "optional", "type": "string", "oneof": "payment"}]}}

`index` is the message's place among those of its file, by which Confluent's wire format names it. A label is
`implicit` (absent is zero), `optional` (absent is null), `required`, `repeated` or `map`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from brokernat.config.record_schema import RecordSchema, UnreadableTypeError, quoted
from brokernat.errors import ConfigError, Finding
from brokernat.paths import reading

_SCALARS = {
    "double": "DOUBLE",
    "float": "FLOAT",
    "int32": "INT",
    "sint32": "INT",
    "sfixed32": "INT",
    "uint32": "BIGINT",
    "fixed32": "BIGINT",
    "int64": "BIGINT",
    "sint64": "BIGINT",
    "sfixed64": "BIGINT",
    "uint64": "DECIMAL(20,0)",
    "fixed64": "DECIMAL(20,0)",
    "bool": "BOOLEAN",
    "string": "STRING",
    "bytes": "BINARY",
}
_WELL_KNOWN = {
    "google.protobuf.Timestamp": "TIMESTAMP",
    "google.protobuf.Duration": "INTERVAL DAY TO SECOND",
    "google.protobuf.DoubleValue": "DOUBLE",
    "google.protobuf.FloatValue": "FLOAT",
    "google.protobuf.Int32Value": "INT",
    "google.protobuf.UInt32Value": "BIGINT",
    "google.protobuf.Int64Value": "BIGINT",
    "google.protobuf.UInt64Value": "DECIMAL(20,0)",
    "google.protobuf.BoolValue": "BOOLEAN",
    "google.protobuf.StringValue": "STRING",
    "google.protobuf.BytesValue": "BINARY",
}
_LEAVE_OUT = "leave the field out of the schema file: Protobuf passes over fields that it does not name"


def read_protobuf_schema(path: str, message: str | None) -> RecordSchema:
    """The schema of a message in a file of descriptors.

    Args:
        path: the file.
        message: the full name, such as `acme.Order`; None for the only message of the last file that protoc was given.

    Raises:
        ConfigError: it cannot be read, it is no set of descriptors, it lacks the message, or fields of the message
            have no column type.
    """
    with reading(path, "the Protobuf descriptors"):
        data = Path(path).read_bytes()
    text = json.dumps(_Descriptors(data).schema(message), separators=(",", ":"))
    return RecordSchema(text, protobuf_columns(text))


def protobuf_columns(text: str) -> str:
    """The columns of a message as DDL, from the JSON above: `id STRING NOT NULL, paid TIMESTAMP`.

    Raises:
        ConfigError: fields have no column type; one finding for each.
    """
    types = _Types(json.loads(text))
    columns: list[str] = []
    refused: list[Finding] = []
    for field in types.fields(types.message):
        try:
            columns.append(f"{quoted(field['name'])} {types.member(field, field['name'], (types.message,))}")
        except UnreadableTypeError as found:
            refused.append(found.finding)
    if refused:
        raise ConfigError(*refused)
    if not columns:
        raise _no_schema(f"message `{types.message}` has no fields")
    return ", ".join(columns)


class _Types:
    """Types of a schema as DDL."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.message: str = schema["message"]
        self._messages: Mapping[str, Sequence[Mapping[str, Any]]] = schema["messages"]
        self._enums: Mapping[str, Any] = schema["enums"]

    def fields(self, message: str) -> Sequence[Mapping[str, Any]]:
        return self._messages[message]

    def member(self, field: Mapping[str, Any], label: str, inside: tuple[str, ...]) -> str:
        """A field's type, with NOT NULL where it always has a value."""
        match field["label"]:
            case "map":
                key = self.type(field["key"], label, inside)
                return f"MAP<{key}, {self.type(field['type'], f'{label}[]', inside)}> NOT NULL"
            case "repeated":
                return f"ARRAY<{self.type(field['type'], f'{label}[]', inside)}> NOT NULL"
            case "optional":
                return self.type(field["type"], label, inside)
        return f"{self.type(field['type'], label, inside)} NOT NULL"

    def type(self, name: str, label: str, inside: tuple[str, ...]) -> str:
        """A type without its nullability, `inside` of these messages."""
        if known := _SCALARS.get(name) or _WELL_KNOWN.get(name):
            return known
        if name in self._enums:
            return "STRING"
        if name in inside:
            raise UnreadableTypeError(label, f"message `{name}` holds itself, which no column type does", _LEAVE_OUT)
        if name == "group":
            raise UnreadableTypeError(label, "a group has no column type", _LEAVE_OUT)
        if name not in self._messages:
            hint = "write the file with `protoc --include_imports`"
            raise UnreadableTypeError(label, f"the schema has no type `{name}`", hint)
        fields = []
        for field in self._messages[name]:
            inner = self.member(field, f"{label}.{field['name']}", (*inside, name))
            fields.append(f"{quoted(field['name'])}: {inner}")
        if not fields:
            raise UnreadableTypeError(label, f"message `{name}` has no fields", _LEAVE_OUT)
        return f"STRUCT<{', '.join(fields)}>"


_LABELS = {2: "required", 3: "repeated"}
_TYPES = (
    "", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "message",
    "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64",
)  # fmt: skip
"""By their numbers in descriptor.proto (FieldDescriptorProto.Type)."""


class _Message(NamedTuple):
    """A DescriptorProto in its file."""

    fields: dict[int, list[Any]]
    path: tuple[int, ...]
    is_proto3: bool

    @property
    def is_map_entry(self) -> bool:
        return any(_number(_parsed(options), 7) for options in self.fields.get(7, ()))


class _Descriptors:
    """A FileDescriptorSet; the numbers are those of google/protobuf/descriptor.proto."""

    def __init__(self, data: bytes) -> None:
        self._messages: dict[str, _Message] = {}
        self._enums: dict[str, dict[str, int]] = {}
        self._last: list[str] = []
        try:
            for file in _parsed(data)[1]:
                self._read_file(_parsed(file))
        except (_NotProtobuf, KeyError, IndexError, UnicodeDecodeError):
            raise _no_schema("it is not what `protoc --descriptor_set_out` writes") from None

    def _read_file(self, file: dict[int, list[Any]]) -> None:
        syntax = _text(file, 12) or "proto2"
        if syntax == "editions":
            raise _no_schema(f"`{_text(file, 1)}` has an edition, which is not supported; proto2 and proto3 are")
        package = _text(file, 2)
        self._read_enums(file.get(5, ()), package)
        self._last = [
            self._read_message(_parsed(each), package, (place,), syntax == "proto3")
            for place, each in enumerate(file.get(4, ()))
        ]

    def _read_message(
        self,
        message: dict[int, list[Any]],
        scope: str,
        index: tuple[int, ...],
        is_proto3: bool,
    ) -> str:
        name = f"{scope}.{_text(message, 1)}".lstrip(".")
        self._messages[name] = _Message(message, index, is_proto3)
        self._read_enums(message.get(4, ()), name)
        place = 0
        for each in map(_parsed, message.get(3, ())):
            inner = self._read_message(each, name, (*index, place), is_proto3)
            # An entry of a map is a message that protoc adds; no index counts it.
            place += not self._messages[inner].is_map_entry
        return name

    def _read_enums(self, enums: Sequence[Any], scope: str) -> None:
        for enum in map(_parsed, enums):
            values = {_text(value, 1): _signed(_number(value, 2)) for value in map(_parsed, enum.get(2, ()))}
            self._enums[f"{scope}.{_text(enum, 1)}".lstrip(".")] = values

    def schema(self, message: str | None) -> dict[str, Any]:
        """A message with all types that it needs, as the JSON above."""
        if message is None and len(self._last) != 1:
            hint = f"name one of them: `message: {self._last[0]}`" if self._last else None
            raise ConfigError(Finding("no-message", f"the schema has {len(self._last)} messages", hint))
        name = self._last[0] if message is None else message
        if name not in self._messages:
            raise ConfigError(Finding("no-message", f"the schema has no message `{name}`", self._names()))
        messages: dict[str, Any] = {}
        enums: dict[str, Any] = {}
        wanted = [name]
        while wanted:
            each = wanted.pop()
            if each in self._enums:
                enums[each] = self._enums[each]
            elif each in self._messages and each not in messages and each not in _WELL_KNOWN:
                messages[each] = list(self._fields(self._messages[each]))
                wanted += [field["type"] for field in messages[each]]
        return {"message": name, "index": self._messages[name].path, "enums": enums, "messages": messages}

    def _names(self) -> str:
        return "it has " + ", ".join(f"`{each}`" for each in self._last)

    def _fields(self, message: _Message) -> Iterator[dict[str, Any]]:
        oneofs = [_text(_parsed(each), 1) for each in message.fields.get(8, ())]
        for field in map(_parsed, message.fields.get(2, ())):
            kind = _TYPES[_number(field, 5)]
            type_name = _text(field, 6).lstrip(".") if kind in ("message", "enum") else kind
            found = {"name": _text(field, 1), "number": _number(field, 3), "type": type_name}
            oneof = oneofs[_number(field, 9)] if 9 in field and not _number(field, 17) else None
            if kind == "message" and type_name in self._messages and self._messages[type_name].is_map_entry:
                key, value = self._fields(self._messages[type_name])
                found |= {"label": "map", "key": key["type"], "type": value["type"]}
            elif label := _LABELS.get(_number(field, 4)):
                found["label"] = label
            else:
                has_presence = not message.is_proto3 or kind == "message" or 9 in field
                found["label"] = "optional" if has_presence else "implicit"
            yield found if oneof is None else found | {"oneof": oneof}


class _NotProtobuf(Exception):  # noqa: N818 - it is caught in this module
    """Bytes are no message in Protobuf's encoding."""


def _parsed(data: Any) -> dict[int, list[Any]]:
    """The fields of a message by number; numbers are int, all else is bytes."""
    if not isinstance(data, bytes):
        raise _NotProtobuf
    found: dict[int, list[Any]] = {}
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while place < len(data) and shift < 64:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise _NotProtobuf

    while place < len(data):
        number, wire = divmod(varint(), 8)
        if wire == 0:
            found.setdefault(number, []).append(varint())
            continue
        if wire not in (1, 2, 5):
            raise _NotProtobuf
        length = varint() if wire == 2 else 8 if wire == 1 else 4
        if length > len(data) - place:
            raise _NotProtobuf
        found.setdefault(number, []).append(data[place : place + length])
        place += length
    return found


def _number(fields: Mapping[int, list[Any]], number: int) -> int:
    value = fields.get(number, [0])[-1]
    if not isinstance(value, int):
        raise _NotProtobuf
    return value


def _text(fields: Mapping[int, list[Any]], number: int) -> str:
    value = fields.get(number, [b""])[-1]
    if not isinstance(value, bytes):
        raise _NotProtobuf
    return value.decode()


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _no_schema(what: str) -> ConfigError:
    return ConfigError(Finding("bad-schema", f"this is no Protobuf schema that can be read: {what}"))
