"""A single ZooKeeper out of the broker's own jars, for brokers that are as old as headquarters' (2.4)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.testbed.broker import Runtime
from brokernat.testbed.place import Launcher, Place
from brokernat.testbed.polling import wait_until
from brokernat.testbed.server_properties import zookeeper_properties

_TIMEOUT = 180


def start_zookeeper(
    endpoint: Endpoint, *, folder: Path, runtime: Runtime, launcher: Launcher, place: Place
) -> subprocess.Popen[bytes]:
    """Start it and wait until it accepts connections.

    Raises:
        NothingReachableError: it does not.
    """
    file, log = folder / "zookeeper.properties", folder / "zookeeper.log"
    file.write_text(zookeeper_properties(endpoint, folder / "zookeeper.data"))
    command = runtime.command("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(file))
    process = launcher.start(command, place=place, log=log)

    def accepts() -> bool:
        try:
            place.dial(endpoint, timeout=2).close()
        except OSError:
            return False
        return True

    def ended() -> str | None:
        return None if process.poll() is None else f"it ended, see {log}"

    wait_until(accepts, f"ZooKeeper at {endpoint}", timeout=_TIMEOUT, abort=ended)
    return process
