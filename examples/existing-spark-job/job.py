"""A Structured Streaming job as it was, and the lines that let it reach headquarters (marked +)."""

from pyspark.sql import SparkSession

from brokernat.clients.spark import Role, configure, kafka_options, prove  # +
from brokernat.config import load  # +

clusters = load("brokernat.yaml").clusters  # +
hq, local = clusters["hq"], clusters["local"]  # +

builder = SparkSession.builder.appName("large-orders")
spark = configure(builder, clusters).getOrCreate()  # + was: builder.getOrCreate()
prove(spark, clusters, topics={"hq": ["orders"], "local": ["large"]}).raise_for_failures()  # +

orders = (
    spark.readStream.format("kafka")
    .options(**kafka_options(hq, role=Role.SOURCE))  # + was: .option("kafka.bootstrap.servers", ...)
    .option("subscribe", "orders")
    .option("startingOffsets", "earliest")
    .load()
)
large = orders.selectExpr("key", "value").where("get_json_object(cast(value AS STRING), '$.amount') > 1000")
query = (
    large.writeStream.format("kafka")
    .options(**kafka_options(local, role=Role.SINK))  # + was: .option("kafka.bootstrap.servers", ...)
    .option("topic", "large")
    .option("checkpointLocation", "checkpoint")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
spark.stop()
