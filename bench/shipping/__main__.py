"""What shipping costs: `python -m bench.shipping`. README.md says how to read it. Ends with 1 when a goal is missed."""

import argparse
import sys
import tempfile
from pathlib import Path

import confluent_kafka
from bench.report import describe_machine
from bench.shipping import call_site, memory, throughput

from brokernat.testbed import LoopbackWorld


def main() -> int:
    """Measure everything, print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.shipping", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="of each comparison; default %(default)s")
    parser.add_argument("--records", type=int, default=500_000, help="of one run; default %(default)s")
    parser.add_argument("--outage", type=float, default=600, help="seconds without brokers; default %(default)s")
    parser.add_argument("--quick", action="store_true", help="little of everything: proves nothing")
    wanted = parser.parse_args()
    if wanted.quick:
        wanted.rounds, wanted.records, wanted.outage = 2, 100_000, 20
    describe_machine(f"confluent-kafka {confluent_kafka.version()}")
    with tempfile.TemporaryDirectory(prefix="brokernat-bench-") as directory, LoopbackWorld(hq=None) as world:
        work = Path(directory)
        met = [
            *call_site.measure(work, world.local, wanted.rounds),
            *throughput.measure(work, world.local, wanted.rounds, wanted.records),
            memory.measure(work, wanted.outage),
        ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
