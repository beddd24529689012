"""The steps of a pipeline as pure functions, DataFrame -> DataFrame.

The running query, the check before it (without rows) and the tests (with constructed rows) use the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.clients.spark import decode as json
from brokernat.clients.spark.functions import FAULT
from brokernat.config.model import Sink
from brokernat.pipelines.steps.enrich import check_columns, enrich
from brokernat.pipelines.steps.envelope import KEPT, VALUE
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
    """One `enrich` entry with its current data."""

    reference: str
    key: str
    frame: DataFrame
    lookup: Lookup | None = None
    """A function to use instead of a join with the frame."""


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
            ConfigError: two columns have the same name.
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
        """The records without a fault, after the user's transform if there is one."""
        good = without_fault(records)
        return self.transform(good) if self.transform else good

    def outgoing(self, records: DataFrame, transformed: DataFrame | None = None) -> DataFrame | None:
        """A row for each record in one pass: its tag, its dead letter, or a null topic if the transform drops it.

        Args:
            records: decoded and enriched.
            transformed: see `transformed`; computed if None.

        Returns:
            Rows for the Kafka sink: topic, key, value, headers. None if the transform is not known to work row by
            row, or calls Python functions.
        """
        from pyspark.sql import functions as F  # noqa: N812

        is_tag = F.col(FAULT).isNull()
        if self.transform:
            good = without_fault(records)
            transformed = transformed or self.transform(good)
            all_records = over_all(records, good, transformed) if is_row_by_row(good, transformed) else None
            if all_records is None:
                return None
            records, is_tag = all_records, F.col(KEPT)
        key, content = tag(records, key=self.sink.key, tag_format=self.tag_format)
        return kafka_records(records, self.sink, pipeline=self.name, key=key, tag=F.when(is_tag, content))

    def tags(self, transformed: DataFrame) -> DataFrame:
        """The result of a transform, as rows for the Kafka sink."""
        key, content = tag(transformed, key=self.sink.key, tag_format=self.tag_format)
        return kafka_records(transformed, self.sink, pipeline=self.name, key=key, tag=content, faults=False)

    def dead_letters(self, records: DataFrame) -> DataFrame:
        """The records with a fault, as rows for the Kafka sink."""
        return kafka_records(with_fault(records), self.sink, pipeline=self.name)


def without_fault(records: DataFrame) -> DataFrame:
    """The records without a fault, the input of a transform: `brokernat_src`, the decoded and the added columns."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.where(F.col(FAULT).isNull()).drop(FAULT, VALUE)


def with_fault(records: DataFrame) -> DataFrame:
    """The records with a fault, which become dead letters."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.where(F.col(FAULT).isNotNull())
