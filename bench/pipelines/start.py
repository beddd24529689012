"""How long a start takes, from the command to the first tag: `python -m bench.pipelines.start`, with README.md.

Rounds of the job by hand, a pipeline with a new reference, and the same pipeline again, whose reference is known, in
both modes. An order waits in the source before each start, and the process is killed at its first tag.
"""

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from bench.agent.jvms import CLIENT
from bench.pipelines.job import TAGS
from bench.pipelines.latency import START_SECONDS, by_hand, by_pipeline, running, write_first_order
from bench.pipelines.sides import world_of_orders
from bench.ratios import in_turns, interval
from bench.report import describe_machine, keep_files_in_memory, say, verdict

from brokernat.testbed import LoopbackWorld
from brokernat.testbed.place import wait_until

_GOAL_SECONDS = 4.0
_MODES = ("micro-batch", "realtime")
_STARTS = ("new reference", "known reference")


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipelines.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="default %(default)s")
    parser.add_argument("--partitions", type=int, default=4, help="default %(default)s")
    parser.add_argument("--customers", type=int, default=100_000, help="rows of the reference; default %(default)s")
    wanted = parser.parse_args()
    describe_machine(f"kafka-clients {CLIENT}")
    keep_files_in_memory()
    with world_of_orders(wanted.partitions) as (world, place):
        sides = [partial(_starts, world, place, wanted, mode) for mode in (None, *_MODES)]
        return 0 if _report(list(in_turns(sides, wanted.rounds))) else 1


def _starts(world: LoopbackWorld, place: Path, wanted: argparse.Namespace, mode: str | None) -> list[float]:
    """Seconds of each of `_STARTS`, in one folder; of the job by hand if there is no mode."""
    folder = Path(tempfile.mkdtemp(dir=place))
    if mode is None:
        words = by_hand(folder, world, wanted.partitions, wanted.customers)
    else:
        words = by_pipeline(folder, world.hq.direct, world, wanted.partitions, wanted.customers, {"mode": mode})
    return [_first_tag(world, words) for _ in _STARTS]


def _first_tag(world: LoopbackWorld, words: list[str]) -> float:
    def tags() -> int:
        return sum(world.local.end_offsets(TAGS).values())

    write_first_order(world.hq.direct)
    before, began = tags(), time.monotonic()
    with running(words):
        wait_until(lambda: tags() > before, "the first tag", timeout=START_SECONDS)
        return time.monotonic() - began


def _report(rounds: list[list[list[float]]]) -> bool:
    hand = [sum(found[0]) / len(found[0]) for found in rounds]
    say(f"seconds     by hand {interval(hand).show(1)}")
    met = True
    for place, mode in enumerate(_MODES, 1):
        for number, start in enumerate(_STARTS):
            longer = interval([found[place][number] - by_hand for found, by_hand in zip(rounds, hand, strict=True)])
            goal = f"at most {_GOAL_SECONDS:.0f} s"
            met &= verdict(f"{mode}, {start}, more than by hand", longer.show(1), goal, longer.mean <= _GOAL_SECONDS)
    return met


if __name__ == "__main__":
    sys.exit(main())
