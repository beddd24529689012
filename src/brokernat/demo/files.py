"""The files that a user would write, for the world that runs: brokernat.yaml, the reference data, the transform."""

from __future__ import annotations

from pathlib import Path

from brokernat.config import Cluster
from brokernat.demo.data import customers_csv

ORDERS, TAGS, DEAD_LETTERS, PIPELINE = "orders", "tags", "tags.dead", "tags"

_FILE = """\
clusters:
  hq:
    bootstrap_servers: {hq_bootstrap}
    address_map:
{rules}
  local:
    bootstrap_servers: {local_bootstrap}

pipelines:
  {pipeline}:
    source: {{cluster: hq, topics: [{orders}], starting_offsets: earliest}}
    decode: {{format: json, schema: "order_id STRING, customer_id STRING, amount DOUBLE, at TIMESTAMP"}}
    enrich:
      - {{reference: customers, key: customer_id}}
    references:
      customers: {{format: csv, path: customers.csv, options: {{header: true}}, refresh: every_batch}}
    transform: demo_tags:tag
    sink: {{cluster: local, topic: {tags}, key: customer_id, dead_letters: {dead}}}
    checkpoint: state/{pipeline}
"""

_TRANSFORM = """\
from pyspark.sql import DataFrame, functions as F


def tag(orders: DataFrame) -> DataFrame:
    big = F.when(F.col("amount") >= 500, "big").otherwise("small")
    return orders.withColumn("tag", F.concat_ws("-", "segment", "region", big))
"""


def write_files(folder: Path, hq: Cluster, local: Cluster) -> Path:
    """Write all three into `folder` and return the path of brokernat.yaml.

    Args:
        folder: an empty folder.
        hq: the cluster with the address map.
        local: the cluster on this side.
    """
    rules = hq.address_map.rules if hq.address_map else ()
    text = _FILE.format(
        hq_bootstrap=",".join(map(str, hq.bootstrap_servers)),
        local_bootstrap=",".join(map(str, local.bootstrap_servers)),
        rules="\n".join(f"      - {str(rule).replace('=', ' = ')}" for rule in rules),
        pipeline=PIPELINE,
        orders=ORDERS,
        tags=TAGS,
        dead=DEAD_LETTERS,
    )
    (folder / "customers.csv").write_text(customers_csv(), encoding="utf-8")
    (folder / "demo_tags.py").write_text(_TRANSFORM, encoding="utf-8")
    file = folder / "brokernat.yaml"
    file.write_text(text, encoding="utf-8")
    return file
