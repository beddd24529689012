"""Runs of the command as a person starts it: a process of its own, from its start to its end."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.report import say

from brokernat.testbed import LoopbackWorld
from brokernat.testbed.running_cluster import config_text, quoted

# kio imports hypothesis where there is one, for its own tests: those who use the doctor have none.
_AS_INSTALLED = "import sys; sys.modules['hypothesis'] = None"
_DOCTOR = (sys.executable, "-c", f"{_AS_INSTALLED}; from brokernat.cli.app import main; sys.exit(main())", "doctor")
_SIMULATED = (sys.executable, "-m", "tests.support.simulated_brokers")
_IMPORTED = ("brokernat.doctor.probes.collecting", "brokernat.doctor.diagnosis", "brokernat.doctor.reports.terminal")
_SLOWEST = 12
"""Imports that are shown."""


@dataclass(frozen=True)
class Figure:
    """Of several runs: seconds in the middle, least, most; how long they kept a processor busy; the most memory."""

    seconds: float
    least: float
    most: float
    busy: float
    megabytes: float

    def show(self) -> str:
        """`median s (least to most), busy for so long, memory`."""
        spread = f"{self.seconds:.2f} s ({self.least:.2f} to {self.most:.2f})"
        return f"{spread}, processor {self.busy:.2f} s, {self.megabytes:.0f} MB"


def healthy(folder: Path, rounds: int) -> Figure:
    """Three real brokers behind a gateway, with a map: nothing is wrong."""
    with LoopbackWorld(local=None) as world:
        file = folder / "brokernat.yaml"
        file.write_text(config_text([world.hq]))
        return _measured(file, rounds)


def many(folder: Path, brokers: int, rounds: int) -> Figure:
    """Simulated brokers behind a map, in a process of their own."""
    words = [*_SIMULATED, str(brokers)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        rules = [served.stdout.readline().strip() for _ in range(brokers)]
        file = folder / "many.yaml"
        first = ",".join(rule.partition("=")[2] for rule in rules[:3])
        lines = ["clusters:", "  hq:", f"    bootstrap_servers: {first}", "    address_map:"]
        file.write_text("\n".join([*lines, *(f"      - {quoted(rule)}" for rule in rules), ""]))
        try:
            return _measured(file, rounds)
        finally:
            served.stdin.close()


def imports(rounds: int) -> None:
    """What the start costs before anything is looked at, and the imports that cost most."""
    bare = _seconds([sys.executable, "-c", ""], rounds)
    shown = _seconds([*_DOCTOR, "--help"], rounds)
    say(f"start: python {bare:.2f} s, `brokernat doctor --help` {shown:.2f} s")
    program = f"{_AS_INSTALLED}; import {', '.join(_IMPORTED)}"
    words = [sys.executable, "-X", "importtime", "-c", program]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    rows = [line.split("|") for line in said.splitlines() if line.startswith("import time:") and "self" not in line]
    slowest = sorted(rows, key=lambda row: -int(row[1]))[:_SLOWEST]
    say("cumulated import times: " + ", ".join(f"{row[2].strip()} {int(row[1]) / 1000:.0f} ms" for row in slowest))


def _measured(file: Path, rounds: int) -> Figure:
    words = [*_DOCTOR, "--config", str(file), "--fail-on", "warning"]
    taken = [_run(words) for _ in range(rounds + 1)][1:]
    seconds = [each[0] for each in taken]
    busy, megabytes = median(each[1] for each in taken), max(each[2] for each in taken)
    return Figure(median(seconds), min(seconds), max(seconds), busy, megabytes)


def _run(words: Sequence[str]) -> tuple[float, float, float]:
    """Seconds by the clock and of a processor, and megabytes, of one run, which must find nothing."""
    began = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"`{' '.join(words)}` ended with {process.returncode}")
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _seconds(words: Sequence[str], rounds: int) -> float:
    return median(_run(words)[0] for _ in range(rounds))
