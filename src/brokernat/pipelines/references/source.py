"""The interface of reference sources: a version that is cheap to read, and the rows; and what rows must be like.

`ReferenceTable` reads the version, compares it with that of the copy in use, and loads the rows if they differ. Any
exception of a source means that it cannot be used now (a missing file, a rejected login), and the last good copy stays
in use; `cause` returns it in one line without secrets.

Rows are checked before a copy is made, and all problems are reported at once: every column exists, every key is unique
and has the type of the records' key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from brokernat.config.record_schema import quoted
from brokernat.errors import BrokernatError
from brokernat.pipelines.root_cause import root_cause
from brokernat.text import counted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ORDER = "brokernat_order"
"""The column by which `duplicates: first` and `last` choose."""


class UnusableReferenceError(BrokernatError):
    """A reference that cannot be used."""

    exit_code = 2


class StaleReferenceError(UnusableReferenceError):
    """A reference that is older than `max_age`."""


class DuplicateKeysError(UnusableReferenceError):
    """Duplicate keys with `duplicates: fail`."""


@dataclass(frozen=True, slots=True)
class SourceVersion:
    """The version of a source: equal texts mean equal rows. `text` is None if the version is known only from all rows.

    `written_at` is when the data was written, or when the source was last known to have it, in seconds since 1970.
    """

    text: str | None
    written_at: float


class ReferenceSource:
    """The base of the sources."""

    dated_by: ClassVar[str] = "was last reached"
    """What happened at `written_at`, in messages."""
    place: str
    """The name of the source in messages."""

    def version(self, spark: SparkSession) -> SourceVersion:
        """The present version, read on the driver without reading rows."""
        raise NotImplementedError

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:
        """All rows of the version, with a column `ORDER` if they have an order."""
        raise NotImplementedError

    def verify(self, spark: SparkSession, version: SourceVersion) -> None:
        """Raise UnusableReferenceError if the loaded rows may be of several versions."""

    def recipe(self) -> object:
        """The configuration on which the rows depend, without secrets, as JSON."""
        raise NotImplementedError

    def cause(self, error: BaseException) -> str:
        """Why a read has failed, in one line without secrets."""
        return root_cause(error)


_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class RowRules:
    """The requirements for the rows of a reference; `columns` None means all. `place` is their source in messages."""

    place: str
    key: str
    columns: Sequence[str] | None
    duplicates: str
    ordered: bool
    """Whether rows have an order for `duplicates: first` and `last`."""

    def rows(self, frame: DataFrame, key_type: str) -> DataFrame:
        """The rows to join with, with the key cast to the records' type and without null keys.

        With `first` and `last` keys are unique; with `fail` the caller checks its copy for duplicates, which is
        cheaper.

        Raises:
            UnusableReferenceError: columns are missing, or keys cannot be cast; names all of them, and duplicate
                keys, too.
        """
        from pyspark.sql import functions as F  # noqa: N812

        cast = F.expr(f"try_cast({quoted(self.key)} AS {key_type})")
        if problems := tuple(self._problems(frame, cast, key_type)):
            repeated = self._repeated(frame) if self.key in frame.columns and self.duplicates == "fail" else None
            messages = [message for message, _ in problems] + ([repeated] if repeated else [])
            hint = next((hint for _, hint in problems if hint), None)
            raise UnusableReferenceError("; ".join(messages), hint=hint)
        return self._one_row_per_key(frame.withColumn(self.key, cast))

    def _problems(self, frame: DataFrame, cast: Column, key_type: str) -> Iterator[tuple[str, str | None]]:
        """Messages with their hints."""
        columns = [column for column in frame.columns if column != ORDER]
        if absent := [column for column in (self.key, *(self.columns or ())) if column not in columns]:
            message = f"{self.place} has no column {', '.join(f'`{c}`' for c in absent)}"
            yield message, f"it has: {', '.join(columns) or 'none'}"
        if self.key in columns and frame.schema[self.key].dataType.simpleString() != key_type:
            bad = frame.where(f"{quoted(self.key)} IS NOT NULL").where(cast.isNull()).select(quoted(self.key))
            if examples := [row[0] for row in bad.limit(_EXAMPLES).collect()]:
                shown = ", ".join(f"{value!r}" for value in examples)
                yield f"`{self.key}` is {key_type.upper()} in the records, but {shown} in the reference", None

    def _one_row_per_key(self, keyed: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        keyed = keyed.where(F.col(quoted(self.key)).isNotNull())
        if self.duplicates != "fail":
            pick = F.min_by if self.duplicates == "first" else F.max_by
            row = F.struct(*(quoted(column) for column in keyed.columns if column != ORDER))
            ordered = keyed.select(row.alias("row"), ORDER)
            keyed = ordered.groupBy(F.col("row")[self.key]).agg(pick("row", ORDER).alias("row")).select("row.*")
        if self.columns is None:
            return keyed.drop(ORDER)
        return keyed.select(*(quoted(column) for column in dict.fromkeys([self.key, *self.columns])))

    def check_keys(self, copy: DataFrame) -> None:
        """Reads a copy of `rows`.

        Raises:
            DuplicateKeysError: it has duplicate keys; names the first ones.
        """
        repeated = self._repeated(copy)
        if repeated is None:
            return
        hint = "remove them, or choose one: `duplicates: first` or `duplicates: last`"
        if not self.ordered:
            hint = "remove them, or choose one row per key in a query or a view"
        raise DuplicateKeysError(repeated, hint=hint)

    def _repeated(self, frame: DataFrame) -> str | None:
        repeated = frame.where(f"{quoted(self.key)} IS NOT NULL").groupBy(quoted(self.key)).count().where("count > 1")
        first = repeated.orderBy(quoted(self.key)).limit(_EXAMPLES).collect()
        if not first:
            return None
        total = repeated.count()
        shown = ", ".join(f"{row[0]} ({row[1]} times)" for row in first)
        more = f" and {total - len(first)} more" if total > len(first) else ""
        return f"{counted(total, 'duplicate key')} (`{self.key}`) in {self.place}: {shown}{more}"
