"""Why a record became a dead letter: a class for machines, a sentence for people.

A fault is a column (struct<kind, message>), null for a row that is well; the first step that finds one wins, the steps
behind it leave the row alone. The table says which stage and class Kafka Connect's headers will name, so that a reader
of dead letters can tell "their data" from "our reference" without reading sentences.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


FAULT_TYPE = "struct<kind: string, message: string>"

CONNECT_PREFIX = "__connect.errors."
"""Begins the names of the headers of a dead letter: `RecordFunction.java`."""


class FaultKind(enum.StrEnum):
    TOMBSTONE = "Tombstone"
    MALFORMED = "MalformedValue"
    WRONG_TYPE = "WrongType"
    UNKNOWN_SCHEMA = "UnknownSchema"
    INCOMPATIBLE_SCHEMA = "IncompatibleSchema"
    NULL_KEY = "NullKey"
    MISSING_REFERENCE = "MissingReference"


def fault(kind: FaultKind, *parts: str | Column) -> Column:
    """A fault whose message is the parts, joined; text stands for itself, a column for the row's value."""
    from pyspark.sql import functions as F  # noqa: N812

    message = F.concat(*(F.lit(part) if isinstance(part, str) else part for part in parts))
    return F.struct(F.lit(str(kind)).alias("kind"), message.alias("message"))
