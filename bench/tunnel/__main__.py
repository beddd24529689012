"""What a tunnel costs: `python -m bench.tunnel`; README.md says how to read it. Ends with 1 under a floor."""

import argparse
import sys

import confluent_kafka
from bench.report import describe_machine, keep_files_in_memory
from bench.tunnel import throughput


def main() -> int:
    """Measure both directions, print them."""
    parser = argparse.ArgumentParser(prog="python -m bench.tunnel", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="of each direction; default %(default)s")
    parser.add_argument("--records", type=int, default=1_000_000, help="of one run; default %(default)s")
    wanted = parser.parse_args()
    describe_machine(f"confluent-kafka {confluent_kafka.version()}")
    keep_files_in_memory()
    met = list(throughput.measure(wanted.rounds, wanted.records))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
