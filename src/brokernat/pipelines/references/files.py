"""Files and tables of Spark's catalog as a reference; path, size and time of their files are the version.

CSV, JSON and Parquet are read strictly. A table is one of Hive, Iceberg, Delta or another catalog of Spark; its
version is the result of a query, or else the stamps of the files at its location. A view has no location, so its rows
are read at each check.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from brokernat.config.model import CatalogReference, Reference
from brokernat.config.record_schema import quoted
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.references.source import ORDER, ReferenceSource, SourceVersion, UnusableReferenceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


READER_OPTIONS: Mapping[str, Mapping[str, str]] = {
    # Column pruning would read only the requested columns and not detect truncated rows.
    "csv": {"header": "true", "mode": "FAILFAST", "enforceSchema": "false", "columnPruning": "false"},
    "json": {"mode": "FAILFAST"},
    "parquet": {},
}
"""Options by format that make invalid rows an error instead of nulls. The reference's own options override them."""
_NO_FILES = "[]"
_QUIET_SECONDS = 0.2
"""A younger file may not be complete yet, so the check waits."""


def plain_columns(header: str) -> str | None:
    """The columns of a header line as DDL. None if Spark must read the line: it has quotes, escapes or characters that
    are not printable, or names that are empty, equal or surrounded by blanks.
    """
    names = header.split(",")
    plain = (
        header.isprintable() and not set('"\\') & set(header) and all(name and name == name.strip() for name in names)
    )
    if not plain or len({name.lower() for name in names}) < len(names):
        return None
    return ", ".join(f"{quoted(name)} STRING" for name in names)


class FileSource(ReferenceSource):
    """Files under one path."""

    dated_by = "was written"

    def __init__(self, section: Reference) -> None:
        assert section.path  # noqa: S101 - the model has checked both
        assert section.format  # noqa: S101
        self.place = section.path
        self._format = section.format
        self._section = section

    def version(self, spark: SparkSession) -> SourceVersion:
        """The stamps of all files; `written_at` is that of the newest."""
        found = self._stamped(spark)
        if time.time() - found.written_at < _QUIET_SECONDS:
            time.sleep(_QUIET_SECONDS)
            return self._stamped(spark)
        return found

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:
        """The rows in the order of the files: splits by name and offset, then rows within a split."""
        from pyspark.sql import functions as F  # noqa: N812

        files = Files(spark)
        if version.text == _NO_FILES:
            raise UnusableReferenceError(f"there is no file at {self.place}")
        if files.unfinished(self.place):
            raise UnusableReferenceError(f"a job is writing to {self.place}")
        options = {**READER_OPTIONS[self._format], **self._section.options}
        reader = spark.read.format(self._format).options(**options)
        if columns := self._section.ddl or self._plain_columns(files, version):
            reader = reader.schema(columns)
        order = F.struct(F.input_file_name(), F.input_file_block_start(), F.monotonically_increasing_id())
        return reader.load(self.place).withColumn(ORDER, order)

    def _plain_columns(self, files: Files, version: SourceVersion) -> str | None:
        """The columns of CSV files as DDL, all of them STRING: Spark would start a job to find them. It compares the
        header of every file with them. None if Spark must read the header.
        """
        if self._format != "csv" or self._section.options:
            return None
        first = next((each["path"] for each in json.loads(version.text or _NO_FILES) if each["size"]), None)
        line = files.first_line(first) if first is not None else None
        return None if line is None else plain_columns(line)

    def verify(self, spark: SparkSession, version: SourceVersion) -> None:
        """Raise UnusableReferenceError if a file has changed since `version`."""
        if self._stamped(spark) != version:
            raise UnusableReferenceError(f"{self.place} changed while it was read")

    def recipe(self) -> object:
        """Path, format, schema and the reader's options."""
        return [self.place, self._format, self._section.ddl, dict(self._section.options)]

    def _stamped(self, spark: SparkSession) -> SourceVersion:
        stamps = Files(spark).stamps(self.place)
        newest = max((stamp.modified for stamp in stamps), default=0) / 1000
        return SourceVersion(json.dumps([asdict(stamp) for stamp in stamps]), newest)


class CatalogSource(ReferenceSource):
    """A table or a view."""

    def __init__(self, section: CatalogReference) -> None:
        self._section = section
        self.place = f"the table {section.table}"

    def version(self, spark: SparkSession) -> SourceVersion:
        """The result of the section's query, else the stamps of the table's files."""
        requested_at = time.time()
        if self._section.version:
            rows = [row.asDict() for row in spark.sql(self._section.version).collect()]
            return SourceVersion(json.dumps(rows, default=str, sort_keys=True), requested_at)
        # Without a filter in SQL, which would start a Spark job.
        described = spark.sql(f"DESCRIBE TABLE EXTENDED {self._section.table}").collect()
        locations = [row["data_type"] for row in described if row["col_name"] == "Location"]
        stamps = Files(spark).stamps(locations[0]) if locations else ()
        text = json.dumps([asdict(stamp) for stamp in stamps]) if stamps else None
        return SourceVersion(text, requested_at)

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:  # noqa: ARG002 - a table has only the current rows
        """All rows, after a refresh of the file list that Spark caches."""
        spark.catalog.refreshTable(self._section.table)
        return spark.table(self._section.table)

    def recipe(self) -> object:
        """The table's name."""
        return self._section.table
