"""A Spark job that somebody wrote before there was brokernat: one topic to another."""

# ruff: noqa: T201 - as people write them

import sys

from pyspark.sql import SparkSession

servers, source, target, patience = sys.argv[1:]
spark = SparkSession.builder.appName("copy").config("spark.sql.shuffle.partitions", "2").getOrCreate()
timeouts = dict.fromkeys(("kafka.default.api.timeout.ms", "kafka.request.timeout.ms"), patience)
options = {"kafka.bootstrap.servers": servers, **timeouts}
orders = spark.read.format("kafka").options(**options).option("subscribe", source).load()
copied = orders.selectExpr("key", "value").repartition(2)
copied.write.format("kafka").options(**options).option("kafka.compression.type", "none").option("topic", target).save()
owner = spark.sparkContext._jvm.System.getProperty("owner")  # type: ignore[union-attr]
print("copied by", spark.sparkContext.master, "for", owner)
spark.stop()
