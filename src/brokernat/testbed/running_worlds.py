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
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        lock.bind(f"\0brokernat-testbed/{name}")
    except OSError as problem:
        lock.close()
        if problem.errno != errno.EADDRINUSE:
            raise
        return None
    lock.set_inheritable(True)
    return lock


def write_summary(state: Path, summary: Summary) -> None:
    """Publish the description of a world."""
    partial = state / f".{STATE_FILE}"
    partial.write_text(json.dumps(asdict(summary), indent=2))
    partial.replace(state / STATE_FILE)


def read_summary(state: Path) -> Summary:
    """The description of a world.

    Raises:
        OSError: the description is not written yet.
    """
    fields = json.loads((state / STATE_FILE).read_text())
    clusters = {name: ClusterSummary(**cluster) for name, cluster in fields.pop("clusters").items()}
    return Summary(**fields, clusters=clusters)


def list_running() -> tuple[Summary, ...]:
    """The worlds of this user that have processes or an owner, oldest first."""
    found = []
    for state in state_root().iterdir():
        lock = claim(state.name)
        if lock is not None:
            lock.close()
            continue
        try:
            found.append(read_summary(state))
        except (OSError, ValueError):
            # The world is being created or removed.
            continue
    return tuple(sorted(found, key=lambda summary: summary.started))


def claim_as_owner(name: str) -> tuple[socket.socket, socket.socket] | None:
    """Both locks, of the name and of the owner; None if another process has one."""
    if (lock := claim(name)) is None:
        return None
    if (owner_lock := claim(f"{name}/owner")) is None:
        lock.close()
        return None
    return lock, owner_lock


def remove_stale() -> None:
    """Remove abandoned worlds, and detached ones without a running process."""
    for state in state_root().iterdir():
        owner_lock = claim(f"{state.name}/owner")
        if owner_lock is None:
            continue
        with owner_lock:
            if not _detached(state):
                remove(state)
            elif (lock := claim(state.name)) is not None:
                with lock:
                    remove(state)


def remove(state: Path) -> None:
    """End every process of a world and delete its directory."""
    keeper.end(state)
    shutil.rmtree(state, ignore_errors=True)


def start_keeper(state: Path, claims: Sequence[socket.socket]) -> subprocess.Popen[bytes]:
    """Start the keeper of a world: it ends the world when this process ends or closes the keeper's standard input."""
    return subprocess.Popen(
        script("keeper.py", str(state)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=[lock.fileno() for lock in claims],
    )


def stop_keeper(process: subprocess.Popen[bytes]) -> None:
    """Stop the keeper of an ended world and wait for it."""
    assert process.stdin is not None  # noqa: S101
    process.stdin.close()
    process.wait()


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
