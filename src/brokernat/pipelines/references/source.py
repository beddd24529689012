"""What every source of a reference has: a version that costs little to ask for, and the rows.

A source decides nothing. `ReferenceTable` asks for the version, compares it with that of the copy in use, and reads the
rows where they differ. Whatever a source raises means that it cannot be used now (a file is missing, a database refuses
the login), and the last good copy stays in use; `cause` makes one line without a secret of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from brokernat.errors import BrokernatError
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDER = "brokernat_order"
"""The column by which `duplicates: first` and `last` choose, where a source has an order."""


class UnusableReferenceError(BrokernatError):
    """A reference that cannot be used."""

    exit_code = 2


class StaleReferenceError(UnusableReferenceError):
    """A reference that is older than it may be."""


class DuplicateKeysError(UnusableReferenceError):
    """A key with several rows, where the policy says to fail."""


@dataclass(frozen=True, slots=True)
class SourceVersion:
    """What a source holds: equal texts are equal rows. `text` is None where only reading all rows would tell.

    `written_at` is when the data was written, or known to be the newest, in seconds since 1970.
    """

    text: str | None
    written_at: float


class ReferenceSource:
    """The base of the sources."""

    dated_by: ClassVar[str] = "was last reached"
    """What `written_at` is the time of."""
    place: str
    """The source in messages."""

    def version(self, spark: SparkSession) -> SourceVersion:
        """What it holds now, asked on the driver; rows are not read."""
        raise NotImplementedError

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:
        """All rows of the version, with a column `ORDER` where they have an order."""
        raise NotImplementedError

    def verify(self, spark: SparkSession, version: SourceVersion) -> None:
        """Raise UnusableReferenceError where the rows that were read may be of several versions."""

    def recipe(self) -> object:
        """What the rows depend on apart from the source's content, without secrets, as JSON takes it."""
        raise NotImplementedError

    def cause(self, error: BaseException) -> str:
        """Why a read has failed, in one line without secrets."""
        return root_cause(error)
