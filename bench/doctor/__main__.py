"""What a run of the doctor takes: `python -m bench.doctor`. README.md says how to read it. Ends with 1 when a goal is
missed."""

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from bench.doctor import runs
from bench.report import describe_machine, verdict

GOAL_HEALTHY = 1.2
"""Seconds, of the whole process; about one is wanted."""
GOAL_MANY = 10.0
GOAL_MEMORY = 100
"""Megabytes, resident at most."""


def main() -> int:
    """Measure everything, print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.doctor", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="of each figure; default %(default)s")
    parser.add_argument("--brokers", type=int, default=200, help="simulated ones; default %(default)s")
    wanted = parser.parse_args()
    describe_machine(f"kio {version('kio')}")
    with tempfile.TemporaryDirectory(prefix="brokernat-bench-") as directory:
        folder = Path(directory)
        healthy = runs.healthy(folder, wanted.rounds)
        many = runs.many(folder, wanted.brokers, max(2, wanted.rounds // 3))
    runs.imports(wanted.rounds)
    met = [
        verdict(
            "three healthy brokers, whole process",
            healthy.show(),
            f"<= {GOAL_HEALTHY} s",
            healthy.seconds <= GOAL_HEALTHY,
        ),
        verdict(
            f"{wanted.brokers} brokers, whole process", many.show(), f"<= {GOAL_MANY:.0f} s", many.seconds <= GOAL_MANY
        ),
        verdict(
            f"{wanted.brokers} brokers, memory",
            f"{many.megabytes:.0f} MB",
            f"<= {GOAL_MEMORY} MB",
            many.megabytes <= GOAL_MEMORY,
        ),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
