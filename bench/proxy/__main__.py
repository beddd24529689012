"""What the proxy costs: `python -m bench.proxy`; README.md says how to read it. Ends with 1 when a goal is missed."""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.agent.jvms import compile_programs
from bench.proxy import restarts
from bench.proxy.figures import CLIENT, Bench, Size
from bench.proxy.sides import sides, written
from bench.report import describe_machine, keep_files_in_memory
from tests.leaks.proxies import somewhere


def main() -> int:
    """Measure everything, print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.proxy", description=__doc__)
    parser.add_argument("--forks", type=int, default=3, help="new JVMs for throughput; default %(default)s")
    parser.add_argument("--rounds", type=int, default=4, help="of each figure in each fork; default %(default)s")
    parser.add_argument("--consume", type=int, default=5_000_000, help="records of one run; default %(default)s")
    parser.add_argument("--produce", type=int, default=2_000_000, help="records of one run; default %(default)s")
    parser.add_argument("--quick", action="store_true", help="little of everything: proves nothing")
    wanted = parser.parse_args()
    size = Size(wanted.forks, wanted.rounds, wanted.consume, wanted.produce)
    if wanted.quick:
        size = Size(1, 2, wanted.consume // 5, wanted.produce // 5)
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brokernat-bench-")))
        compile_programs(work, Path(__file__).parent / "java")
        hq, between = stack.enter_context(sides(work))
        met = [
            *Bench(hq, between, work, size, stack).measure(),
            *restarts.measure(hq, written(hq, work / "restarts"), somewhere(3)),
        ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
