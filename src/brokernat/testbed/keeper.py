"""Stops the processes of a world, also after its owner was killed.

Each process of a world has the path of the world's state directory in its environment (`BROKERNAT_WORLD`). Children
inherit this mark, and a process with a reused id does not have it. So no list of processes is stored, which a crash
could leave incomplete. A signal is sent through a pidfd that was opened before the mark was read, so it cannot reach a
later process with the same id.

Run as a script (`python -I keeper.py STATE_DIR`) it waits until its standard input ends. The kernel closes it when the
owner ends for any reason. Then the script ends the world and removes the directory. It uses only the standard library,
so that it starts fast with each world.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MARK = "BROKERNAT_WORLD"
_KILL_TIMEOUT = 10.0


def members(state: Path) -> tuple[int, ...]:
    """The process ids of the world of `state`."""
    return tuple(pid for pid, descriptor in _members(state) if _closed(descriptor))


def end(state: Path) -> None:
    """Kill all processes of the world of `state`, wait for their end, remove its namespaces."""
    # Usually one or two passes: a process may have started another one during the first pass.
    while descriptors := [descriptor for _, descriptor in _members(state)]:
        for descriptor in descriptors:
            _send(descriptor, signal.SIGKILL)
        for descriptor in descriptors:
            # A pidfd becomes readable when its process has ended.
            select.select([descriptor], [], [], _KILL_TIMEOUT)
            os.close(descriptor)
    for name in namespaces(state):
        subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(Path("/etc/netns", name), ignore_errors=True)


def namespaces(state: Path) -> tuple[str, ...]:
    """The network namespaces of the world of `state`."""
    try:
        names = os.listdir("/run/netns")  # noqa: PTH208
    except OSError:
        return ()
    return tuple(name for name in names if name.startswith(f"brokernat-{state.name}-"))


def _members(state: Path) -> Iterator[tuple[int, int]]:
    mark = f"{MARK}={state}".encode()
    namespace_inodes = {Path("/run/netns", name).stat().st_ino for name in namespaces(state)}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names are wanted, not paths
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            descriptor = os.pidfd_open(int(entry))
        except OSError:
            continue
        if mark in _environment(entry) or _network(entry) in namespace_inodes:
            yield int(entry), descriptor
        else:
            os.close(descriptor)


def _environment(pid: str) -> list[bytes]:
    # Empty for a zombie, and unreadable for processes of other users.
    try:
        return Path("/proc", pid, "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _network(pid: str) -> int:
    # nginx overwrites its environment with its title, so every process in a namespace of the world also belongs to it.
    try:
        return Path("/proc", pid, "ns", "net").stat().st_ino
    except OSError:
        return 0


def _send(descriptor: int, number: signal.Signals) -> None:
    try:
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return


def _closed(descriptor: int) -> bool:
    os.close(descriptor)
    return True


def main(state: Path) -> None:
    """Wait for the end of the owner, then remove its world."""
    while sys.stdin.buffer.read(4096):
        pass
    end(state)
    shutil.rmtree(state, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
