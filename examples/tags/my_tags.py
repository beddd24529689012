"""What makes a tag of an order and its customer: DataFrame -> DataFrame."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


def tag(records: DataFrame) -> DataFrame:
    """Leaves test orders out and says how big an order is. `brokernat_src` has to stay: it ties a tag to its record."""
    return (
        records.where(F.col("amount") > 0)
        .withColumn("size", F.when(F.col("amount") >= 500, "big").otherwise("small"))
        .select("brokernat_src", "order_id", "customer_id", "segment", "region", "size", "at")
    )
