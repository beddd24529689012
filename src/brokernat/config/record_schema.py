"""A schema and its columns: the common part of the Avro and Protobuf modules."""

from __future__ import annotations

from dataclasses import dataclass

from brokernat.errors import Finding


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
