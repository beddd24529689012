"""The file with the schema of a `decode` or `encode` section, in either of the formats that have one."""

from __future__ import annotations

from brokernat.config.avro_schema import avro_columns, read_avro_schema
from brokernat.config.model import Decode, Encode
from brokernat.config.protobuf_schema import protobuf_columns, read_protobuf_schema
from brokernat.config.record_schema import RecordSchema


def read_schema_file(section: Decode | Encode) -> RecordSchema:
    """The schema of a section's `schema_file`.

    Raises:
        ConfigError: it cannot be read, it is no schema of the format, or fields of it have no column type.
    """
    assert section.schema_file is not None  # noqa: S101 - whoever calls has looked
    if section.format == "protobuf":
        return read_protobuf_schema(section.schema_file, section.message)
    return read_avro_schema(section.schema_file)


def schema_of_text(section: Decode | Encode, text: str) -> RecordSchema:
    """The schema that a registry gave for a section, as `Registry.newest` returns it.

    Raises:
        ConfigError: fields of it have no column type.
    """
    columns = protobuf_columns if section.format == "protobuf" else avro_columns
    return RecordSchema(text, columns(text))
