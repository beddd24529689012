"""The interface of reference sources: a version that is cheap to read, and the rows.

`ReferenceTable` reads the version, compares it with that of the copy in use, and loads the rows if they differ. Any
exception of a source means that it cannot be used now (a missing file, a rejected login), and the last good copy stays
in use; `cause` returns it in one line without secrets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from brokernat.errors import BrokernatError
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
