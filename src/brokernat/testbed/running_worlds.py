"""The running worlds of this user: their state directories and names, and the removal of abandoned ones.

A world has a directory `<tmp>/brokernat-testbed-<uid>/<name>` and two abstract Unix sockets as locks: one of its name,
inherited by each of its processes, and one of its owner (and its keeper). The kernel releases a socket when the last
process with it exits. So a name that can be claimed has no process left, and a free owner socket means an abandoned
world; no file can be out of date.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from brokernat.paths import private_temporary_dir
from brokernat.testbed import keeper
from brokernat.testbed.place import script
from brokernat.testbed.topology import WorldPlan

STATE_FILE = "world.json"


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """Endpoints as text, by node id as text (JSON has no other keys)."""

    version: str
    protocol: str
    advertised: Mapping[str, str]
    reachable: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Summary:
    """The description of a world for other processes."""

    name: str
    kind: str
    owner: int
    started: float
    detached: bool
    clusters: Mapping[str, ClusterSummary]


def state_root() -> Path:
    """The private directory of all worlds of this user."""
    return private_temporary_dir("testbed")


def claim(name: str) -> socket.socket | None:
    """The lock of a name, None if a world of that name runs. Closing it in every process releases it."""
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(f"\0brokernat-testbed/{name}")
    except OSError as problem:
        held.close()
        if problem.errno != errno.EADDRINUSE:
            raise
        return None
    held.set_inheritable(True)
    return held


def write_summary(state: Path, summary: Summary) -> None:
    """Publish the description of a world."""
    partial = state / f".{STATE_FILE}"
    partial.write_text(json.dumps(asdict(summary), indent=2))
    partial.replace(state / STATE_FILE)


def read_summary(state: Path) -> Summary:
    """The description of a world.

    Raises:
        OSError: it is not written yet.
    """
    written = json.loads((state / STATE_FILE).read_text())
    clusters = {name: ClusterSummary(**cluster) for name, cluster in written.pop("clusters").items()}
    return Summary(**written, clusters=clusters)


def list_running() -> tuple[Summary, ...]:
    """The worlds of this user that have processes or an owner, oldest first."""
    found = []
    for state in state_root().iterdir():
        held = claim(state.name)
        if held is not None:
            held.close()
            continue
        try:
            found.append(read_summary(state))
        except (OSError, ValueError):
            # Being built or torn down right now.
            continue
    return tuple(sorted(found, key=lambda summary: summary.started))


def claim_as_owner(name: str) -> tuple[socket.socket, socket.socket] | None:
    """Both locks, of the name and of the owner; None if another process has one."""
    if (held := claim(name)) is None:
        return None
    if (owned := claim(f"{name}/owner")) is None:
        held.close()
        return None
    return held, owned


def remove_stale() -> None:
    """Remove abandoned worlds, and detached ones without a running process."""
    for state in state_root().iterdir():
        owned = claim(f"{state.name}/owner")
        if owned is None:
            continue
        with owned:
            if not _detached(state):
                remove(state)
            elif (held := claim(state.name)) is not None:
                with held:
                    remove(state)


def remove(state: Path) -> None:
    """End every process of a world and delete its directory."""
    keeper.end(state)
    shutil.rmtree(state, ignore_errors=True)


def start_keeper(state: Path, claims: Sequence[socket.socket]) -> subprocess.Popen[bytes]:
    """Start the keeper of a world: it ends the world when this process is gone, or its standard input is closed."""
    return subprocess.Popen(
        script("keeper.py", str(state)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=[held.fileno() for held in claims],
    )


def stop_keeper(kept: subprocess.Popen[bytes]) -> None:
    """Stop the keeper of an ended world and wait for it."""
    assert kept.stdin is not None  # noqa: S101
    kept.stdin.close()
    kept.wait()


def summary_of(plan: WorldPlan, kind: str, *, detached: bool) -> Summary:
    """The description of a world, from its plan."""
    clusters = {
        cluster.name: ClusterSummary(
            version=cluster.options.version,
            protocol=cluster.options.protocol.value,
            advertised={str(broker.node_id): str(broker.advertised) for broker in cluster.brokers},
            reachable={str(broker.node_id): str(broker.reachable) for broker in cluster.brokers},
        )
        for cluster in plan.clusters
    }
    return Summary(plan.name, kind, os.getpid(), time.time(), detached, clusters)


def _detached(state: Path) -> bool:
    try:
        return read_summary(state).detached
    except (OSError, ValueError):
        return False
