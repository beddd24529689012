"""A Spark job that somebody wrote before there was brokernat: one topic to another."""

# ruff: noqa: T201 - as people write them

import sys

from pyspark.sql import SparkSession

servers, source, target = sys.argv[1:4]
spark = SparkSession.builder.appName("copy").config("spark.sql.shuffle.partitions", "2").getOrCreate()
options = {"kafka.bootstrap.servers": servers, "kafka.default.api.timeout.ms": "30000"}
orders = spark.read.format("kafka").options(**options).option("subscribe", source).load()
kept = orders.selectExpr("key", "value").repartition(2)
kept.write.format("kafka").options(**options).option("topic", target).save()
print("executors", spark.sparkContext.master)
spark.stop()
