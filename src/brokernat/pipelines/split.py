"""Well or not: the one place that asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.pipelines.envelope import FAULT, VALUE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def well(records: DataFrame) -> DataFrame:
    """The records without a fault: `brokernat_src` and the decoded and added columns, what a transform gets to see."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.where(F.col(FAULT).isNull()).drop(FAULT, VALUE)


def faulty(records: DataFrame) -> DataFrame:
    """The records with a fault: what becomes dead letters."""
    from pyspark.sql import functions as F  # noqa: N812

    return records.where(F.col(FAULT).isNotNull())
