"""A user's own job: ONE application that reads two clusters which advertise the same addresses, and writes to a third.

    two_headquarters.py CONFIG TOPIC SINK_TOPIC CHECKPOINT

Both are sources of one query, so their clients live side by side in each executor. Every record says in a header which
source it was read from; its value says where it was written to.
"""

import sys
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from brokernat.clients.spark import Role, configure, kafka_options, prove
from brokernat.config import load

SOURCES = ("hq", "hq2")


def main(file: str, topic: str, sink_topic: str, checkpoint: str) -> None:
    """Drain both topics into one."""
    clusters = load(file).clusters
    spark = configure(SparkSession.builder.appName("two headquarters"), clusters).getOrCreate()
    prove(spark, clusters, timeout=180).raise_for_failures()

    def records(name: str) -> DataFrame:
        options = kafka_options(clusters[name], role=Role.SOURCE)
        stream = spark.readStream.format("kafka").options(**options).option("subscribe", topic)
        stream = stream.option("startingOffsets", "earliest")
        parts = (F.lit(name), F.col("topic"), F.col("partition").cast("string"), F.col("offset").cast("string"))
        place = F.concat_ws("/", *parts)
        header = F.struct(F.lit("read-from").alias("key"), place.cast("binary").alias("value"))
        return stream.load().select("key", "value", F.array(header).alias("headers"))

    both = reduce(DataFrame.unionByName, map(records, SOURCES))
    writer = both.writeStream.format("kafka").options(**kafka_options(clusters["local"], role=Role.SINK))
    writer = (
        writer.option("topic", sink_topic).option("includeHeaders", "true").option("checkpointLocation", checkpoint)
    )
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
