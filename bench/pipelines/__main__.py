"""What the map costs a Spark job: `python -m bench.pipelines`. README.md says how to read it.

Three Spark applications take turns at draining the same topic into the local Kafka: without agent, with agent and
map, without agent again. The second listener of the brokers advertises what it binds, so there is no gateway between.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.agent.jvms import CLIENT
from bench.ratios import in_turns
from bench.report import RECORD_BYTES, compare, describe_machine, keep_files_in_memory

from brokernat.address import AddressMap
from brokernat.config import Cluster
from brokernat.testbed import ClusterOptions, LoopbackWorld, Record

RECORD = b"x" * RECORD_BYTES
ORDERS, DRAINED = "orders", "drained"
_PIECE = 100_000


class SparkApplication:
    """A drain.py that runs and is told what to do line by line."""

    def __init__(self, work: Path, bootstrap: str, sink: str, address_map: str) -> None:
        work.mkdir(parents=True)
        arguments = [bootstrap, sink, address_map, str(work)]
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("drain.py")), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(work / "log").open("wb"),
            text=True,
        )

    def drain(self, records: int) -> float:
        """Seconds for all records of the topic."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("drain\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["rows"] == records, answer
        return float(answer["seconds"])

    def end(self) -> None:
        """Let it end by itself."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines", description=__doc__)
    parser.add_argument("--forks", type=int, default=4, help="times the applications start anew; default %(default)s")
    parser.add_argument("--pairs", type=int, default=4, help="of each fork; default %(default)s")
    parser.add_argument("--records", type=int, default=2_000_000, help="of one drain; default %(default)s")
    wanted = parser.parse_args()
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    options = ClusterOptions(broker_properties={"compression.type": "producer"})
    with LoopbackWorld(hq=options) as world, tempfile.TemporaryDirectory(prefix="brokernat-bench-") as place:
        world.hq.create_topic(ORDERS, partitions=4)
        world.local.create_topic(DRAINED, partitions=4, replicas=1, configs={"retention.bytes": str(64 << 20)})
        for first in range(0, wanted.records, _PIECE):
            world.hq.write(ORDERS, [Record(value=RECORD)] * min(_PIECE, wanted.records - first))
        hq = world.hq
        bound = AddressMap.parse(",".join(f"{hq.advertised[node]}={hq.bound[node]}" for node in hq.nodes))
        forks = []
        for fork in range(wanted.forks):
            with _applications(Path(place, str(fork)), hq.direct, world.local.cluster, bound) as applications:
                runs = [partial(application.drain, wanted.records) for application in applications]
                _, *rounds = in_turns(runs, wanted.pairs + 1)
                forks.append(rounds)
    return 0 if compare("Spark drain", "map", wanted.records, forks) else 1


@contextlib.contextmanager
def _applications(
    place: Path, direct: Cluster, local: Cluster, bound: AddressMap
) -> Iterator[tuple[SparkApplication, ...]]:
    sink = ",".join(map(str, local.bootstrap_servers))
    unmapped = ",".join(map(str, direct.bootstrap_servers))
    mapped = ",".join(str(rule).partition("=")[2] for rule in bound.rules)
    sides = (("direct", unmapped, ""), ("mapped", mapped, str(bound)), ("again", unmapped, ""))
    with contextlib.ExitStack() as stack:
        started = []
        for name, bootstrap, rules in sides:
            started.append(SparkApplication(place / name, bootstrap, sink, rules))
            stack.callback(started[-1].end)
        yield tuple(started)


if __name__ == "__main__":
    sys.exit(main())
