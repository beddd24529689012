"""What every batch of a pipeline has in common, and the frames of one batch: pure DataFrame -> DataFrame.

The same frames serve the running query, the check before it (with no rows) and the tests (with rows made by hand).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.config.model import Sink
from brokernat.pipelines.dead_letter import dead_letters
from brokernat.pipelines.decode import decode
from brokernat.pipelines.enrich import check_columns, enrich
from brokernat.pipelines.sink import tags
from brokernat.pipelines.split import faulty, well
from brokernat.pipelines.transform import Transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class Join:
    """One `enrich` entry with the data it joins now."""

    reference: str
    key: str
    frame: DataFrame


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one pipeline."""

    name: str
    schema: StructType
    sink: Sink
    transform: Transform | None = None

    def sort(self, envelope: DataFrame, joins: Sequence[Join]) -> DataFrame:
        """Decoded and enriched records, each with its fault or null.

        Raises:
            ConfigError: a column that would hide another.
        """
        records = decode(envelope, self.schema)
        for join in joins:
            added = [column for column in join.frame.columns if column != join.key]
            check_columns(records.columns, added, name=join.reference)
            records = enrich(records, join.frame, name=join.reference, key=join.key, reference_key=join.key)
        return records

    def transformed(self, records: DataFrame) -> DataFrame:
        """What is well, through the user's transform."""
        good = well(records)
        return self.transform(good) if self.transform else good

    def rows(self, records: DataFrame, transformed: DataFrame) -> DataFrame:
        """Everything that leaves: tags and dead letters, the topic per row."""
        good = tags(transformed, topic=self.sink.topic, key=self.sink.key)
        return good.unionByName(dead_letters(faulty(records), pipeline=self.name, topic=self.sink.dead_letters))
