"""The command line in one process for many commands, so that Spark's JVM starts once for all of them.

A start of Python, PySpark and its JVM costs more than most commands do. What a command does is the same: it makes a
session of its own and ends it, only the JVM underneath stays. Commands whose start, end or signals are the point run
in processes of their own.

As a program it reads a request from each line of its standard input and answers each with the exit code.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from types import TracebackType
from typing import Self

TIMEOUT = 420
_OF_THE_JVM = ("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_HOME")
"""What a start of Spark leaves in the environment."""


@dataclass
class WarmCli:
    """A context manager; the process is started with the first command, and anew where one was lost."""

    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def run(
        self, arguments: Sequence[str], environ: Mapping[str, str] = os.environ
    ) -> subprocess.CompletedProcess[str]:
        """What `brokernat ARGUMENTS` does, printed and ended with."""
        with tempfile.TemporaryDirectory(prefix="warm-cli-") as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            request = {"arguments": [*arguments], "environ": dict(environ), "out": str(out), "err": str(err)}
            answer = self._asked(json.dumps(request))
            printed = [file.read_text() if file.exists() else "" for file in (out, err)]
        assert answer, f"no answer to {arguments}\n{''.join(printed)}"
        return subprocess.CompletedProcess([*arguments], int(answer), *printed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _asked(self, request: str) -> str:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.warm_cli"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
                cwd=Path(__file__).parents[2],
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        if not select([self._process.stdout], [], [], TIMEOUT)[0]:
            self._end()
            return ""
        return self._process.stdout.readline()

    def _end(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


def serve() -> None:
    """Run commands until there are no more."""
    # Numbers 1 and 2 belong to the command that runs.
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        kept = {name: os.environ[name] for name in _OF_THE_JVM if name in os.environ}
        os.environ.clear()
        os.environ.update(request["environ"] | kept)
        print(_run(request["arguments"], request["out"], request["err"]), file=answers, flush=True)


def _run(arguments: list[str], out: str, err: str) -> int:
    from brokernat.cli.app import main

    for number, file in ((1, out), (2, err)):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    try:
        return main(arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    serve()
