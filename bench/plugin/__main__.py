"""What the plug-in costs: `python -m bench.plugin`; README.md says how to read it. Ends with 1 under a floor."""

import argparse
import sys

import confluent_kafka
from bench.plugin import throughput
from bench.report import describe_machine, keep_files_in_memory


def main() -> int:
    """Measure everything, print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.plugin", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="of each direction; default %(default)s")
    parser.add_argument("--records", type=int, default=2_000_000, help="of one run; default %(default)s")
    parser.add_argument("--quick", action="store_true", help="little of everything: proves nothing")
    wanted = parser.parse_args()
    if wanted.quick:
        wanted.rounds, wanted.records = 6, 500_000
    describe_machine(f"confluent-kafka {confluent_kafka.version()}")
    keep_files_in_memory()
    met = list(throughput.measure(wanted.rounds, wanted.records))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
