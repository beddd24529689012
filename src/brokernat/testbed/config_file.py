"""A ready `brokernat.yaml` for a world: what the client of each cluster needs and nothing more."""

from __future__ import annotations

from collections.abc import Iterable

from brokernat.config import Secret
from brokernat.testbed.running_cluster import RunningCluster


def config_text(clusters: Iterable[RunningCluster]) -> str:
    """The text of the file; passwords are written to files beside the brokers and named by `${file:}`."""
    lines = ["clusters:"]
    for running in clusters:
        cluster = running.cluster
        lines.append(f"  {cluster.name}:")
        lines.append(f"    bootstrap_servers: {quoted(','.join(map(str, cluster.bootstrap_servers)))}")
        if cluster.address_map is not None:
            lines.append("    address_map:")
            lines += [f"      - {quoted(str(rule))}" for rule in cluster.address_map.rules]
        if cluster.client:
            lines.append("    client:")
            for name, value in cluster.client.items():
                lines.append(f"      {name}: {quoted(_hidden(running, name, value))}")
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A YAML scalar in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def _hidden(running: RunningCluster, name: str, value: str | Secret) -> str:
    if not isinstance(value, Secret):
        return value.replace("${", "$${")
    file = running.folder / f"{name}.secret"
    file.touch(mode=0o600)
    file.write_text(value.reveal())
    return f"${{file:{file}}}"
