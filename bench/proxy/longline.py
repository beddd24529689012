"""What a distant broker costs a new client: `python -m bench.proxy.longline`. Needs root.

Connect, ApiVersions and Metadata over a line of 50 ms, directly and through a proxy on the client's machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.pipelines.longline import long_line
from bench.proxy.connecting import connect
from bench.ratios import in_turns, interval
from bench.report import describe_machine, say, verdict
from tests.leaks.proxies import proxy

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, NetnsWorld

_CONNECTIONS = 10


def main() -> int:
    """Measure, print; the part with `--broker` runs in the client's namespace."""
    parser = argparse.ArgumentParser(prog="python -m bench.proxy.longline", description=__doc__)
    parser.add_argument("--round-trip-ms", type=float, default=50, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=8, help="default %(default)s")
    parser.add_argument("--broker", type=Endpoint.parse, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.broker is not None:
        return _measure(wanted.broker, wanted.rounds)
    describe_machine("plain sockets")
    with NetnsWorld(hq=None, local=ClusterOptions(brokers=1)) as world:
        (broker,) = world.local.cluster.bootstrap_servers
        world.local.create_topic("paced", partitions=1, replicas=1)
        with long_line(world.client, world.namespace("local"), broker, wanted.round_trip_ms / 2):
            inside = [sys.executable, "-m", "bench.proxy.longline", "--broker", str(broker)]
            command = world.client.command([*inside, "--rounds", str(wanted.rounds)])
            return subprocess.run(command, check=False).returncode


def _measure(broker: Endpoint, rounds: int) -> int:
    with tempfile.TemporaryDirectory(prefix="brokernat-bench-") as folder:
        config = Path(folder) / "brokernat.yaml"
        config.write_text(f"clusters:\n  far:\n    bootstrap_servers: {broker}\n")
        with proxy(config, Endpoint("127.0.0.1", 21000)) as running:
            runs = [partial(connect, at, "paced", _CONNECTIONS) for at in (broker, running.bootstrap)]
            _, *taken = in_turns(runs, rounds + 1)
    say(f"connect, ApiVersions, Metadata: direct {taken[0][0] / _CONNECTIONS * 1e3:.0f} ms")
    ratio = interval([through / direct for direct, through in taken])
    return 0 if verdict("proxy / direct, long line", ratio.show(2), "<= 0.8", ratio.mean <= 0.8) else 1


if __name__ == "__main__":
    sys.exit(main())
