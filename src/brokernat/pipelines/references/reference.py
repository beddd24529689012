"""Reference data: an immutable copy of the last version that was in order, looked at anew before each batch.

Joining with the user's file itself fails both ways: Spark freezes the list of files when it plans, so an overwritten
file kills the query and an added one is never seen (measured, 4.3). So each version is read once, checked, and copied
to Parquet in the pipeline's own folder (`reference_copies`); batches join with the copy. Whatever becomes of the file,
a batch that runs has its data.

A new version that cannot be read, lacks a column, or changes while it is read, is a file that somebody is writing: the
last good copy stays in force, with a warning, and the file is looked at again at the next batch. Duplicate keys under
`duplicates: fail` are different: the file is whole and says two things, so the pipeline stops before any join.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brokernat.config.model import Reference
from brokernat.config.units import in_words, seconds
from brokernat.errors import BrokernatError
from brokernat.pipelines.checkpoint.files import Files, FileStamp
from brokernat.pipelines.references.copies import Copies, Snapshot
from brokernat.pipelines.references.file import (
    DuplicateKeysError,
    ReferenceFile,
    StaleReferenceError,
    UnusableReferenceError,
)
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

_QUIET_SECONDS = 0.2
"""A file younger than this is waited for: somebody may be in the middle of writing it."""


class ReferenceTable:
    """A reference, by one key, as batches see it."""

    def __init__(self, name: str, section: Reference, *, key: str, columns: Sequence[str] | None, folder: str) -> None:
        """Nothing is read.

        Args:
            key: the column of the reference that records are joined by.
            columns: what a join adds; all but the key when None.
            folder: where copies go.
        """
        self.name = name
        self.section = section
        self.key = key
        self._file = ReferenceFile(name, section, key, columns)
        self._copies = Copies(folder)
        self._current: Snapshot | None = None
        self._read_in_this_run = False
        self._complained_of: tuple[FileStamp, ...] | None = None
        self._called_stale: str | None = None

    def current(self, spark: SparkSession, key_type: str) -> Snapshot:
        """The version that the next batch joins with.

        Args:
            key_type: the type of the records' key, as Spark writes it; the reference's key becomes the same.

        Raises:
            UnusableReferenceError: there is no version that could be used, or keys are there twice and must not be.
            StaleReferenceError: it is older than it may be.
        """
        snapshot = self._in_force(spark, key_type)
        self.check_age()
        return snapshot

    def check_age(self) -> None:
        """Whatever keeps a newer version away, a broken file or none: what counts is how old the data in force is.

        Raises:
            StaleReferenceError: it is older than it may be.
        """
        snapshot = self._current
        if self.section.max_age is None or snapshot is None:
            return
        age = time.time() - snapshot.version.written_at
        if age <= seconds(self.section.max_age):
            return
        complaint = (
            f"reference `{self.name}`: {self.section.path} was written {in_words(age)} ago, "
            f"and max_age is {self.section.max_age}"
        )
        if self.section.stale == "fail":
            raise StaleReferenceError(
                complaint, hint="write it anew, raise `max_age`, or go on with a warning: `stale: warn`"
            )
        if self._called_stale != snapshot.id:
            self._called_stale = snapshot.id
            log.warning("%s; it is joined all the same", complaint)

    def _in_force(self, spark: SparkSession, key_type: str) -> Snapshot:
        files = Files(spark)
        recipe = self._recipe(key_type)
        self._current = self._current or self._copies.last(files, recipe)
        if self._read_in_this_run and self.section.refresh == "never" and self._current:
            return self._current
        stamps = self._settled_stamps(files)
        if self._current and self._current.stamps == stamps:
            self._read_in_this_run = True
            return self._current
        try:
            copy = self._load(spark, files, stamps, key_type)
            self._current = self._copies.keep(files, copy, stamps=stamps, recipe=recipe, previous=self._current)
        except DuplicateKeysError:
            raise
        except UnusableReferenceError as error:
            if self._current is None:
                raise
            self._keep_last_good(self._current, stamps, error)
        else:
            version, rows = self._current.id, self._current.rows
            log.info("reference %s: version %s, %d rows, from %s", self.name, version, rows, self.section.path)
        self._read_in_this_run = True
        return self._current

    def _load(self, spark: SparkSession, files: Files, stamps: tuple[FileStamp, ...], key_type: str) -> DataFrame:
        path = self.section.path
        if not stamps:
            raise UnusableReferenceError(f"reference `{self.name}`: there is no file at {path}")
        if files.unfinished(path):
            raise UnusableReferenceError(f"reference `{self.name}`: a job is writing into {path}")
        try:
            rows = self._file.rows(spark, key_type)
            rows.write.mode("overwrite").parquet(self._copies.staged)
        except BrokernatError:
            raise
        except Exception as error:  # noqa: BLE001 - Spark reports bad files by many classes
            raise UnusableReferenceError(
                f"reference `{self.name}`: {path} cannot be read: {root_cause(error)}"
            ) from None
        if files.stamps(path) != stamps:
            raise UnusableReferenceError(f"reference `{self.name}`: {path} changed while it was read")
        # With the schema given, Spark opens no file to plan.
        copy = spark.read.schema(rows.schema).parquet(self._copies.staged)
        if self.section.duplicates == "fail":
            self._file.refuse_duplicates(copy)
        if self._current and self._read_in_this_run:
            self._refuse_a_stump(copy, self._current)
        return copy

    def _refuse_a_stump(self, copy: DataFrame, good: Snapshot) -> None:
        """While running: a file without rows or with fewer columns than before is one that was just begun."""
        had = [field["name"] for field in json.loads(good.schema)["fields"]]
        if lost := [column for column in had if column not in copy.columns]:
            raise UnusableReferenceError(
                f"reference `{self.name}`: {self.section.path} has lost the column {', '.join(lost)}",
                hint="if that is meant, start the pipeline anew",
            )
        if good.rows and copy.isEmpty():
            raise UnusableReferenceError(f"reference `{self.name}`: {self.section.path} has no rows any more")

    def _recipe(self, key_type: str) -> str:
        # How old it may be does not change what a copy holds.
        parts = (
            self.section.model_dump(mode="json", exclude={"max_age", "stale"}),
            self.key,
            self._file.columns,
            key_type,
        )
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _settled_stamps(self, files: Files) -> tuple[FileStamp, ...]:
        stamps = files.stamps(self.section.path)
        if self._current and stamps == self._current.stamps:
            return stamps
        youngest = max((stamp.modified for stamp in stamps), default=0) / 1000
        if time.time() - youngest < _QUIET_SECONDS:
            time.sleep(_QUIET_SECONDS)
            stamps = files.stamps(self.section.path)
        return stamps

    def _keep_last_good(self, good: Snapshot, stamps: tuple[FileStamp, ...], error: UnusableReferenceError) -> None:
        if stamps != self._complained_of:
            self._complained_of = stamps
            age = time.time() - good.loaded_at
            log.warning("%s; version %s, read %.0f s ago, stays in force", error, good.id, age)
