"""Which cluster is looked at: one of the file, or one given on the spot by `--bootstrap-server`.

With `--bootstrap-server` there is no login: credentials belong into the file, where they can be references.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from brokernat.config import Cluster, Config
from brokernat.errors import ConfigError

GIVEN = "cluster"


def chosen_cluster(config_file: Path, name: str | None, servers: tuple[str, ...], rules: str | None = None) -> Cluster:
    """What `--config`, `--cluster`, `--bootstrap-server` and `--map` say together."""
    from brokernat.address import Endpoint
    from brokernat.config import Cluster
    from brokernat.config.rules_file import map_from_property

    if servers:
        if name:
            raise click.UsageError("`--cluster` and `--bootstrap-server` exclude each other")
        endpoints = tuple(Endpoint.parse(each) for text in servers for each in text.split(","))
        return Cluster(GIVEN, endpoints, map_from_property(rules) if rules else None)
    if rules:
        raise click.UsageError("`--map` belongs to `--bootstrap-server`; a cluster of the file has its own map")
    config = _loaded(config_file)
    if name:
        return config.cluster(name)
    if len(config.clusters) > 1:
        raise click.UsageError(f"choose a cluster with `--cluster`: {', '.join(config.clusters)}")
    return next(iter(config.clusters.values()))


def _loaded(config_file: Path) -> Config:
    """The file; who has none yet is told that none is needed to look."""
    from brokernat.config import load

    try:
        return load(config_file)
    except ConfigError as error:
        (first, *others) = error.problems
        if first.kind != "file-missing":
            raise
        hint = f"without a file say `--bootstrap-server HOST:PORT`; else {first.hint}"
        raise ConfigError(replace(first, hint=hint), *others) from None
