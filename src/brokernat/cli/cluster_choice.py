"""Which cluster is looked at: one of the file, or one given on the spot by `--bootstrap-server`.

With `--bootstrap-server` there is no login: credentials belong into the file, where they can be references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from brokernat.config import Cluster

GIVEN = "given"


def chosen_cluster(config_file: Path, name: str | None, servers: tuple[str, ...], rules: str | None = None) -> Cluster:
    """What `--config`, `--cluster`, `--bootstrap-server` and `--map` say together."""
    from brokernat.address import Endpoint
    from brokernat.config import Cluster, load
    from brokernat.config.rules_file import map_from_property

    if servers:
        if name:
            raise click.UsageError("`--cluster` and `--bootstrap-server` exclude each other")
        endpoints = tuple(Endpoint.parse(each) for text in servers for each in text.split(","))
        return Cluster(GIVEN, endpoints, map_from_property(rules) if rules else None)
    if rules:
        raise click.UsageError("`--map` belongs to `--bootstrap-server`; a cluster of the file has its own map")
    config = load(config_file)
    if name:
        return config.cluster(name)
    if len(config.clusters) > 1:
        raise click.UsageError(f"choose a cluster with `--cluster`: {', '.join(config.clusters)}")
    return next(iter(config.clusters.values()))
