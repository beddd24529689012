"""`brokernat proxy` as a user runs it: a process of its own, its options, its ready line, what it costs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brokernat.address import Endpoint
from brokernat.testbed.namespaces import Namespace

_STOP_TIMEOUT = 30
_FIRST_NET, _PORT = 250, 21000
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Processes:
    """A process and its descendants: what they cost."""

    pid: int

    def seconds(self) -> float:
        """Processor time so far."""
        return sum(_processor_seconds(pid) for pid in self.pids())

    def resident(self) -> int:
        """Bytes of memory of the largest of them, now."""
        return max(_resident(pid) for pid in self.pids())

    def resident_in_all(self) -> int:
        """Bytes of memory of all of them, now; what they share is counted for each."""
        return sum(_resident(pid) for pid in self.pids())

    def resident_peak(self) -> int:
        """Bytes of memory that the largest of them had at most."""
        return max(_peak(pid) for pid in self.pids())

    def pids(self) -> list[int]:
        """Those that are there."""
        return _descent(self.pid)


@dataclass(frozen=True)
class RunningProxy:
    """The command at work."""

    process: subprocess.Popen[str]
    bootstrap: Endpoint
    log: Path

    @property
    def processes(self) -> Processes:
        """Itself and its workers."""
        return Processes(self.process.pid)


def somewhere(number: int = 0) -> Endpoint:
    """Where a proxy of this process may listen: an address that neither a world nor another process of tests uses."""
    high, low = divmod(os.getpid() % (1 << 16), 1 << 8)
    return Endpoint(f"127.{_FIRST_NET + number}.{high}.{low}", _PORT)


@contextmanager
def proxy(config: Path, listen: Endpoint, *options: str, within: Namespace | None = None) -> Iterator[RunningProxy]:
    """Run the proxy of the file's only cluster until the block ends; it must end by SIGTERM without a traceback.

    Args:
        config: the `brokernat.yaml`; the log and the state are kept beside it.
        listen: where clients begin.
        options: further options of the command.
        within: the network namespace; default: the one of this process.
    """
    log = config.with_name("proxy.log")
    proxying = ("proxy", "--config", str(config), "--listen", str(listen), *options)
    words = [sys.executable, "-m", "brokernat", *proxying]
    with log.open("a") as sink:
        process = subprocess.Popen(
            words if within is None else within.command(words),
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            env=_environment(config.parent),
        )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline().strip()
        assert ready, f"the proxy ended with {process.wait()}:\n{log.read_text()[-4000:]}"
        yield RunningProxy(process, Endpoint.parse(ready), log)
        process.terminate()
        code = process.wait(_STOP_TIMEOUT)
        assert code == 128 + signal.SIGTERM, (code, log.read_text()[-4000:])
        assert "Traceback" not in log.read_text(), log.read_text()[-8000:]
    finally:
        process.kill()
        process.communicate()


def _environment(state: Path) -> dict[str, str]:
    # A user's Python keeps what it has compiled; without that most of a start would be the compiler.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"XDG_STATE_HOME": str(state)}


def _descent(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(found for child in children for found in _descent(int(child)))]


def _processor_seconds(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / _TICKS


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def _peak(pid: int) -> int:
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
