"""An ordinary PySpark job: copies the values of a topic to another one. Nothing in it knows of a map."""

import sys

from pyspark.sql import SparkSession

servers, source, target = sys.argv[1:]
spark = SparkSession.builder.appName("copy").getOrCreate()
records = spark.read.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", source).load()
(
    records.select("value")
    .write.format("kafka")
    .option("kafka.bootstrap.servers", servers)
    # What the testbed reads back without a library.
    .option("kafka.compression.type", "none")
    .option("topic", target)
    .save()
)
spark.stop()
