"""Reads the schema of a `decode` or `encode` section, Avro or Protobuf."""

from __future__ import annotations

from importlib.util import find_spec

from brokernat.config.avro_schema import avro_columns, read_avro_schema
from brokernat.config.model import Decode, Encode
from brokernat.config.record_schema import RecordSchema
from brokernat.errors import MissingToolError


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
    return RecordSchema(text, avro_columns(text))


def _require_protobuf() -> None:
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise MissingToolError(
            "`format: protobuf` needs the package `protobuf`", hint="pip install 'brokernat[protobuf]'"
        )
