"""The steps of a pipeline as frames: pure DataFrame -> DataFrame.

The same frames serve the running query, the check before it (with no rows) and the tests (with rows made by hand).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.clients.spark import decode as json
from brokernat.config.model import Sink
from brokernat.pipelines.steps.enrich import check_columns, enrich
from brokernat.pipelines.steps.envelope import FAULT, KEPT, VALUE
from brokernat.pipelines.steps.formats import decode
from brokernat.pipelines.steps.row_by_row import is_row_by_row, over_all
from brokernat.pipelines.steps.sink import kafka_records, tag
from brokernat.pipelines.steps.transform import Transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from brokernat.pipelines.steps.enrich import Lookup
    from brokernat.pipelines.steps.formats import TagFormat, ValueFormat


@dataclass(frozen=True, slots=True)
class Join:
    """One `enrich` entry with the data it joins now."""

    reference: str
    key: str
    frame: DataFrame
    lookup: Lookup | None = None
    """In place of a join with the frame, which shows what there is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one pipeline."""

    name: str
    schema: StructType
    sink: Sink
    transform: Transform | None = None
    value_format: ValueFormat = json
    tag_format: TagFormat | None = None
    """None for JSON."""

    def decode_and_enrich(self, envelope: DataFrame, joins: Sequence[Join]) -> DataFrame:
        """Decoded and enriched records, each with its fault or null.

        Raises:
            ConfigError: a column that would hide another.
        """
        records = decode(envelope, self.schema, self.value_format)
        for join in joins:
            added = [column for column in join.frame.columns if column != join.key]
            check_columns(records.columns, added, name=join.reference)
            records = enrich(
                records, join.frame, name=join.reference, key=join.key, reference_key=join.key, lookup=join.lookup
            )
        return records

    def transformed(self, records: DataFrame) -> DataFrame:
        """The records without a fault, through the user's transform where there is one."""
        good = well(records)
        return self.transform(good) if self.transform else good

    def outgoing(self, records: DataFrame, transformed: DataFrame | None = None) -> DataFrame | None:
        """A row for each record in one pass: its tag, its dead letter, or a null topic where the transform drops it.

        Args:
            records: decoded and enriched.
            transformed: see `transformed`; made of them where it is not given.

        Returns:
            Rows for Spark's Kafka sink: topic, key, value, headers. None where the transform is not known to work row
            by row, or calls Python functions.
        """
        from pyspark.sql import functions as F  # noqa: N812

        is_tag = F.col(FAULT).isNull()
        if self.transform:
            good = well(records)
            transformed = transformed or self.transform(good)
            everything = over_all(records, good, transformed) if is_row_by_row(good, transformed) else None
            if everything is None:
                return None
            records, is_tag = everything, F.col(KEPT)
        key, content = tag(records, key=self.sink.key, tag_format=self.tag_format)
        return kafka_records(records, self.sink, pipeline=self.name, key=key, tag=F.when(is_tag, content))

    def tags(self, transformed: DataFrame) -> DataFrame:
        """What a transform returned, as rows for Spark's Kafka sink."""
        key, content = tag(transformed, key=self.sink.key, tag_format=self.tag_format)
        return kafka_records(transformed, self.sink, pipeline=self.name, key=key, tag=content, faults=False)

    def dead_letters(self, records: DataFrame) -> DataFrame:
        """The records with a fault, as rows for Spark's Kafka sink."""
        return kafka_records(faulty(records), self.sink, pipeline=self.name)


def well(records: DataFrame) -> DataFrame:
    """The records without a fault: `brokernat_src` and the decoded and added columns, what a transform gets."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.where(F.col(FAULT).isNull()).drop(FAULT, VALUE)


def faulty(records: DataFrame) -> DataFrame:
    """The records with a fault: what becomes dead letters."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.where(F.col(FAULT).isNotNull())
