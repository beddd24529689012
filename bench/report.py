"""How a figure is printed: what it was measured on, what it is, whether it meets its goal."""

import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from bench.ratios import interval_of_forks

from brokernat.jvm import find_java
from brokernat.testbed import ClusterOptions

RECORD_BYTES = 170
"""Of each record that a bench moves."""
FLOOR, GOAL = 0.97, 0.99


def describe_machine(client: str) -> None:
    """What a figure is worth nothing without; `client` is the library that is measured, with its version."""
    information = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in information if line.startswith("model name")), "unknown")
    versions = [
        f"Java {find_java().version}",
        client,
        f"brokers {ClusterOptions().version}",
        f"Python {platform.python_version()}",
    ]
    program = Path(sys.argv[0])
    module = program.parent.name if program.stem == "__main__" else f"{program.parent.name}.{program.stem}"
    say(f"command     python -m bench.{module} {shlex.join(sys.argv[1:])}".rstrip())
    say(f"machine     {os.cpu_count()} x {model}, {platform.system()} {platform.release()}")
    say(f"versions    {', '.join(versions)}")
    say(f"load        {os.getloadavg()[0]:.2f} before the start")


def keep_files_in_memory() -> None:
    """Let brokers and checkpoints write to memory where there is such a place: a disk that writes back what an earlier
    run left would be measured with the next one."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        tempfile.tempdir = str(memory)
    say(f"files       {tempfile.gettempdir()}")


def verdict(name: str, shown: str, goal: str, met: bool) -> bool:
    """One line of the result; gives `met` back."""
    say(f"{'ok  ' if met else 'MISS'} {name}: {shown}  (goal: {goal})")
    return met


def say(line: str) -> None:
    """Results are the output."""
    print(line, flush=True)


def compare(
    name: str, side: str, records: int, forks: Sequence[Sequence[Sequence[float]]], against: str = "direct"
) -> bool:
    """Print one side against direct, with direct against direct beside it; gives whether the floor is met.

    Args:
        name: what was run.
        side: the other side's name.
        records: how many records one run moves.
        forks: by start of the JVMs, by round: seconds of direct, of the other side, of direct again. A ratio above 1
            says that the other one was faster. The other side runs between the two direct ones and is held against
            their mean, so that what drifts evenly over a round cancels out.
        against: what direct is called.
    """
    other = [[fmean((direct, again)) / seconds for direct, seconds, again in rounds] for rounds in forks]
    control = [[direct / again for direct, _, again in rounds] for rounds in forks]
    seconds = fmean(direct for rounds in forks for direct, _, _ in rounds)
    width = max(len(side), len(against))
    say(f"{name}: {records} records of {RECORD_BYTES} B, {against} {seconds:.1f} s, {records / seconds:,.0f} records/s")
    say(f"     {side:{width}} / {against}, by fork  {_listed(other)}")
    say(f"     {against:{width}} / {against}, by fork  {_listed(control)}")
    say(f"     {against:{width}} / {against} (A/A)    {interval_of_forks(control).show(4)}")
    figure = interval_of_forks(other)
    goal = f"lower end >= {GOAL}, floor {FLOOR}"
    return verdict(f"{name}, {side} / {against}", figure.show(4), goal, figure.low >= FLOOR)


def _listed(forks: Sequence[Sequence[float]]) -> str:
    return " | ".join(" ".join(f"{ratio:.3f}" for ratio in ratios) for ratios in forks)
