"""Reference data: an immutable copy of the last good version; `refresh` is the interval of checks for a newer one.

A join with the source itself fails: Spark fixes the list of files when it plans, so an overwritten file fails the query
and an added file is ignored (measured, 4.3); a database would be read by every batch. So each version is read once,
checked, and copied to Parquet in the pipeline's folder (`copies`). Batches join with the copy and do not depend on the
source.

The last good copy stays in use, with a warning, if the source cannot be reached, or if the new version cannot be read,
lacks a column, or changes while it is read; the source is checked again when `refresh` is due. Duplicate keys under
`duplicates: fail` are different: the data is complete but ambiguous, so the pipeline stops before any join.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from brokernat.config.model import Reference
from brokernat.errors import BrokernatError
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.references.copies import Content, Copies, ReferenceVersion, Snapshot
from brokernat.pipelines.references.held import HeldReference, hold
from brokernat.pipelines.references.source import (
    DuplicateKeysError,
    ReferenceSource,
    RowRules,
    SourceVersion,
    StaleReferenceError,
    UnusableReferenceError,
)
from brokernat.text import in_words, seconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

_START_READS = 5
"""How often the start of a run reads a source that changes during each read."""
_STORES_PER_AGE = 10
"""How often within `max_age` the checkpoint stores that a source still has the current version."""


class ReferenceTable:
    """A reference by one key, for batches."""

    def __init__(
        self,
        name: str,
        section: Reference,
        *,
        key: str,
        columns: Sequence[str] | None,
        folder: str,
        source: ReferenceSource,
    ) -> None:
        """Reads nothing.

        Args:
            key: the column of the reference that records are joined by.
            columns: the columns that a join adds; all but the key if None.
            folder: the folder of the copies.
            source: the source that the section describes.
        """
        self.name = name
        self.section = section
        self.key = key
        self._source = source
        ordered = section.jdbc is None and section.catalog is None
        self._rules = RowRules(source.place, key, columns, section.duplicates, ordered)
        self._copies = Copies(folder)
        self._current: Snapshot | None = None
        self._held: HeldReference | None = None
        self._trouble = ""
        self._checked_at = -math.inf
        """When the source was last checked, by the monotonic clock."""
        self._last_loaded: str | None = None
        """The last version of the source that was loaded, successfully or not."""
        self._read_in_this_run = False
        self._stored_at = -math.inf
        self._last_warning: tuple[str | None, str] | None = None
        self._warned_stale: str | None = None

    def current(self, spark: SparkSession, key_type: str) -> Snapshot:
        """The version that the next batch joins with.

        Args:
            key_type: the type of the records' key, as Spark writes it; the reference's key becomes the same.

        Raises:
            UnusableReferenceError: there is no usable version, or it has duplicate keys with `duplicates: fail`.
            StaleReferenceError: it is older than `max_age`.
        """
        snapshot = self._current_version(spark, key_type)
        self.check_age()
        return snapshot

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows of the last version that `current` returned, as they are joined."""
        assert self._current  # noqa: S101 - called after `current`
        return self._with_version(self._current.frame(spark), self._current.id)

    def held(self, spark: SparkSession) -> HeldReference | None:
        """The held table of the last version that `current` returned; None if Spark must join it."""
        assert self._current  # noqa: S101 - called after `current`
        if not self._held or self._held.version != self._current.id:
            self._held = self._hold(self.frame(spark), self._current.id, self._current.rows)
        return self._held

    @property
    def version(self) -> ReferenceVersion:
        """The last version that `current` returned, with its present age and trouble."""
        assert self._current  # noqa: S101 - called after `current`
        return ReferenceVersion(self._current.id, self._current.written_at, self._trouble)

    def has_changed(self, spark: SparkSession) -> bool:
        """Whether the source has another version than the loaded one; starts no Spark job, and checks only when it is
        due.

        The next call of `current` loads it.
        """
        if not self._is_due():
            return False
        try:
            version = self._source_version(spark)
        except UnusableReferenceError as error:
            if self._current:
                self._keep_last_good(self._current, None, error)
            return False
        if self._current and version.text is not None and self._current.source == version.text:
            self._confirm(Files(spark), self._current, version)
            return False
        if self.section.path and version.text == self._last_loaded:
            # A broken file stays broken until it is written again; a server may answer the next time.
            return False
        self._checked_at = -math.inf
        return True

    def check_age(self) -> None:
        """Checks the age of the data in use, whether or not the source has a newer version.

        Raises:
            StaleReferenceError: it is older than `max_age`, with `stale: fail`.
        """
        snapshot = self._current
        if self.section.max_age is None or snapshot is None:
            return
        age = time.time() - snapshot.written_at
        if age <= seconds(self.section.max_age):
            return
        complaint = (
            f"reference `{self.name}`: {self._source.place} {self._source.dated_by} {in_words(age)} ago, "
            f"and max_age is {self.section.max_age}"
        )
        if self._trouble:
            complaint += f"; {self._trouble}"
        if self.section.stale == "fail":
            repair = "write it anew" if self.section.path else "check that the source can be reached and read"
            raise StaleReferenceError(
                complaint, hint=f"{repair}, raise `max_age`, or continue with a warning: `stale: warn`"
            )
        if self._warned_stale != snapshot.id:
            self._warned_stale = snapshot.id
            log.warning("%s; it is used nevertheless", complaint)

    def _is_due(self) -> bool:
        period = self.section.refresh_seconds
        return not self._read_in_this_run or (period is not None and time.monotonic() - self._checked_at >= period)

    def _source_version(self, spark: SparkSession) -> SourceVersion:
        self._checked_at = time.monotonic()
        try:
            return self._source.version(spark)
        except Exception as error:  # noqa: BLE001 - file systems, Kafka and databases raise their own classes
            raise self._unusable(error) from None

    def _current_version(self, spark: SparkSession, key_type: str) -> Snapshot:
        files = Files(spark)
        recipe = self._recipe(key_type)
        self._current = self._current or self._copies.last(files, recipe)
        if self._current and not self._is_due():
            return self._current
        version: SourceVersion | None = None
        try:
            version = self._source_version(spark)
            if self._current and version.text is not None and self._current.source == version.text:
                self._confirm(files, self._current, version)
            else:
                version, content = self._load_current(spark, version, key_type)
                self._current = self._copies.keep(
                    files, content, version=version, recipe=recipe, previous=self._current
                )
                self._trouble, self._stored_at = "", version.written_at
                log.info(
                    "reference %s: version %s, %d rows, from %s",
                    self.name, self._current.id, self._current.rows, self._source.place,
                )  # fmt: skip
        except DuplicateKeysError:
            raise
        except UnusableReferenceError as error:
            if self._current is None:
                raise
            self._keep_last_good(self._current, version, error)
        self._last_loaded = version.text if version else None
        self._read_in_this_run = True
        return self._current

    def _load_current(
        self, spark: SparkSession, version: SourceVersion, key_type: str
    ) -> tuple[SourceVersion, Content]:
        """The staged content and its version; at the start, a source that changes during the read is read again."""
        for _ in range(_START_READS - 1):
            try:
                return version, self._load(spark, version, key_type)
            except UnusableReferenceError:
                newer = self._source_version(spark)
                if self._current or newer.text == version.text:
                    raise
                version = newer
        return version, self._load(spark, version, key_type)

    def _load(self, spark: SparkSession, version: SourceVersion, key_type: str) -> Content:
        try:
            rows = self._rules.rows(self._source.load(spark, version), key_type)
            content, copy = Content.written(rows, self._copies.staged)
            self._source.verify(spark, version)
            if self._current and self._read_in_this_run:
                self._refuse_incomplete(copy.columns, content.rows, self._current)
            if self.section.duplicates == "fail":
                self._check_keys(copy, content)
        except Exception as error:  # noqa: BLE001 - Spark reports bad data with many classes of exceptions
            raise self._unusable(error) from None
        return content

    def _check_keys(self, copy: DataFrame, content: Content) -> None:
        """Raise DuplicateKeysError. The held table shows whether keys are unique, so no extra query is needed then."""
        held = self._hold(self._with_version(copy, content.identity), content.identity, content.rows)
        if held is None or not held.unique:
            self._rules.check_keys(copy)
        self._held = held

    def _hold(self, frame: DataFrame, version: str, rows: int) -> HeldReference | None:
        return hold(frame.sparkSession, frame, self.key, version=version, rows=rows)

    def _with_version(self, rows: DataFrame, version: str) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        column = self.section.version_column
        return rows.withColumn(column, F.lit(version)) if column else rows

    def _refuse_incomplete(self, columns: Sequence[str], rows: int, good: Snapshot) -> None:
        """Raise for data without rows or with fewer columns than before: it is probably still being written."""
        previous = [field["name"] for field in json.loads(good.schema)["fields"]]
        if lost := [column for column in previous if column not in columns]:
            raise UnusableReferenceError(
                f"{self._source.place} has lost the column {', '.join(lost)}",
                hint="if that is intended, restart the pipeline",
            )
        if good.rows and not rows:
            raise UnusableReferenceError(f"{self._source.place} has no rows any more")

    def _unusable(self, error: Exception) -> UnusableReferenceError:
        """The error with the reference's name; for an exception of Spark, only its root cause."""
        if not isinstance(error, BrokernatError):
            error = UnusableReferenceError(f"{self._source.place} cannot be read: {self._source.cause(error)}")
        kind = type(error) if isinstance(error, UnusableReferenceError) else UnusableReferenceError
        return kind(f"reference `{self.name}`: {error.message}", hint=error.hint)

    def _recipe(self, key_type: str) -> str:
        parts = (self._source.recipe(), self.section.duplicates, self.key, self._rules.columns, key_type)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _confirm(self, files: Files, good: Snapshot, version: SourceVersion) -> None:
        """Stores that the source still has the current version."""
        self._current = replace(good, written_at=version.written_at)
        self._trouble = ""
        if (
            self.section.max_age
            and version.written_at - self._stored_at > seconds(self.section.max_age) / _STORES_PER_AGE
        ):
            # If the source cannot be reached at the next start, the age of the copy is still known.
            self._stored_at = version.written_at
            self._copies.note(files, self._current)

    def _keep_last_good(self, good: Snapshot, version: SourceVersion | None, error: UnusableReferenceError) -> None:
        self._trouble = error.message.partition("\n")[0]
        complaint = (version.text if version else None, error.message)
        if complaint != self._last_warning:
            self._last_warning = complaint
            age = time.time() - good.loaded_at
            log.warning("%s; version %s, read %.0f s ago, stays in use", error, good.id, age)
