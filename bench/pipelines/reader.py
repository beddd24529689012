"""A Spark application that reads a topic to its end each time it is told to, and prints how long it took.

`python -m bench.pipelines.reader BROKER`; each line of standard input is a topic and an arm as a JSON list.
"""

import json
import sys
import time

from pyspark.sql import SparkSession

from brokernat.address import Endpoint
from brokernat.clients.spark import Role, kafka_options
from brokernat.clients.spark.connector import connector_jars
from brokernat.clients.spark.environment import installed_spark
from brokernat.config import Cluster

SETTINGS: dict[str, bool | float | int | str | None] = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
}


def main() -> None:
    """Serve until standard input ends."""
    (broker,) = sys.argv[1:]
    jars = ",".join(map(str, connector_jars(installed_spark()).jars))
    spark = SparkSession.builder.master("local[4]").config("spark.jars", jars).config(map=SETTINGS).getOrCreate()
    endpoint = Endpoint.parse(broker)
    arms = {
        "stock": {"kafka.bootstrap.servers": broker},
        "lan": kafka_options(Cluster("line", (endpoint,), profile="lan"), role=Role.SOURCE),
        "wan": kafka_options(Cluster("line", (endpoint,), profile="wan"), role=Role.SOURCE),
    }
    arms["wan over 4 connections"] = {**arms["wan"], "minPartitions": "4"}
    for line in sys.stdin:
        topic, arm = json.loads(line)
        began = time.monotonic()
        rows = spark.read.format("kafka").options(**arms[arm]).option("subscribe", topic).load()
        rows.write.format("noop").mode("overwrite").save()
        print(json.dumps({"seconds": time.monotonic() - began}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
