"""What both sides of a bench read: the customers, and brokernat.yaml of the pipeline that does the work of the job."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench.pipelines.job import DEAD_LETTERS, ORDERS, PIPELINE, SCHEMA, TAGS
from bench.proxy.sides import gateway, nginx

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.render import Forward
from brokernat.testbed import ClusterOptions, LoopbackWorld

BROKERS: Final = ClusterOptions(
    brokers=1, jvm_options=("-XX:TieredStopAtLevel=4",), broker_properties={"compression.type": "producer"}
)
"""One a side, and compiled as brokers are: those of the testbed start fast, and would have most of this machine."""


@contextlib.contextmanager
def world_of_orders(partitions: int) -> Iterator[tuple[LoopbackWorld, Path]]:
    """Both clusters with the topics, each of as many partitions, and a folder for what the sides read and write."""
    with (
        LoopbackWorld(hq=BROKERS, local=BROKERS) as world,
        tempfile.TemporaryDirectory(prefix="brokernat-bench-") as place,
    ):
        world.hq.create_topic(ORDERS, partitions=partitions, replicas=1)
        for topic in (TAGS, DEAD_LETTERS):
            world.local.create_topic(topic, partitions=partitions, replicas=1)
        yield world, Path(place)


@contextlib.contextmanager
def source_of_pipeline(world: LoopbackWorld, folder: Path, *, through_nginx: bool) -> Iterator[Cluster]:
    """The source as the pipeline reads it: directly, or through the map and nginx, whose files are in the folder."""
    if not through_nginx:
        yield world.hq.direct
        return
    bound, advertised = world.hq.bound[1], world.hq.advertised[1]
    forward = Forward(Endpoint("127.0.90.2", bound.port), bound)
    with gateway(nginx(forward, folder), forward.listen):
        address_map = AddressMap.parse(f"{advertised}={forward.listen}")
        yield replace(world.hq.cluster, bootstrap_servers=(forward.listen,), address_map=address_map)


def write_files(
    folder: Path, source: Cluster, sink: Cluster, customers: int, batch: int | None, changes: dict[str, Any]
) -> None:
    """customers.csv and brokernat.yaml.

    Args:
        folder: of both.
        source: with the map of the pipeline, if it has one.
        sink: the same.
        customers: rows of the reference.
        batch: records of a batch at most, None for no limit.
        changes: of the pipeline's section.
    """
    rows = (f"c{n},Name {n},{('retail', 'online')[n % 2]},{('north', 'south')[n // 2 % 2]}\n" for n in range(customers))
    (folder / "customers.csv").write_text("customer_id,name,segment,region\n" + "".join(rows))
    section: dict[str, Any] = {
        "source": {"cluster": source.name, "topics": [ORDERS], "starting_offsets": "earliest"},
        "decode": {"format": "json", "schema": SCHEMA},
        "enrich": [{"reference": "customers", "key": "customer_id", "columns": ["segment", "region"]}],
        "references": {"customers": {"format": "csv", "path": "customers.csv"}},
        "sink": {"cluster": sink.name, "topic": TAGS, "key": "customer_id", "dead_letters": DEAD_LETTERS},
        "checkpoint": "state",
    }
    if batch:
        section["source"]["max_offsets_per_trigger"] = batch
    clusters = {cluster.name: _section(cluster) for cluster in (source, sink)}
    text = json.dumps({"clusters": clusters, "pipelines": {PIPELINE: section | changes}})
    (folder / "brokernat.yaml").write_text(text)


def servers(cluster: Cluster) -> str:
    """Its bootstrap servers as Kafka's clients take them."""
    return ",".join(map(str, cluster.bootstrap_servers))


def _section(cluster: Cluster) -> dict[str, object]:
    rules = [str(rule) for rule in cluster.address_map.rules] if cluster.address_map else []
    return {"bootstrap_servers": servers(cluster)} | ({"address_map": rules} if rules else {})
