"""A Spark application that drains the topic each time it is told to, and says how long it took.

`drain.py BOOTSTRAP SINK RULES FOLDER`; without RULES it has neither map nor agent. Each line of standard input is
one drain: from the earliest offset, with a checkpoint of its own, until everything that was there is written.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from brokernat.address import AddressMap, Endpoint
from brokernat.clients.spark import Role, configure, kafka_options
from brokernat.clients.spark.connector import connector_jars
from brokernat.clients.spark.environment import installed_spark
from brokernat.config import Cluster

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def main() -> None:
    """Serve until standard input ends."""
    bootstrap, sink, rules, folder = sys.argv[1:]
    source = Cluster("hq", _endpoints(bootstrap), AddressMap.parse(rules) if rules else None)
    local = Cluster("local", _endpoints(sink))
    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder.config(name, value)
    if rules:
        configure(builder, [source, local])
    else:
        builder.config("spark.jars", ",".join(map(str, connector_jars(installed_spark()).jars)))
    spark = builder.getOrCreate()
    for number, _ in enumerate(sys.stdin):
        began = time.monotonic()
        stream = spark.readStream.format("kafka").options(**kafka_options(source, role=Role.SOURCE))
        rows = stream.option("subscribe", "orders").option("startingOffsets", "earliest").load().select("value")
        writer = rows.writeStream.format("kafka").options(**kafka_options(local, role=Role.SINK))
        writer = writer.option("topic", "drained").option("checkpointLocation", str(Path(folder) / str(number)))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        seconds = time.monotonic() - began
        done = sum(int(progress["numInputRows"]) for progress in query.recentProgress)
        print(json.dumps({"seconds": seconds, "rows": done}), flush=True)
    spark.stop()


def _endpoints(text: str) -> tuple[Endpoint, ...]:
    return tuple(Endpoint.parse(part) for part in text.split(","))


if __name__ == "__main__":
    main()
