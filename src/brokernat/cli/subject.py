"""What a rendered file tells about its origin: the configuration and the command line that make it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from brokernat.address import AddressMap
from brokernat.cli.options import DEFAULT_FILE
from brokernat.config import Cluster
from brokernat.render import Subject


def subject(cluster: Cluster, address_map: AddressMap, config_file: Path, words: Sequence[str]) -> Subject:
    """The cluster as `render` takes it; `words` are the command without the options that every command has."""
    from brokernat.render import Subject

    options = [] if str(config_file) == DEFAULT_FILE else ["--config", str(config_file)]
    command = shlex.join(["brokernat", *words, "--cluster", cluster.name, *options])
    return Subject(
        cluster.name, cluster.bootstrap_servers, address_map, cluster.client, file=str(config_file), command=command
    )
