"""The schema of a `decode` or `encode` section, Avro or Protobuf, and its columns.

The module of a format is imported when a section needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from brokernat.config.model import Decode, Encode
from brokernat.errors import Finding, MissingToolError


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """The text of a schema, in one line, and the columns of its records as Spark's DDL.

    `read` is the part of the text that defines the columns, if that is not the whole text.
    """

    text: str
    columns: str
    read: str | None = None


class UnreadableTypeError(Exception):
    """A part of a schema has no column type; `label` is its path."""

    def __init__(self, label: str, what: str, hint: str) -> None:
        super().__init__(what)
        self.finding = Finding("unreadable-type", f"field `{label}`: {what}", hint)


def quoted(name: str) -> str:
    """A name for Spark's DDL and expressions: a dot in it is part of the name, not an access to a field."""
    return "`" + name.replace("`", "``") + "`"


def read_schema_file(section: Decode | Encode) -> RecordSchema:
    """The schema of a section's `schema_file`.

    Raises:
        ConfigError: it cannot be read, it is no schema of the format, or fields of it have no column type.
        MissingToolError: the library of the format is not installed.
    """
    assert section.schema_file is not None  # noqa: S101 - whoever calls has looked
    if section.format == "protobuf":
        _require_protobuf()
        from brokernat.config.protobuf_schema import read_protobuf_schema

        return read_protobuf_schema(section.schema_file, section.message)
    from brokernat.config.avro_schema import read_avro_schema

    return read_avro_schema(section.schema_file)


def schema_of_text(section: Decode | Encode, text: str) -> RecordSchema:
    """The schema of a section from a registry, as `Registry.newest` returns it.

    Raises:
        ConfigError: fields of it have no column type.
        MissingToolError: the library of the format is not installed.
    """
    if section.format == "protobuf":
        _require_protobuf()
        from brokernat.config.protobuf_schema import schema_of_descriptors

        return schema_of_descriptors(text)
    from brokernat.config.avro_schema import avro_columns

    return RecordSchema(text, avro_columns(text))


def _require_protobuf() -> None:
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise MissingToolError(
            "`format: protobuf` needs the package `protobuf`", hint="pip install 'brokernat[protobuf]'"
        )
