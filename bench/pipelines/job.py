"""One Spark application that makes tags of orders, drained each time it is told to: `job.py SIDE DESCRIPTION`.

SIDE is `hand`, the job as a good engineer writes it without brokernat, or `product`, a pipeline of brokernat.yaml.
DESCRIPTION is the JSON of a `Work`. Each line of standard input is the name of one drain, which begins at the earliest
offset with a checkpoint of its own and ends when everything that was there is written; the answer is a line of JSON:
rows, seconds. `job.py stream DESCRIPTION` is the job by hand that goes on until it is ended.
"""

import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamWriter

from brokernat import config
from brokernat.address import Endpoint
from brokernat.clients.spark import Role, configure, kafka_options
from brokernat.clients.spark.connector import connector_jars
from brokernat.clients.spark.environment import installed_spark
from brokernat.config import Cluster
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.checkpoint.state import State
from brokernat.pipelines.pipeline import start
from brokernat.pipelines.prepared import Prepared

CUSTOMERS = "customer_id STRING, name STRING, segment STRING, region STRING"
SCHEMA = "order_id STRING, customer_id STRING, amount DOUBLE, at TIMESTAMP"
ORDERS, TAGS, DEAD_LETTERS, PIPELINE = "orders", "tags", "tags.dead", "tags"
SETTINGS = {
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}


@dataclass(frozen=True)
class Work:
    """What both sides do; addresses are what the job without a map dials."""

    folder: str
    """With brokernat.yaml, my_tags.py and customers.csv."""
    master: str
    source: str
    sink: str
    batch: int | None
    """Records of one batch at most."""
    transform: bool


def by_hand(spark: SparkSession, work: Work) -> DataFrame:
    """Rows for the sink: strict enough to find what is no order, one broadcast join, topic by row."""
    source = Cluster("source", _endpoints(work.source))
    stream = spark.readStream.format("kafka").options(**kafka_options(source, role=Role.SOURCE))
    stream = stream.option("subscribe", ORDERS).option("startingOffsets", "earliest")
    if work.batch:
        stream = stream.option("maxOffsetsPerTrigger", work.batch)
    records = stream.load()
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt"}
    text = F.col("value").cast("string")
    orders = records.select("key", "value", F.from_json(text, f"{SCHEMA}, corrupt STRING", options).alias("order"))
    orders = orders.select("key", "value", "order.*")
    customers = spark.read.csv(f"{work.folder}/customers.csv", CUSTOMERS, header=True).drop("name").cache()
    joined = orders.join(F.broadcast(customers), "customer_id", "left")
    well = F.col("corrupt").isNull() & F.col("segment").isNotNull()
    columns = ["order_id", "customer_id", "amount", "at", "segment", "region"]
    if work.transform:
        big = F.when(F.col("amount") >= 500, "big").otherwise("small")
        joined = joined.withColumn("tag", F.concat_ws("-", "segment", "region", big))
        columns.append("tag")
    tag = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"}).cast("binary")
    return joined.select(
        F.when(well, F.lit(TAGS)).otherwise(F.lit(DEAD_LETTERS)).alias("topic"),
        F.when(well, F.col("customer_id").cast("binary")).otherwise(F.col("key")).alias("key"),
        F.when(well, tag).otherwise(F.col("value")).alias("value"),
    )


def written_by_hand(spark: SparkSession, work: Work, name: str) -> DataStreamWriter:
    """The query of the job by hand."""
    sink = Cluster("sink", _endpoints(work.sink))
    writer = by_hand(spark, work).writeStream.format("kafka").options(**kafka_options(sink, role=Role.SINK))
    return writer.option("kafka.acks", "all").option("checkpointLocation", f"{work.folder}/hand-{name}")


def drain_by_hand(spark: SparkSession, work: Work, name: str) -> int:
    """Read everything; the number of records."""
    query = written_by_hand(spark, work, name).trigger(availableNow=True).start()
    query.awaitTermination()
    return sum(int(progress["numInputRows"]) for progress in query.recentProgress)


def drain_product(spark: SparkSession, prepared: Prepared, name: str) -> int:
    """Read everything; the number of records."""
    checkpoint = str(prepared.folder / f"product-{name}")
    pipeline = prepared.pipeline.model_copy(update={"checkpoint": checkpoint})
    reports: list[BatchReport] = []
    run = start(spark, replace(prepared, pipeline=pipeline, state=State(checkpoint)), reports.append, once=True)
    while run.poll():
        pass
    return sum(report.counts.received for report in reports)


def session(side: str, work: Work, prepared: Prepared) -> SparkSession:
    """As the README of each side says."""
    builder = SparkSession.builder.master(work.master)
    for name, value in SETTINGS.items():
        builder.config(name, value)
    if side == "product":
        configure(builder, prepared.clusters)
    else:
        builder.config("spark.jars", ",".join(map(str, connector_jars(installed_spark()).jars)))
    return builder.getOrCreate()


def main() -> None:
    """Serve until standard input ends."""
    side, work = sys.argv[1], Work(**json.loads(sys.argv[2]))
    prepared = Prepared.of(config.load(Path(work.folder, "brokernat.yaml")), PIPELINE)
    spark = session(side, work, prepared)
    if side == "stream":
        written_by_hand(spark, work, side).start().awaitTermination()
    for line in sys.stdin:
        name = line.strip()
        began = time.monotonic()
        rows = drain_product(spark, prepared, name) if side == "product" else drain_by_hand(spark, work, name)
        print(json.dumps({"rows": rows, "seconds": time.monotonic() - began}), flush=True)
    spark.stop()


def _endpoints(text: str) -> tuple[Endpoint, ...]:
    return tuple(Endpoint.parse(part) for part in text.split(","))


if __name__ == "__main__":
    print(f"PySpark {pyspark.__version__}", file=sys.stderr)
    main()
