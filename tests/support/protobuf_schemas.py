"""Schemas of Protobuf messages as tests write and read them, to descriptors and back.

A schema is `{"message": "acme.Order", "enums": {"acme.State": {"NEW": 0}}, "messages": {"acme.Order": [FIELD, ...]}}`.
A field has `name`, `number`, `label` (implicit, optional, required, repeated, map), `type`, `key` (a map's), `oneof`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, cast

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    OneofDescriptorProto,
)


def schema_text(schema: dict[str, Any]) -> str:
    """As `config/protobuf_schema.py` hands it on: one file of proto3 without a package, no maps."""
    file = FileDescriptorProto(name="schema.proto", syntax="proto3")
    for name, symbols in schema["enums"].items():
        values = [EnumValueDescriptorProto(name=symbol, number=number) for symbol, number in symbols.items()]
        file.enum_type.append(EnumDescriptorProto(name=name, value=values))
    for name, fields in schema["messages"].items():
        oneofs = list(dict.fromkeys(field["oneof"] for field in fields if "oneof" in field))
        file.message_type.append(
            DescriptorProto(
                name=name,
                field=[_field(field, oneofs, schema) for field in fields],
                oneof_decl=[OneofDescriptorProto(name=oneof) for oneof in oneofs],
            )
        )
    return _text(schema["message"], FileDescriptorSet(file=[file]))


def _text(message: str, files: FileDescriptorSet) -> str:
    return json.dumps({"message": message, "descriptors": base64.b64encode(files.SerializeToString()).decode()})


def _field(field: dict[str, Any], oneofs: list[str], schema: dict[str, Any]) -> FieldDescriptorProto:
    found = FieldDescriptorProto(name=field["name"], number=field["number"])
    found.label = FieldDescriptorProto.Label.Value(f"LABEL_{field['label']}".upper().replace("IMPLICIT", "OPTIONAL"))
    kind = f"TYPE_{field['type']}".upper()
    if kind in {name for name, _ in FieldDescriptorProto.Type.items()}:
        found.type = FieldDescriptorProto.Type.Value(kind)
    else:
        is_enum = field["type"] in schema["enums"]
        found.type = FieldDescriptorProto.TYPE_ENUM if is_enum else FieldDescriptorProto.TYPE_MESSAGE
        found.type_name = f".{field['type']}"
    if "oneof" in field:
        found.oneof_index = oneofs.index(field["oneof"])
    else:
        found.proto3_optional = field["label"] == "optional"
    return found


def schema_of_text(text: str) -> dict[str, Any]:
    """What Google's library makes of it: the message with all that it needs but the well-known types."""
    content = json.loads(text)
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(base64.b64decode(content["descriptors"])).file:
        pool.Add(file)
    messages: dict[str, Any] = {}
    enums: dict[str, Any] = {}
    wanted = [pool.FindMessageTypeByName(content["message"])]
    while wanted:
        message = wanted.pop()
        if message.full_name in messages or message.full_name.startswith("google.protobuf."):
            continue
        messages[message.full_name] = [dict(_parts(field, enums, wanted)) for field in message.fields]
    return {"message": content["message"], "enums": enums, "messages": messages}


def _parts(field: FieldDescriptor, enums: dict[str, Any], wanted: list[Descriptor]) -> Iterator[tuple[str, Any]]:
    yield from (("name", field.name), ("number", field.number))
    if field.message_type and field.message_type.GetOptions().map_entry:
        key, value = field.message_type.fields
        yield from (("label", "map"), ("key", _type(key, enums, wanted)), ("type", _type(value, enums, wanted)))
        return
    presence = "optional" if field.has_presence else "implicit"
    yield "label", "repeated" if field.is_repeated else "required" if field.is_required else presence
    yield "type", _type(field, enums, wanted)
    oneof = field.containing_oneof
    if oneof and not (len(oneof.fields) == 1 and oneof.name == f"_{field.name}"):
        yield "oneof", oneof.name


def _type(field: FieldDescriptor, enums: dict[str, Any], wanted: list[Descriptor]) -> str:
    if field.message_type:
        wanted.append(field.message_type)
        return str(field.message_type.full_name)
    if field.enum_type:
        enums[field.enum_type.full_name] = {value.name: value.number for value in field.enum_type.values}
        return str(field.enum_type.full_name)
    return FieldDescriptorProto.Type.Name(cast("Any", field.type)).removeprefix("TYPE_").lower()
