"""How a figure is printed: what it was measured on, what it is, whether it meets its goal."""

import os
import platform
import shlex
import sys
from pathlib import Path

from bench.agent.jvms import CLIENT

from brokernat.jvm import find_java
from brokernat.testbed import ClusterOptions


def describe_machine() -> None:
    """What a figure is worth nothing without."""
    information = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in information if line.startswith("model name")), "unknown")
    versions = [
        f"Java {find_java().version}",
        f"kafka-clients {CLIENT}",
        f"brokers {ClusterOptions().version}",
        f"Python {platform.python_version()}",
    ]
    say(f"command     python -m bench.{Path(sys.argv[0]).parent.name} {shlex.join(sys.argv[1:])}".rstrip())
    say(f"machine     {os.cpu_count()} x {model}, {platform.system()} {platform.release()}")
    say(f"versions    {', '.join(versions)}")
    say(f"load        {os.getloadavg()[0]:.2f} before the start")


def verdict(name: str, shown: str, goal: str, met: bool) -> bool:
    """One line of the result; gives `met` back."""
    say(f"{'ok  ' if met else 'MISS'} {name}: {shown}  (goal: {goal})")
    return met


def say(line: str) -> None:
    """Results are the output."""
    print(line, flush=True)
