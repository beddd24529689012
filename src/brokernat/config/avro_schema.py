"""Converts an Avro schema to columns in Spark's DDL.

`AvroReader.java` reads the same types. A type without a column type is an error that names the field: a union of
several types, a recursive record, null alone. The user can omit such a field from the schema: Avro reads only the
fields of the reader's schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brokernat.config.record_schema import RecordSchema, UnreadableTypeError, quoted
from brokernat.errors import ConfigError, Finding
from brokernat.paths import reading

_PRIMITIVES = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BINARY",
    "string": "STRING",
}
_LOGICAL = {
    ("int", "date"): "DATE",
    ("long", "timestamp-millis"): "TIMESTAMP",
    ("long", "timestamp-micros"): "TIMESTAMP",
    ("long", "local-timestamp-millis"): "TIMESTAMP_NTZ",
    ("long", "local-timestamp-micros"): "TIMESTAMP_NTZ",
}
"""Other logical types (time of day, uuid, duration, nanoseconds) are read as their base type (Avro specification)."""
_MOST_DIGITS = 38
_LEAVE_OUT = "leave the field out of the schema file: Avro ignores the field"


def read_avro_schema(path: str) -> RecordSchema:
    """The schema of a file.

    Raises:
        ConfigError: it cannot be read, it is no Avro schema of a record, or fields of it have no column type.
    """
    with reading(path, "the Avro schema"):
        text = Path(path).read_text("utf-8-sig")
    columns = avro_columns(text)
    return RecordSchema(json.dumps(json.loads(text), separators=(",", ":")), columns)


def _refused(label: str, what: str) -> UnreadableTypeError:
    return UnreadableTypeError(label, what, _LEAVE_OUT)


def avro_columns(text: str) -> str:
    """The columns of the records of a schema, as DDL: ``id STRING NOT NULL, amount DECIMAL(9,2)``.

    Args:
        text: an Avro schema in JSON, of a record.

    Raises:
        ConfigError: it is no such schema, or fields of it have no column type; one finding for each.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise _no_schema(f"it is not JSON: {error}") from None
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise _no_schema("it is not a record")
    types = _Types()
    columns: list[str] = []
    refused: list[Finding] = []
    with types.inside(schema, "") as namespace:
        for name, declared in _fields(schema):
            try:
                columns.append(f"{quoted(name)} {types.member(declared, namespace, name)}")
            except UnreadableTypeError as found:
                refused.append(found.finding)
    if refused:
        raise ConfigError(*refused)
    if not columns:
        raise _no_schema("the record has no fields")
    return ", ".join(columns)


class _Types:
    """Types of a schema as DDL; knows the named ones that it has met."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._open: list[str] = []

    @contextmanager
    def inside(self, record: Mapping[str, Any], namespace: str) -> Iterator[str]:
        """Reads the fields of a record; gives the namespace that they are in."""
        full_name = self._declare(record, namespace)
        self._open.append(full_name)
        try:
            yield full_name.rpartition(".")[0]
        finally:
            self._open.remove(full_name)

    def member(self, declared: Any, namespace: str, label: str) -> str:
        """A type with NOT NULL, unless it is a union with null."""
        if not isinstance(declared, list):
            return f"{self.type(declared, namespace, label)} NOT NULL"
        members = [each for each in declared if each != "null"]
        if len(members) != 1:
            what = f"a union of {len(members)} types" if members else "null alone"
            raise _refused(label, f"{what} has no column type")
        null = "" if len(members) < len(declared) else " NOT NULL"
        return f"{self.type(members[0], namespace, label)}{null}"

    def type(self, declared: Any, namespace: str, label: str) -> str:
        """A type without its nullability."""
        match declared:
            case str() if declared in _PRIMITIVES:
                return _PRIMITIVES[declared]
            case str():
                return self._named(declared, namespace, label)
            case {"type": dict() | list() as inner}:
                return self.member(inner, namespace, label).removesuffix(" NOT NULL")
            case {"type": "record" | "error"}:
                return self._struct(declared, namespace, label)
            case {"type": "array", "items": element}:
                return f"ARRAY<{self._element(element, namespace, label)}>"
            case {"type": "map", "values": element}:
                return f"MAP<STRING, {self._element(element, namespace, label)}>"
            case {"type": "enum"}:
                self._declare(declared, namespace)
                return "STRING"
            case {"type": "fixed"}:
                self._declare(declared, namespace)
                return _decimal(declared, label) if declared.get("logicalType") == "decimal" else "BINARY"
            case {"type": "bytes", "logicalType": "decimal"}:
                return _decimal(declared, label)
            case {"type": str() as name} if name not in ("array", "map"):
                return _LOGICAL.get((name, declared.get("logicalType"))) or self.type(name, namespace, label)
        raise _refused(label, "its type is not one of Avro's")

    def _named(self, name: str, namespace: str, label: str) -> str:
        full_name = name if "." in name or not namespace else f"{namespace}.{name}"
        if full_name in self._open:
            raise _refused(label, f"record `{name}` is recursive, which no column type supports")
        if name == "null":
            raise _refused(label, "null alone has no column type")
        if full_name not in self._known:
            raise _refused(label, f"the schema has no type `{name}`")
        return self.type(*self._known[full_name], label)

    def _struct(self, record: Mapping[str, Any], namespace: str, label: str) -> str:
        with self.inside(record, namespace) as inner:
            fields = [
                f"{quoted(name)}: {self.member(declared, inner, f'{label}.{name}')}"
                for name, declared in _fields(record)
            ]
        if not fields:
            raise _refused(label, f"record `{record['name']}` has no fields")
        return f"STRUCT<{', '.join(fields)}>"

    def _element(self, declared: Any, namespace: str, label: str) -> str:
        """DDL has no NOT NULL for elements."""
        return self.member(declared, namespace, f"{label}[]").removesuffix(" NOT NULL")

    def _declare(self, declared: Mapping[str, Any], namespace: str) -> str:
        """Notes a named type; returns its full name."""
        name = declared.get("name")
        if not isinstance(name, str):
            raise _no_schema(f"a type `{declared.get('type')}` has no name")
        own = declared.get("namespace", namespace)
        full_name = name if "." in name or not own else f"{own}.{name}"
        self._known[full_name] = (declared, namespace)
        return full_name


def _fields(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    fields = record.get("fields")
    if not isinstance(fields, list):
        raise _no_schema(f"record `{record.get('name')}` has no list of fields")
    for each in fields:
        match each:
            case {"name": str() as name, "type": declared}:
                yield name, declared
            case _:
                raise _no_schema(f"a field of record `{record.get('name')}` has no name or no type")


def _decimal(declared: Mapping[str, Any], label: str) -> str:
    precision, scale = declared.get("precision"), declared.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision:
        raise _refused(label, "a decimal needs a precision, and a scale that is not larger")
    if precision > _MOST_DIGITS:
        raise _refused(label, f"a decimal of {precision} digits has no column type: the maximum is {_MOST_DIGITS}")
    return f"DECIMAL({precision},{scale})"


def _no_schema(what: str) -> ConfigError:
    hint = 'a schema is `{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}`'
    return ConfigError(Finding("bad-schema", f"invalid Avro schema: {what}", hint))
