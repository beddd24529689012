"""Spark jobs that are expected to fail: a list of situations as JSON on standard input, one Spark for all.

`spark_client.py without-connector` is Spark as it comes by pip.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from brokernat.clients.spark.connector import connector_jars

_PATIENCE = {
    "kafka.default.api.timeout.ms": "4000",
    "kafka.request.timeout.ms": "2500",
    "kafka.max.block.ms": "4000",
    "kafka.delivery.timeout.ms": "4000",
    "kafka.linger.ms": "0",
    "kafkaConsumer.pollTimeoutMs": "3000",
    "fetchOffset.numRetries": "1",
}


def main() -> None:
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    builder.config("spark.driver.host", "127.0.0.1").config("spark.task.maxFailures", "1")
    if "without-connector" not in sys.argv:
        jars = connector_jars("4.3.0").jars
        builder.config("spark.jars", ",".join(map(str, jars)))
    spark = builder.getOrCreate()
    for situation in json.load(sys.stdin):
        for job in ALONE.get(situation["name"], JOBS):
            _mark(situation["name"])
            try:
                job(spark, situation)
            except Exception:  # noqa: BLE001 - it shall fail
                traceback.print_exc()
    spark.stop()


def read_batch(spark: SparkSession, it: dict[str, Any]) -> None:
    begin, end = ({it["topic"]: {str(p): offset for p in range(it["partitions"])}} for offset in it["offsets"])
    reader = spark.read.format("kafka").options(**_options(it)).option("subscribe", it["topic"])
    reader.option("startingOffsets", json.dumps(begin)).option("endingOffsets", json.dumps(end)).load().count()


def read_stream(spark: SparkSession, it: dict[str, Any]) -> None:
    reader = spark.readStream.format("kafka").options(**_options(it)).option("subscribe", it["topic"])
    with tempfile.TemporaryDirectory() as checkpoint:
        stream = reader.load().writeStream.format("noop").option("checkpointLocation", checkpoint).queryName("tags")
        query = stream.trigger(availableNow=True).start()
        query.awaitTermination(20)
        query.stop()


def go_on_elsewhere(spark: SparkSession, it: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as checkpoint:
        _take_all(spark, it, checkpoint)
        _take_all(spark, it | {"servers": it["elsewhere"]}, checkpoint)


def go_on_without_records(spark: SparkSession, it: dict[str, Any]) -> None:
    from kafka import KafkaAdminClient, TopicPartition

    with tempfile.TemporaryDirectory() as checkpoint:
        _take_all(spark, it, checkpoint)
        for _ in range(5):
            write(spark, it)
        admin = KafkaAdminClient(bootstrap_servers=it["servers"])
        admin.delete_records({TopicPartition(it["topic"], 0): 13})
        admin.close()
        _take_all(spark, it, checkpoint)


def read_impatiently(spark: SparkSession, it: dict[str, Any]) -> None:
    reader = spark.read.format("kafka").options(**_options(it) | {"kafkaConsumer.pollTimeoutMs": "1"})
    reader.option("subscribe", it["topic"]).load().count()


def _take_all(spark: SparkSession, it: dict[str, Any], checkpoint: str) -> None:
    reader = spark.readStream.format("kafka").options(**_options(it)).option("startingOffsets", "earliest")
    stream = reader.option("subscribe", it["topic"]).load().writeStream.format("noop").queryName("tags")
    query = stream.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination(60)


def write(spark: SparkSession, it: dict[str, Any]) -> None:
    frame = spark.createDataFrame([("x" * it["size"],)], "value STRING")
    frame.write.format("kafka").options(**_options(it)).option("topic", it["topic"]).save()


def _options(it: dict[str, Any]) -> dict[str, str]:
    return _PATIENCE | {"kafka.bootstrap.servers": it["servers"], "kafka.security.protocol": it["protocol"]}


def _mark(name: str) -> None:
    sys.stderr.write(f"<<<{name}\n")
    sys.stderr.flush()


JOBS: tuple[Callable[[SparkSession, dict[str, Any]], None], ...] = (read_batch, read_stream, write)

# Situations that are about one thing.
ALONE: dict[str, tuple[Callable[[SparkSession, dict[str, Any]], None], ...]] = {
    "elsewhere": (go_on_elsewhere,),
    "deleted": (go_on_without_records,),
    "impatient": (read_impatiently,),
}

if __name__ == "__main__":
    main()
