"""Avro records by our decoder and by Spark's `from_avro`: `python -m bench.decoder.against_from_avro`.

The same records, in memory, on one core and in one JVM, in turns; a sink that throws the columns away. Ours begin with
the id of their schema and are read through a registry, which `from_avro` cannot do: it gets the bytes behind the id.
"""

import argparse
import json
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench.ratios import in_turns, interval
from bench.report import describe_machine, say, verdict
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.integration.steps import plain_avro

from brokernat.clients.spark.environment import installed_spark
from brokernat.config.avro_schema import avro_columns
from brokernat.errors import MissingToolError
from brokernat.jvm import find_java, resolve, spark_functions_jar, spark_java_home
from brokernat.pipelines.prepared import parse_schema
from brokernat.pipelines.steps.formats import Registry, SchemaValues

PIECE = 2_000
NEAREST = "4.1.1"
"""Of Spark's module for Avro, where the repository lacks the one of the Spark that runs."""
WARM_UP = 3
"""Rounds for the compiler."""
SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "customer_id", "type": ["null", "string"]},
        {"name": "amount", "type": "double"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
            {"name": "article", "type": "string"}, {"name": "count", "type": "int"},
        ]}}},
    ],
}  # fmt: skip


def orders() -> list[bytes]:
    """A piece of records, each behind five bytes."""
    dice = random.Random(1)
    made = (
        {
            "order_id": f"order-{number}",
            "customer_id": f"customer-{dice.randrange(1000)}" if dice.random() < 0.9 else None,
            "amount": dice.random() * 1000,
            "at": 1_767_600_000_000_000 + dice.randrange(10**12),
            "state": dice.choice(["NEW", "PAID", "SENT"]),
            "lines": [{"article": f"a{dice.randrange(500)}", "count": 1} for _ in range(dice.randrange(4))],
        }
        for number in range(PIECE)
    )
    return [b"\0\0\0\0\1" + plain_avro.encode(SCHEMA, each) for each in made]


class Schemas(BaseHTTPRequestHandler):
    """A registry with one schema."""

    def do_GET(self) -> None:
        body = json.dumps({"schema": json.dumps(SCHEMA)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def session() -> SparkSession:
    """One core, with the module that has `from_avro`."""
    try:
        module = resolve([f"org.apache.spark:spark-avro_2.13:{installed_spark().version}"], transitive=False)
    except MissingToolError as missing:
        say(f"{missing.message}; taking {NEAREST}")
        module = resolve([f"org.apache.spark:spark-avro_2.13:{NEAREST}"], transitive=False)
    builder = SparkSession.builder.master("local[1]").config("spark.jars", f"{spark_functions_jar()},{module[0]}")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.codegen.hugeMethodLimit", "8000")
    return builder.config("spark.driver.memory", "3g").getOrCreate()


def seconds(frame: DataFrame) -> float:
    """How long all columns of a frame take."""
    started = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def main() -> int:
    """0 where ours is as fast."""
    from pyspark.sql.avro.functions import from_avro

    parser = argparse.ArgumentParser(prog="python -m bench.decoder.against_from_avro", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="behind the warm-up; default %(default)s")
    wanted = parser.parse_args()
    os.environ["JAVA_HOME"] = str(spark_java_home(find_java(17)))
    describe_machine(f"PySpark {installed_spark().version}")
    spark = session()
    spark.sparkContext.setLogLevel("ERROR")
    piece = spark.createDataFrame([(value,) for value in orders()], "value binary")
    records = piece.crossJoin(spark.range(wanted.records // PIECE)).select("value").persist()
    count = records.count()
    text = json.dumps(SCHEMA)
    with ThreadingHTTPServer(("127.0.0.1", 0), Schemas) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ours = SchemaValues("avro", text, Registry(f"http://127.0.0.1:{server.server_address[1]}"))
        decoded = records.select(ours(F.col("value"), parse_schema(avro_columns(text)), spark).alias("row")).select(
            "row.*"
        )
        assert decoded.where("brokernat_fault IS NOT NULL").count() == 0
        bare = records.select(F.expr("substring(value, 6)").alias("value")).persist()
        bare.count()
        theirs = bare.select(from_avro("value", text, {"mode": "FAILFAST"}).alias("row")).select("row.*")
        runs = in_turns([lambda: seconds(theirs), lambda: seconds(decoded)], WARM_UP + wanted.rounds)
        ratios = []
        for number, (spark_s, ours_s) in enumerate(runs):
            say(f"from_avro {count / spark_s:,.0f} rows/s, ours {count / ours_s:,.0f} rows/s")
            if number >= WARM_UP:
                ratios.append(spark_s / ours_s)
        server.shutdown()
    found = interval(ratios)
    return 0 if verdict("rows/s against from_avro", found.show(2), "at least 1.0", found.low >= 1.0) else 1


if __name__ == "__main__":
    sys.exit(main())
