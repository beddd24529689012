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
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from bench.ratios import in_turns, interval
from bench.report import describe_machine, say, verdict
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.integration.steps import plain_avro

from brokernat.clients.spark.environment import installed_spark
from brokernat.config.avro_schema import avro_columns
from brokernat.errors import MissingToolError
from brokernat.jvm import find_java, resolve, spark_functions_jar, spark_java_home
from brokernat.pipelines.prepared import parse_schema
from brokernat.pipelines.steps.formats import Avro, Registry

Ours = Callable[[str], tuple[Any, str]]
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

    answers: ClassVar[dict[str, object]] = {"/schemas/ids/1": {"schema": json.dumps(SCHEMA)}}

    def do_GET(self) -> None:
        body = json.dumps(self.answers[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def session(module_name: str) -> SparkSession:
    """One core, with one of Spark's modules, such as `spark-avro`."""
    try:
        module = resolve([f"org.apache.spark:{module_name}_2.13:{installed_spark().version}"], transitive=False)
    except MissingToolError as missing:
        say(f"{missing.message}; taking {NEAREST}")
        module = resolve([f"org.apache.spark:{module_name}_2.13:{NEAREST}"], transitive=False)
    builder = SparkSession.builder.master("local[1]").config("spark.jars", f"{spark_functions_jar()},{module[0]}")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.codegen.hugeMethodLimit", "8000")
    return builder.config("spark.driver.memory", "3g").getOrCreate()


def seconds(frame: DataFrame) -> float:
    """How long all columns of a frame take."""
    started = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def race(
    module: str, handler: type[Schemas], values: Sequence[bytes], header: int, ours: Ours, theirs: Callable[[], Column]
) -> int:
    """Reads the values by both in turns; 0 where ours is as fast.

    Args:
        module: of Spark's, see `session`.
        handler: the registry.
        values: a piece of records.
        header: the bytes in front of each that theirs does not read.
        ours: from a URL of the registry to a format and the DDL of its columns.
        theirs: the column of theirs, called with the session started.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="behind the warm-up; default %(default)s")
    wanted = parser.parse_args()
    os.environ["JAVA_HOME"] = str(spark_java_home(find_java(17)))
    describe_machine(f"PySpark {installed_spark().version}")
    spark = session(module)
    spark.sparkContext.setLogLevel("ERROR")
    piece = spark.createDataFrame([(value,) for value in values], "value binary")
    records = piece.crossJoin(spark.range(wanted.records // PIECE)).select("value").persist()
    count = records.count()
    name = f"from_{module.removeprefix('spark-')}"
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        value_format, columns = ours(f"http://127.0.0.1:{server.server_address[1]}")
        row = value_format(F.col("value"), parse_schema(columns), spark)
        decoded = records.select(row.alias("row")).select("row.*")
        assert decoded.where("brokernat_fault IS NOT NULL").count() == 0
        bare = records.select(F.expr(f"substring(value, {header + 1})").alias("value")).persist()
        bare.count()
        other = bare.select(theirs().alias("row")).select("row.*")
        runs = in_turns([lambda: seconds(other), lambda: seconds(decoded)], WARM_UP + wanted.rounds)
        ratios = []
        for number, (spark_s, ours_s) in enumerate(runs):
            say(f"{name} {count / spark_s:,.0f} rows/s, ours {count / ours_s:,.0f} rows/s")
            if number >= WARM_UP:
                ratios.append(spark_s / ours_s)
        server.shutdown()
    found = interval(ratios)
    return 0 if verdict(f"rows/s against {name}", found.show(2), "at least 1.0", found.low >= 1.0) else 1


def main() -> int:
    """0 where ours is as fast."""
    from pyspark.sql.avro.functions import from_avro

    text = json.dumps(SCHEMA)
    return race(
        "spark-avro",
        Schemas,
        orders(),
        5,
        lambda url: (Avro(text, Registry(url)), avro_columns(text)),
        lambda: from_avro("value", text, {"mode": "FAILFAST"}),
    )


if __name__ == "__main__":
    sys.exit(main())
