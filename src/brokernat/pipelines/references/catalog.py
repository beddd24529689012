"""A table of a catalog of Spark's as a reference: Hive, Iceberg, Delta, or whatever Spark is set up with.

Its version is the answer of a statement, else the files at its location, as Spark names it. A view has no location, so
its rows are read each time it is looked at.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from brokernat.config.model import CatalogReference
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.references.source import ReferenceSource, SourceVersion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class CatalogSource(ReferenceSource):
    """A table or a view."""

    def __init__(self, section: CatalogReference) -> None:
        self._section = section
        self.place = f"the table {section.table}"

    def version(self, spark: SparkSession) -> SourceVersion:
        """What the section's statement returns, else the stamps of the table's files."""
        asked_at = time.time()
        if self._section.version:
            rows = [row.asDict() for row in spark.sql(self._section.version).collect()]
            return SourceVersion(json.dumps(rows, default=str, sort_keys=True), asked_at)
        # All of it, because a filter would be a job.
        described = spark.sql(f"DESCRIBE TABLE EXTENDED {self._section.table}").collect()
        locations = [row["data_type"] for row in described if row["col_name"] == "Location"]
        stamps = Files(spark).stamps(locations[0]) if locations else ()
        text = json.dumps([asdict(stamp) for stamp in stamps]) if stamps else None
        return SourceVersion(text, asked_at)

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:  # noqa: ARG002 - it has the newest alone
        """All rows. Spark keeps the list of a table's files, so it is told to look anew."""
        spark.catalog.refreshTable(self._section.table)
        return spark.table(self._section.table)

    def recipe(self) -> object:
        """The table's name."""
        return self._section.table
