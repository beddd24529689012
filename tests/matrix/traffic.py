"""A running `Traffic` program: asked for its state until a condition holds."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PATIENCE = 300
_PAUSE = 0.2

State = dict[str, Any]


class Traffic:
    """One JVM with a producer and a consumer group."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log

    def ask(self, command: str = "status") -> State:
        """Send a command; its answer is the state after it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the program ended with {self._process.wait()}:\n{self.log()[-4000:]}"
        state: State = json.loads(answer)
        return state

    def until(self, holds: Callable[[State], bool], what: str, *, command: str = "status") -> State:
        """The first state in which `holds`; fails with the last one seen."""
        deadline = time.monotonic() + _PATIENCE
        while not holds(state := self.ask(command)):
            assert time.monotonic() < deadline, f"{what}: not within {_PATIENCE} s; last: {state}\n{self.log()[-4000:]}"
            time.sleep(_PAUSE)
        return state

    def progress(self, records: int = 50) -> State:
        """Every partition got and gave this many records more."""
        before = self.ask()

        def more(now: State) -> bool:
            return all(
                now[kind].get(partition, 0) >= before[kind].get(partition, 0) + records
                for kind in ("acked_by_partition", "read_by_partition")
                for partition in before["leaders"]
            )

        assert before["leaders"]
        return self.until(more, f"{records} records more on every partition")

    def log(self) -> str:
        """What client and agent logged."""
        return self._log.read_text()


@contextmanager
def traffic(command: Sequence[str], log: Path) -> Iterator[Traffic]:
    """Start the program, wait until it leads somewhere, end it in any case."""
    with log.open("w") as sink:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink, text=True)
    try:
        running = Traffic(process, log)
        running.until(lambda state: bool(state["leaders"]), "first metadata")
        yield running
    finally:
        process.kill()
        process.communicate()
