"""The file of a reference, read strictly: every row whole, every key once and of the records' type.

What a join must be able to trust is settled here, before a copy is made: afterwards nobody asks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.config.model import Reference
from brokernat.errors import BrokernatError
from brokernat.pipelines.steps.envelope import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_EXAMPLES = 5
_ORDER = "brokernat_order"

READER_OPTIONS: Mapping[str, Mapping[str, str]] = {
    # Pruning would read only the columns asked for and pass over rows that are cut short.
    "csv": {"header": "true", "mode": "FAILFAST", "enforceSchema": "false", "columnPruning": "false"},
    "json": {"mode": "FAILFAST"},
    "parquet": {},
}
"""By format: what is not fit to be joined with is an error and no null. The reference's own options win."""


class UnusableReferenceError(BrokernatError):
    """A reference that cannot be used."""

    exit_code = 2


class StaleReferenceError(UnusableReferenceError):
    """A reference that is older than it may be."""


class DuplicateKeysError(UnusableReferenceError):
    """A key with several rows, where the policy says to fail."""


@dataclass(frozen=True, slots=True)
class ReferenceFile:
    """Where a reference comes from and what is wanted of it; `columns` None stands for all."""

    name: str
    section: Reference
    key: str
    columns: Sequence[str] | None

    def rows(self, spark: SparkSession, key_type: str) -> DataFrame:
        """The rows to join with, the key of the records' type; rows without a key are left out, they match nothing.

        Each key is there once where the policy chooses one; under `fail` the caller looks for duplicates in its copy,
        which costs less to read.

        Raises:
            UnusableReferenceError: a column is not there, or a key is not of the records' type.
        """
        return self._one_row_per_key(self._read(spark), key_type)

    def _read(self, spark: SparkSession) -> DataFrame:
        options = {**READER_OPTIONS[self.section.format], **self.section.options}
        reader = spark.read.format(self.section.format).options(**options)
        if self.section.ddl:
            reader = reader.schema(self.section.ddl)
        frame = reader.load(self.section.path)
        wanted = [self.key, *(self.columns or ())]
        if absent := [column for column in wanted if column not in frame.columns]:
            raise UnusableReferenceError(
                f"reference `{self.name}`: {self.section.path} has no column {', '.join(f'`{c}`' for c in absent)}",
                hint=f"it has: {', '.join(frame.columns) or 'none'}",
            )
        return frame

    def _one_row_per_key(self, frame: DataFrame, key_type: str) -> DataFrame:
        """The rows that can be joined, the key of the records' type; each key once unless duplicates are an error."""
        from pyspark.sql import functions as F  # noqa: N812

        cast = F.expr(f"try_cast({quoted(self.key)} AS {key_type})")
        if frame.schema[self.key].dataType.simpleString() != key_type:
            self._refuse_keys_of_another_type(frame, cast, key_type)
        # In the order of the file: splits by name and place, rows of one split as they stand.
        order = F.struct(F.input_file_name(), F.input_file_block_start(), F.monotonically_increasing_id())
        keyed = frame.withColumn(self.key, cast).where(F.col(quoted(self.key)).isNotNull())
        if self.section.duplicates != "fail":
            pick = F.min_by if self.section.duplicates == "first" else F.max_by
            row = F.struct(*(quoted(column) for column in keyed.columns))
            ordered = keyed.select(row.alias("row"), order.alias(_ORDER))
            keyed = ordered.groupBy(F.col("row")[self.key]).agg(pick("row", _ORDER).alias("row")).select("row.*")
        if self.columns is None:
            return keyed
        return keyed.select(*(quoted(column) for column in dict.fromkeys([self.key, *self.columns])))

    def _refuse_keys_of_another_type(self, frame: DataFrame, cast: Column, key_type: str) -> None:
        from pyspark.sql import functions as F  # noqa: N812

        bad = frame.where(F.col(quoted(self.key)).isNotNull() & cast.isNull()).select(quoted(self.key))
        if examples := [row[0] for row in bad.limit(_EXAMPLES).collect()]:
            raise UnusableReferenceError(
                f"reference `{self.name}`: `{self.key}` is {key_type.upper()} in the records, and here it is "
                + ", ".join(f"{value!r}" for value in examples)
            )

    def refuse_duplicates(self, copy: DataFrame) -> None:
        """Do nothing where each key stands once in the copy of `rows`.

        Raises:
            DuplicateKeysError: a key stands there twice; names the first ones.
        """
        repeated = copy.groupBy(quoted(self.key)).count().where("count > 1")
        if first := repeated.orderBy(quoted(self.key)).limit(_EXAMPLES).collect():
            total = repeated.count()
            shown = ", ".join(f"{row[0]} ({row[1]} times)" for row in first)
            more = f" and {total - len(first)} more" if total > len(first) else ""
            raise DuplicateKeysError(
                f"reference `{self.name}`: {total} of its `{self.key}` stand more than once in "
                f"{self.section.path}: {shown}{more}",
                hint="remove them, or say which one counts: `duplicates: first` or `duplicates: last`",
            )
