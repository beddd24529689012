"""A schema as the columns that a pipeline gets of its records; what the modules of the formats share."""

from __future__ import annotations

from dataclasses import dataclass

from brokernat.errors import Finding


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """The text of a schema, in one line, and the columns of its records as Spark's DDL.

    `read` is what of the text the columns are made of, where that is not all of it.
    """

    text: str
    columns: str
    read: str | None = None


class UnreadableTypeError(Exception):
    """A part of a schema has no column type; `label` is where it is."""

    def __init__(self, label: str, what: str, hint: str) -> None:
        super().__init__(what)
        self.finding = Finding("unreadable-type", f"field `{label}`: {what}", hint)


def quoted(name: str) -> str:
    """A name in DDL."""
    return "`" + name.replace("`", "``") + "`"
