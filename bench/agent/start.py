"""Time added to the start of a JVM that does nothing else: agent and a map of three rules, against neither."""

import subprocess
import time
from pathlib import Path
from statistics import fmean

from bench.ratios import in_turns, interval
from bench.report import verdict

from brokernat.address import AddressMap
from brokernat.jvm import javaagent_option

GOAL_MS = 150
RULES = "127.1.1.1:9092=127.0.0.1:9093,127.1.1.2:9092=127.0.0.1:9094,127.1.1.3:9092=127.0.0.1:9095"


def measure(work: Path, java: Path, *, rounds: int) -> bool:
    """Start the empty program `rounds` times with and without the agent."""

    def milliseconds(options: list[str]) -> float:
        began = time.perf_counter()
        quiet = subprocess.DEVNULL
        subprocess.run([java, *options, "-cp", work, "Start"], check=True, stdout=quiet, stderr=quiet)
        return (time.perf_counter() - began) * 1000

    agent = [javaagent_option(AddressMap.parse(RULES))]
    runs = [lambda: milliseconds([]), lambda: milliseconds(agent)]
    # The first round fills the page cache.
    taken = list(in_turns(runs, rounds + 1))[1:]
    added = interval([with_agent - without for without, with_agent in taken])
    bare = fmean(without for without, _ in taken)
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    name = f"start of a JVM, {said.splitlines()[0]}"
    return verdict(name, f"+{added.show(0)} ms on {bare:.0f} ms", f"<= {GOAL_MS} ms", added.high <= GOAL_MS)
