"""Converts a Protobuf message to columns in Spark's DDL.

The schema is a file of `protoc --descriptor_set_out --include_imports`, or comes from a registry. `ProtobufSchema.java`
gets it as JSON: `{"message": "acme.Order", "descriptors": BASE64}`, where the descriptors are a FileDescriptorSet.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError

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
    "enum": "STRING",
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
_LEAVE_OUT = "leave the field out of the schema file: Protobuf ignores fields that it does not name"


def read_protobuf_schema(path: str, message: str | None) -> RecordSchema:
    """The schema of a message in a file of descriptors.

    Args:
        path: the file.
        message: the full name, such as `acme.Order`; None for the only message of the last file of protoc's command.

    Raises:
        ConfigError: it cannot be read, it is no set of descriptors, it lacks the message, or fields of the message
            have no column type.
    """
    with reading(path, "the Protobuf descriptors"):
        data = Path(path).read_bytes()
    try:
        files = FileDescriptorSet.FromString(data)
        if not files.file:
            raise DecodeError
        columns = _Columns(files)
    except (DecodeError, UnicodeDecodeError):
        hint = "write it with `protoc --include_imports --descriptor_set_out=FILE`"
        raise _no_schema("it is not what `protoc --descriptor_set_out` writes", hint) from None
    for file in files.file:
        file.ClearField("source_code_info")
    descriptors = base64.b64encode(files.SerializeToString()).decode()
    return schema_of_descriptors(json.dumps({"message": message or columns.only_message(), "descriptors": descriptors}))


def schema_of_descriptors(text: str) -> RecordSchema:
    """The schema of the JSON above, with columns such as `id STRING NOT NULL, paid TIMESTAMP`.

    Raises:
        ConfigError: fields have no column type; one finding for each.
    """
    schema = json.loads(text)
    files = FileDescriptorSet.FromString(base64.b64decode(schema["descriptors"]))
    columns = _Columns(files)
    ddl = columns.of(schema["message"])
    return RecordSchema(text, ddl, " ".join(columns.read))


class _Columns:
    """Messages of a FileDescriptorSet as DDL."""

    def __init__(self, files: FileDescriptorSet) -> None:
        self._messages: dict[str, tuple[DescriptorProto, bool]] = {}
        """By full name; whether absent numbers and texts of it are zero (proto3)."""
        self._enums: dict[str, EnumDescriptorProto] = {}
        self._last: list[str] = []
        self.read: list[str] = []
        """Only the parts of the files that define the columns."""
        for file in files.file:
            if file.syntax == "editions":
                hint = 'write `syntax = "proto3";` in place of the edition'
                raise _no_schema(f"`{file.name}` has an edition; only proto2 and proto3 are supported", hint)
            scope = f"{file.package}." if file.package else ""
            self._last = [scope + each.name for each in file.message_type]
            for each in file.message_type:
                self._add(each, scope, file.syntax == "proto3")
            self._enums |= {scope + each.name: each for each in file.enum_type}

    def _add(self, message: DescriptorProto, scope: str, is_proto3: bool) -> None:
        self._messages[scope + message.name] = (message, is_proto3)
        self._enums |= {f"{scope}{message.name}.{each.name}": each for each in message.enum_type}
        for inner in message.nested_type:
            self._add(inner, f"{scope}{message.name}.", is_proto3)

    def only_message(self) -> str:
        """The message of the last file."""
        if len(self._last) != 1:
            hint = f"name one of them: `message: {self._last[0]}`" if self._last else None
            raise ConfigError(Finding("no-message", f"the schema has {len(self._last)} messages", hint))
        return self._last[0]

    def of(self, message: str) -> str:
        """The columns of a message."""
        if message not in self._messages:
            hint = "it has " + ", ".join(f"`{each}`" for each in self._last)
            raise ConfigError(Finding("no-message", f"the schema has no message `{message}`", hint))
        self.read.append(message)
        declared, is_proto3 = self._messages[message]
        columns: list[str] = []
        refused: list[Finding] = []
        for field in declared.field:
            try:
                columns.append(f"{quoted(field.name)} {self._member(field, is_proto3, field.name, (message,))}")
            except UnreadableTypeError as found:
                refused.append(found.finding)
        if refused:
            raise ConfigError(*refused)
        if not columns:
            raise _no_schema(f"message `{message}` has no fields", "choose one with fields: `message: package.Name`")
        return ", ".join(columns)

    def _member(self, field: FieldDescriptorProto, is_proto3: bool, label: str, inside: tuple[str, ...]) -> str:
        """A field's type, with NOT NULL if it always has a value."""
        for part in (field, self._enums.get(field.type_name.lstrip("."), EnumDescriptorProto())):
            self.read.append(part.SerializeToString(deterministic=True).hex())
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            entry, _ = self._messages.get(field.type_name.lstrip("."), (DescriptorProto(), False))
            if entry.options.map_entry:
                key, value = entry.field
                return f"MAP<{self._type(key, label, inside)}, {self._type(value, f'{label}[]', inside)}> NOT NULL"
            return f"ARRAY<{self._type(field, f'{label}[]', inside)}> NOT NULL"
        has_presence = not is_proto3 or field.proto3_optional or field.HasField("oneof_index")
        is_optional = has_presence and field.label != FieldDescriptorProto.LABEL_REQUIRED
        is_null = is_optional or field.type == FieldDescriptorProto.TYPE_MESSAGE
        return self._type(field, label, inside) + ("" if is_null else " NOT NULL")

    def _type(self, field: FieldDescriptorProto, label: str, inside: tuple[str, ...]) -> str:
        """A type without its nullability; `inside` lists the enclosing messages."""
        name = field.type_name.lstrip(".")
        kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
        if known := _SCALARS.get(kind) or _WELL_KNOWN.get(name):
            return known
        if kind == "group":
            raise UnreadableTypeError(label, "a group has no column type", _LEAVE_OUT)
        if name in inside:
            raise UnreadableTypeError(
                label, f"message `{name}` is recursive, which no column type supports", _LEAVE_OUT
            )
        if name not in self._messages:
            hint = "write the file with `protoc --include_imports`"
            raise UnreadableTypeError(label, f"the schema has no type `{name}`", hint)
        message, is_proto3 = self._messages[name]
        if not message.field:
            raise UnreadableTypeError(label, f"message `{name}` has no fields", _LEAVE_OUT)
        members = (
            f"{quoted(each.name)}: {self._member(each, is_proto3, f'{label}.{each.name}', (*inside, name))}"
            for each in message.field
        )
        return f"STRUCT<{', '.join(members)}>"


def _no_schema(what: str, hint: str) -> ConfigError:
    return ConfigError(Finding("bad-schema", f"invalid Protobuf schema: {what}", hint))
