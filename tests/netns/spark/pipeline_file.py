"""A `brokernat.yaml` for running clusters, as a user would write it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.netns.spark.checkpoint import Checkpoint
from tests.netns.spark.orders import Sent, write_customers

from brokernat.config import Cluster, Secret

SCHEMA = "order_id STRING, customer_id STRING, amount DOUBLE, at TIMESTAMP"


@dataclass(frozen=True)
class PipelineFile:
    """The file; its folder holds what it names."""

    path: Path

    def words(self, *command: str) -> list[str]:
        """The command line of `brokernat pipeline ...` behind the interpreter."""
        program = ["-m", "brokernat", "pipeline", *command, "--config", str(self.path)]
        # As long as a slow machine may need to start two executors.
        return [*program, "--proof-timeout", "180"]

    def checkpoint(self, sent: Sent) -> Checkpoint:
        """The checkpoint of the pipeline that turns `sent` into tags."""
        return Checkpoint(self.path.parent / _checkpoint(sent))


def cluster_section(cluster: Cluster, rules: Sequence[str] | None = None) -> dict[str, Any]:
    """The section of a cluster; `rules` replace those of its own map."""
    if rules is None and cluster.address_map is not None:
        rules = [str(rule) for rule in cluster.address_map.rules]
    section: dict[str, Any] = {"bootstrap_servers": ",".join(map(str, cluster.bootstrap_servers))}
    if rules is not None:
        section["address_map"] = list(rules)
    section["client"] = {
        name: value.reveal() if isinstance(value, Secret) else value for name, value in cluster.client.items()
    }
    return section


def write_file(folder: Path, clusters: Mapping[str, dict[str, Any]], pipelines: Mapping[str, Any]) -> Path:
    """JSON is YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "brokernat.yaml"
    path.write_text(json.dumps({"clusters": clusters, "pipelines": pipelines}, indent=1))
    return path


def pipeline_section(sent: Sent, *, batch: int | None = None) -> dict[str, Any]:
    """The pipeline that turns `sent` into tags; at most `batch` records in one batch."""
    source: dict[str, Any] = {"cluster": sent.source.name, "topics": [sent.topics.orders]}
    if batch is not None:
        source["max_offsets_per_trigger"] = batch
    return {
        "source": source,
        "decode": {"format": "json", "schema": SCHEMA},
        "enrich": [{"reference": "customers", "key": "customer_id"}],
        "references": {"customers": {"format": "csv", "path": "customers.csv", "options": {"header": "true"}}},
        "sink": {
            "cluster": sent.sink.name,
            "topic": sent.topics.tags,
            "key": "customer_id",
            "dead_letters": sent.topics.dead,
        },
        "checkpoint": _checkpoint(sent),
    }


def pipeline_file(
    folder: Path,
    pipelines: Mapping[str, Sent],
    *,
    batch: int | None = None,
    rules: Mapping[str, Sequence[str]] | None = None,
) -> PipelineFile:
    """A file with pipelines by name; `rules` replace those of the clusters that it names."""
    rules = rules or {}
    running = {cluster.name: cluster for sent in pipelines.values() for cluster in (sent.source, sent.sink)}
    clusters = {name: cluster_section(cluster.cluster, rules.get(name)) for name, cluster in running.items()}
    sections = {name: pipeline_section(sent, batch=batch) for name, sent in pipelines.items()}
    path = write_file(folder, clusters, sections)
    write_customers(folder)
    return PipelineFile(path)


def _checkpoint(sent: Sent) -> str:
    return f"state/{sent.topics.tags}"
