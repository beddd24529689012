"""Records to columns: a format on the envelope. What does not have the declared type is a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.clients.spark import decode as json
from brokernat.pipelines.steps.envelope import COORDINATES, FAULT, VALUE, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from brokernat.pipelines.steps.formats import ValueFormat

_DECODED = "brokernat_decoded"


def decode(envelope: DataFrame, schema: StructType, value_format: ValueFormat = json) -> DataFrame:
    """Add `brokernat_fault` and one column per field of the schema.

    Raises:
        ConfigError: the schema has a type that the format cannot be read as, or a reserved name.
    """
    from pyspark.sql import functions as F  # noqa: N812

    # A step of its own: an expression that stands in several columns would be computed for each of them.
    taken = envelope.withColumn(_DECODED, value_format(F.col(VALUE), schema, envelope.sparkSession))
    return taken.select(
        COORDINATES,
        VALUE,
        F.col(f"{_DECODED}.{FAULT}").alias(FAULT),
        *(F.col(f"{_DECODED}.{quoted(name)}").alias(name) for name in schema.fieldNames()),
    )
