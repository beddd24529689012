"""What a new client waits for over a long line, direct and through the proxy: `python -m bench.proxy.longline`.

Client and proxy are in one network namespace, the broker is in another; needs root.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import fmean

from bench.pipelines.longline import long_line
from bench.proxy.figures import CLIENT
from bench.ratios import in_turns, interval
from bench.report import describe_machine, say, verdict
from tests.leaks.proxies import proxy

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, NetnsWorld

_LISTEN = Endpoint("127.0.0.1", 19092)
_CONNECTIONS = 20
_ASK = """
import sys
from bench.proxy.connecting import connect
from brokernat.address import Endpoint
print(connect(Endpoint.parse(sys.argv[1]), "asked", int(sys.argv[2])))
"""


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.proxy.longline", description=__doc__)
    parser.add_argument("--round-trip-ms", type=float, default=50, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default %(default)s")
    wanted = parser.parse_args()
    describe_machine(f"the requests of kafka-clients {CLIENT}")
    with tempfile.TemporaryDirectory() as folder, NetnsWorld(hq=None, local=ClusterOptions(brokers=1)) as world:
        world.local.create_topic("asked", partitions=1, replicas=1)
        (broker,) = world.local.cluster.bootstrap_servers
        file = Path(folder) / "brokernat.yaml"
        file.write_text(f"clusters:\n  hq:\n    bootstrap_servers: {broker}\n    address_map: ['{broker}={broker}']\n")

        def asked(at: Endpoint) -> float:
            return float(world.client.run(sys.executable, "-c", _ASK, str(at), str(_CONNECTIONS)))

        with (
            long_line(world.client, world.namespace("local"), broker, wanted.round_trip_ms / 2),
            proxy(file, _LISTEN, within=world.client) as running,
        ):
            _, *rounds = in_turns([lambda: asked(broker), lambda: asked(running.bootstrap)], wanted.rounds + 1)
    ratio = interval([through / direct for direct, through in rounds])
    direct = fmean(taken for taken, _ in rounds) / _CONNECTIONS
    say(f"connect, ApiVersions, Metadata over {wanted.round_trip_ms:.0f} ms: direct {direct * 1e3:.0f} ms")
    return 0 if verdict("proxy / direct", ratio.show(2), "<= 1", ratio.mean <= 1) else 1


if __name__ == "__main__":
    sys.exit(main())
