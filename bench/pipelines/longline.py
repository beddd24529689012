"""What a cluster's profile is worth to Spark: `python -m bench.pipelines.longline`. README.md says how to read it.

Spark reads a topic to its end, into its sink that writes nothing, with Spark's own client settings and with those of a
profile, over a line of 50 ms and over none. Clients and brokers are in network namespaces; needs root.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean

from bench.agent.jvms import CLIENT
from bench.report import describe_machine, keep_files_in_memory, say, verdict

from brokernat.address import Endpoint
from brokernat.testbed import ClusterOptions, NetnsWorld, Record
from brokernat.testbed.namespaces import Namespace

Read = Callable[[str, str], float]
RECORD = b"x" * 200
_ENDS = ("10.77.0.1/30", "10.77.0.2/30")
_PIECE = 4_000


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines.longline", description=__doc__)
    parser.add_argument("--round-trip-ms", type=float, default=50, help="default %(default)s")
    parser.add_argument("--records", type=int, default=200_000, help="of each topic; default %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="default %(default)s")
    wanted = parser.parse_args()
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    with NetnsWorld(hq=None, local=ClusterOptions(brokers=1)) as world:
        for partitions in (1, 12):
            world.local.create_topic(f"p{partitions}", partitions=partitions, replicas=1)
            for first in range(0, wanted.records, _PIECE):
                world.local.write(f"p{partitions}", [Record(value=RECORD)] * min(_PIECE, wanted.records - first))
        (broker,) = world.local.cluster.bootstrap_servers
        with _reader(world.client, broker) as read:
            read("p12", "stock")
            short = _factors("no line", read, 1, "lan", wanted), _factors("no line", read, 12, "lan", wanted)
            with long_line(world.client, world.namespace("local"), broker, wanted.round_trip_ms / 2):
                one = _factors(f"{wanted.round_trip_ms:.0f} ms", read, 1, "wan", wanted)
                four = _factors(f"{wanted.round_trip_ms:.0f} ms", read, 1, "wan over 4 connections", wanted)
                twelve = _factors(f"{wanted.round_trip_ms:.0f} ms", read, 12, "wan", wanted)
    say(f"     one partition over its one connection, long line: {one:.1f} x (a broker's send buffer is the limit)")
    met = [
        verdict("one partition over 4 connections, long line", f"{four:.1f} x Spark's own settings", "5", four >= 5),
        verdict("twelve partitions, long line", f"{twelve:.1f} x", "2", twelve >= 2),
        verdict("no line", f"{min(short):.2f} x", "1, no loss", min(short) >= 0.95),
    ]
    return 0 if all(met) else 1


def _factors(line: str, read: Read, partitions: int, arm: str, wanted: argparse.Namespace) -> float:
    """How many times faster an arm is than Spark's own settings: the mean of the rounds."""
    factors = []
    for _ in range(wanted.rounds):
        stock, ours = read(f"p{partitions}", "stock"), read(f"p{partitions}", arm)
        factors.append(stock / ours)
        say(
            f"{line}, {partitions} partitions, {arm}: {wanted.records / ours:,.0f} records/s, "
            f"stock {wanted.records / stock:,.0f}, factor {factors[-1]:.2f}"
        )
    return geometric_mean(factors)


@contextlib.contextmanager
def long_line(client: Namespace, broker_side: Namespace, broker: Endpoint, delay_ms: float) -> Iterator[None]:
    """The client reaches the broker by the long line only, for the block."""
    ends = [client.name, _ENDS[0], broker_side.name, _ENDS[1]]
    command = [sys.executable, str(Path(__file__).with_name("line.py")), *ends, str(delay_ms)]
    with subprocess.Popen(command) as line:
        try:
            while subprocess.run(
                ["ip", "-n", client.name, "route", "replace", f"{broker.host}/32", "dev", "long0"],
                capture_output=True,
                check=False,
            ).returncode:
                assert line.poll() is None, "the line has ended"
                time.sleep(0.1)
            yield
        finally:
            line.terminate()


@contextlib.contextmanager
def _reader(client: Namespace, broker: Endpoint) -> Iterator[Read]:
    """A Spark application in the client's namespace; call it with a topic and an arm, it returns seconds."""
    command = client.command([sys.executable, "-m", "bench.pipelines.reader", str(broker)])
    environ = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdin
        assert process.stdout
        requests, answers = process.stdin, process.stdout

        def read(topic: str, arm: str) -> float:
            requests.write(json.dumps([topic, arm]) + "\n")
            requests.flush()
            return float(json.loads(answers.readline())["seconds"])

        yield read
        requests.close()


if __name__ == "__main__":
    sys.exit(main())
