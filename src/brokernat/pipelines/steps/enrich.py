"""Joins records with a reference: each record gets the reference's columns, or a fault.

It is a left join with unique keys on the right, which `references` ensures, because duplicate keys would duplicate
records. A null key and an unknown key are faults. Only records without a fault are joined, so a record that did not
decode keeps its first fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from brokernat.clients.spark.functions import FAULT, RESERVED_PREFIX
from brokernat.config.record_schema import quoted
from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.steps.envelope import FaultKind, fault

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    Lookup = Callable[[Column], Column]
    """A function that returns the struct of a key, see `by_key`, or null."""

_KEY = "brokernat_key"
_FOUND = "brokernat_found"


def enrich(
    records: DataFrame, reference: DataFrame, *, name: str, key: str, reference_key: str, lookup: Lookup | None = None
) -> DataFrame:
    """Adds the columns of a reference, all but its key.

    Args:
        records: decoded records with `brokernat_fault`.
        reference: one row per key; `reference_key` has the type of `key`.
        name: the reference's name in faults.
        lookup: a function to use instead of a join with the rows of `by_key`.
    """
    from pyspark.sql import functions as F  # noqa: N812

    valid_key = F.when(F.col(FAULT).isNull(), F.col(quoted(key)))
    if lookup:
        joined = records.withColumn(_FOUND, lookup(valid_key))
    else:
        joined = records.join(by_key(reference, reference_key), valid_key == F.col(_KEY), "left")
    text = F.col(quoted(key)).cast("string")
    missing = (
        F.when(text.isNull(), fault(FaultKind.NULL_KEY, f"reference `{name}`: the key `{key}` is null"))
        .when(F.col(_FOUND).isNull(), fault(FaultKind.MISSING_REFERENCE, f"reference `{name}` has no `{key}` ", text))
    )  # fmt: skip
    first_fault = F.coalesce(F.col(FAULT), missing).alias(FAULT)
    columns = [first_fault if column == FAULT else F.col(quoted(column)) for column in records.columns]
    added = (column for column in reference.columns if column != reference_key)
    return joined.select(*columns, *(F.col(f"{_FOUND}.{quoted(column)}") for column in added))


def by_key(reference: DataFrame, key: str) -> DataFrame:
    """The key and a struct of the other columns, which is never null."""
    from pyspark.sql import functions as F  # noqa: N812

    added = [F.col(quoted(column)) for column in reference.columns if column != key]
    return reference.select(F.col(quoted(key)).alias(_KEY), F.struct(*added or (F.lit(True),)).alias(_FOUND))


def check_columns(records: Iterable[str], added: Iterable[str], *, name: str) -> None:
    """Checks that no column of a reference has the name of a record's column.

    Raises:
        ConfigError: names every such column.
    """
    taken = {column.lower() for column in records}
    problems = [
        Finding(
            "column-taken",
            f"reference `{name}`: column `{column}` already exists",
            "rename it in the reference: names are case-insensitive",
        )
        for column in added
        if column.lower() in taken or column.startswith(RESERVED_PREFIX)
    ]
    if problems:
        raise ConfigError(*problems)
