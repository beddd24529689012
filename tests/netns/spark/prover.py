"""A session on the standalone cluster that proves one configuration after another (jobs/prover.py)."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.netns.spark.spark_place import Job, SparkPlace

JOB = Path(__file__).parent / "jobs" / "prover.py"
_PATIENCE = 240.0


@dataclass(frozen=True)
class Answer:
    """A proof: its rows as `ProofRow` names the fields; message and hint are None when it holds."""

    rows: tuple[Mapping[str, Any], ...]
    missing: tuple[str, ...]
    message: str | None
    hint: str | None

    def executors(self) -> frozenset[str]:
        """Who answered, the driver not counted."""
        return frozenset(row["executor"] for row in self.rows) - {"driver"}

    def outcomes(self, cluster: str) -> dict[tuple[str, int], str]:
        """The outcome by executor and node."""
        return {(row["executor"], row["node_id"]): row["outcome"] for row in self.rows if row["cluster"] == cluster}


@dataclass(frozen=True)
class Prover:
    """The running session."""

    job: Job

    def ask(self, file: Path) -> Answer:
        """The proof of what `file` says."""
        asked = len(self._lines())
        stdin = self.job.process.stdin
        assert stdin is not None
        stdin.write(f"{file}\n".encode())
        stdin.flush()
        deadline = time.monotonic() + _PATIENCE
        while len(self._lines()) == asked:
            assert self.job.running(), self.job.tail()
            assert time.monotonic() < deadline, f"no answer in {_PATIENCE:.0f} s\n{self.job.tail()}"
            time.sleep(0.05)
        return self.last()

    def last(self) -> Answer:
        """The last proof so far."""
        said = json.loads(self._lines()[-1])
        return Answer(tuple(said["rows"]), tuple(said["missing"]), said["message"], said["hint"])

    def _lines(self) -> list[str]:
        # The last piece is a line only when its end is there.
        return [line for line in self.job.output.read_text().split("\n")[:-1] if line.startswith("{")]


@contextmanager
def running_prover(spark: SparkPlace, file: Path) -> Iterator[Prover]:
    """The session, configured for the clusters of `file`."""
    job = spark.start([str(JOB), str(file)], stdin=subprocess.PIPE)
    try:
        yield Prover(job)
    finally:
        job.process.communicate(timeout=60)
