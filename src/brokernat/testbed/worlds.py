"""Where worlds keep their state, how one claims its place, and how those that lost their owner are removed.

A world has a directory `<tmp>/brokernat-testbed-<uid>/<name>` and two claims, abstract Unix sockets: one of its name,
held by its owner AND inherited by each of its processes, and one for the owner alone (and the keeper, which is its
last will). The kernel gives a claim back when the last holder is gone, so "can the name be claimed?" answers "is
anything left of it?", and "can the owner's claim be had?" answers "has it been abandoned?", without a file that could
lie.
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
    """What a world tells about itself to other processes."""

    name: str
    kind: str
    owner: int
    started: float
    detached: bool
    clusters: Mapping[str, ClusterSummary]


def root() -> Path:
    """The directory of all worlds of this user, private to them."""
    return private_temporary_dir("testbed")


def claim(name: str) -> socket.socket | None:
    """The claim on a name, None when a world of that name lives. Let go by closing it, in every process that has it."""
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
    """Let others see the world."""
    partial = state / f".{STATE_FILE}"
    partial.write_text(json.dumps(asdict(summary), indent=2))
    partial.replace(state / STATE_FILE)


def read_summary(state: Path) -> Summary:
    """What a world wrote.

    Raises:
        OSError: nothing yet.
    """
    written = json.loads((state / STATE_FILE).read_text())
    clusters = {name: ClusterSummary(**cluster) for name, cluster in written.pop("clusters").items()}
    return Summary(**written, clusters=clusters)


def living() -> tuple[Summary, ...]:
    """The worlds of this user that have processes or an owner, oldest first."""
    found = []
    for state in root().iterdir():
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
    """Both claims, of the name and of its owner; None when somebody has one of them."""
    if (held := claim(name)) is None:
        return None
    if (owned := claim(f"{name}/owner")) is None:
        held.close()
        return None
    return held, owned


def remove_stale() -> None:
    """Remove the worlds of this user that were abandoned, and of the detached ones those of which nothing runs."""
    for state in root().iterdir():
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


def keep(state: Path, claims: Sequence[socket.socket]) -> subprocess.Popen[bytes]:
    """Start the keeper of a world: it ends the world when this process is gone, or its standard input is closed."""
    return subprocess.Popen(
        script("keeper.py", str(state)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=[held.fileno() for held in claims],
    )


def dismiss(kept: subprocess.Popen[bytes]) -> None:
    """Tell the keeper that its world has ended, and wait until it agrees."""
    assert kept.stdin is not None  # noqa: S101
    kept.stdin.close()
    kept.wait()


def summarise(plan: WorldPlan, kind: str, *, detached: bool) -> Summary:
    """What a world tells others, from its plan."""
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
