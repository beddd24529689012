"""The data of the demo: orders and customers, and the user's files (brokernat.yaml, reference data, transform).

Each run generates orders and customers from a seed, so all counts are known in advance. Most orders become tags. The
broken records are the kinds that occur in real streams: truncated, a field of the wrong type, a customer that is not in
the reference, no customer at all. The script compares the pipeline's counts with `Orders.expected_tags` and
`Orders.expected_dead_letters`.
"""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from brokernat.config import Cluster

SEGMENTS = ("retail", "wholesale", "online", "partner")
REGIONS = ("north", "south", "east", "west")
FIRST_ORDER_AT = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
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


@dataclass(frozen=True)
class Orders:
    """`records` are (key, value) in the order of production; the counts are the expected results."""

    records: tuple[tuple[str, str], ...]
    expected_tags: int
    expected_dead_letters: int


def customers_csv(count: int = 200) -> str:
    """`count` customers as CSV with a header line: customer_id, name, segment, region."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["customer_id", "name", "segment", "region"])
    for number in range(1, count + 1):
        writer.writerow([customer_id(number), f"Customer {number}", SEGMENTS[number % 4], REGIONS[number // 4 % 4]])
    return text.getvalue()


def make_orders(count: int, broken_of_each_kind: int = 3, customers: int = 200, seed: int = 1) -> Orders:
    """`count` good orders, mixed with broken ones.

    Args:
        count: how many orders become tags.
        broken_of_each_kind: the number of added records of each kind of `BREAKAGES`.
        customers: the number of customers to draw from, as for `customers_csv`.
        seed: the same seed gives the same records in the same order.
    """
    draw = random.Random(seed)  # noqa: S311 - example data
    good = [order(number, customer_id(draw.randint(1, customers)), draw) for number in range(1, count + 1)]
    records = [(str(o["customer_id"]), json.dumps(o)) for o in good]
    for kind in BREAKAGES:
        for number in range(broken_of_each_kind):
            broken = kind(order(count + number + 1, customer_id(1), draw))
            records.insert(draw.randint(0, len(records)), broken)
    return Orders(tuple(records), expected_tags=count, expected_dead_letters=broken_of_each_kind * len(BREAKAGES))


def customer_id(number: int) -> str:
    return f"C{number:04d}"


def order(number: int, customer: str, draw: random.Random) -> dict[str, object]:
    at = FIRST_ORDER_AT + timedelta(seconds=7 * number)
    return {
        "order_id": f"O{number:06d}",
        "customer_id": customer,
        "amount": round(draw.uniform(5, 900), 2),
        "at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def cut_short(o: dict[str, object]) -> tuple[str, str]:
    return str(o["customer_id"]), json.dumps(o)[:-20]


def wrong_type(o: dict[str, object]) -> tuple[str, str]:
    return str(o["customer_id"]), json.dumps(o | {"amount": "twelve"})


def unknown_customer(o: dict[str, object]) -> tuple[str, str]:
    return "C9999", json.dumps(o | {"customer_id": "C9999"})


def without_customer(o: dict[str, object]) -> tuple[str, str]:
    return str(o["customer_id"]), json.dumps({name: value for name, value in o.items() if name != "customer_id"})


BREAKAGES = (cut_short, wrong_type, unknown_customer, without_customer)


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
