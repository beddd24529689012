"""What the agent costs: `python -m bench.agent`. README.md says how to read it. Ends with 1 when a floor is missed."""

import argparse
import sys
import tempfile
from pathlib import Path

from bench.agent import connections, start, throughput
from bench.agent.jvms import CLIENT, compile_programs
from bench.report import describe_machine, keep_files_in_memory, verdict

from brokernat.jvm import agent_jar, find_java

JAR_GOAL_KB = 500


def main() -> int:
    """Measure everything, print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.agent", description=__doc__)
    parser.add_argument("--forks", type=int, default=8, help="times the JVMs start anew; default %(default)s")
    parser.add_argument("--pairs", type=int, default=5, help="of each fork; default %(default)s")
    parser.add_argument("--consume", type=int, default=5_000_000, help="records of one run; default %(default)s")
    parser.add_argument("--produce", type=int, default=2_000_000, help="records of one run; default %(default)s")
    parser.add_argument(
        "--java", type=Path, action="append", default=[], help="one more java for the start; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="little of everything: proves nothing")
    wanted = parser.parse_args()
    size = throughput.Size(wanted.forks, wanted.pairs, wanted.consume, wanted.produce)
    if wanted.quick:
        size = throughput.Size(2, 2, wanted.consume // 10, wanted.produce // 10)
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    with tempfile.TemporaryDirectory(prefix="brokernat-bench-") as directory:
        work = Path(directory)
        compile_programs(work)
        met = [
            _jar_size(),
            *(start.measure(work, java, rounds=size.forks * size.pairs) for java in (find_java().binary, *wanted.java)),
            connections.measure(work, rounds=size.forks * size.pairs),
            *throughput.measure(work, size),
        ]
    return 0 if all(met) else 1


def _jar_size() -> bool:
    size = agent_jar().stat().st_size
    return verdict("agent jar", f"{size / 1000:.0f} kB", f"<= {JAR_GOAL_KB} kB", size <= JAR_GOAL_KB * 1000)


if __name__ == "__main__":
    sys.exit(main())
