"""The running worlds of this user: their state directories and names, and the removal of abandoned ones.

A world has a directory `<tmp>/brokernat-testbed-<uid>/<name>` and two locks: one of its name, inherited by each of its
processes, and one of its owner (and its keeper). The kernel releases a lock when the last process with it exits
(flock(2)), in whatever network namespace that is. So a name that can be claimed has no process left, and a free lock of
the owner means an abandoned world; the content of no file can be out of date.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from brokernat.paths import private_temporary_dir
from brokernat.testbed import keeper
from brokernat.testbed.place import script
from brokernat.testbed.topology import WorldPlan

STATE_FILE = "world.json"
_OWNER = ".owner"


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


class Claim:
    """The lock of a name, until every process that has inherited it has closed it or ended."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def fileno(self) -> int:
        """The descriptor for processes that inherit it."""
        return self._descriptor

    def close(self) -> None:
        """Leave the lock to the processes that have inherited it."""
        os.close(self._descriptor)

    def release(self) -> None:
        """Remove the lock, which no other process has."""
        self._path.unlink(missing_ok=True)
        self.close()


def claim(name: str) -> Claim | None:
    """The lock of a name, None if a world of that name runs."""
    path = _locks() / name
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return Claim(path, descriptor)
        # Another process has released and removed it meanwhile.
        os.close(descriptor)


def _locks() -> Path:
    return private_temporary_dir("testbed-locks")


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
            lock.release()
            continue
        try:
            found.append(read_summary(state))
        except (OSError, ValueError):
            # The world is being created or removed.
            continue
    return tuple(sorted(found, key=lambda summary: summary.started))


def claim_as_owner(name: str) -> tuple[Claim, Claim] | None:
    """Both locks, of the name and of the owner; None if another process has one."""
    if (lock := claim(name)) is None:
        return None
    if (owner_lock := claim(f"{name}{_OWNER}")) is None:
        lock.release()
        return None
    return lock, owner_lock


def remove_stale() -> None:
    """Remove abandoned worlds, and detached ones without a running process."""
    for state in state_root().iterdir():
        owner_lock = claim(f"{state.name}{_OWNER}")
        if owner_lock is None:
            continue
        with owner_lock:
            if not _detached(state):
                remove(state)
            elif (lock := claim(state.name)) is not None:
                with lock:
                    remove(state)
    for path in _locks().iterdir():
        if lock := claim(path.name):
            lock.release()


def remove(state: Path) -> None:
    """End every process of a world and delete its directory."""
    keeper.end(state)
    shutil.rmtree(state, ignore_errors=True)


def start_keeper(state: Path, claims: Sequence[Claim]) -> subprocess.Popen[bytes]:
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
