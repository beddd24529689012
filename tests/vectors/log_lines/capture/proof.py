"""A Spark job that is expected not to start: its map lacks rules. A situation as JSON on standard input."""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

from brokernat.address import AddressMap, Endpoint
from brokernat.clients.spark import configure, prove
from brokernat.config import Cluster


def main() -> None:
    it = json.load(sys.stdin)
    cluster = Cluster("hq", tuple(map(Endpoint.parse, it["servers"].split(","))), AddressMap.parse(it["map"]))
    builder = SparkSession.Builder().master("local[1]").config("spark.ui.enabled", "false")
    spark = configure(builder.config("spark.driver.host", "127.0.0.1"), [cluster]).getOrCreate()
    try:
        prove(spark, [cluster]).raise_for_failures()
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
