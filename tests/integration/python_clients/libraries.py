"""The libraries under test: what is in this environment, and kafka-python 2 by hash from a lock of its own."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.matrix.traffic import Traffic

from brokernat.paths import cache_dir, create_directory, locked
from brokernat.testbed.place import Here, Place

ROOT = Path(__file__).parents[3]
LOCK = ROOT / "requirements" / "kafka-python-2.lock"

_TIMEOUT = 400


@dataclass(frozen=True)
class Outcome:
    """What a program answered, and what it and the library logged."""

    answer: dict[str, Any]
    log: str

    def __str__(self) -> str:
        return f"{self.answer}\n{self.log[-6000:]}"


@dataclass(frozen=True)
class Library:
    """A library of one version; `lock` names what stands before the environment's packages."""

    name: str
    driver: str
    lock: Path | None = None

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.integration.python_clients.program", self.driver]

    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(installed(self.lock)), str(ROOT)]) if self.lock else str(ROOT)
        return os.environ | {"PYTHONPATH": path}

    def exercise(self, orders: Sequence[dict[str, Any]], *roles: str, place: Place | None = None) -> Outcome:
        """Run the program for these clusters, all in one process, here or in another place."""
        order = json.dumps({"do": "exercise", "orders": list(orders), "roles": list(roles)})
        done = subprocess.run(
            (place or Here()).command(self.command()),
            input=order + "\n",
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=self.environment(),
            timeout=_TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-6000:]
        return Outcome(json.loads(done.stdout), done.stderr)

    @contextmanager
    def traffic(self, order: dict[str, Any], log: Path) -> "Iterator[Traffic]":
        """Start a producer and a group that keep going; they are ended in any case."""
        with log.open("w") as sink:
            process = subprocess.Popen(
                self.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
                cwd=ROOT,
                env=self.environment(),
            )
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"do": "traffic", "orders": [order]}) + "\n")
            yield Traffic(process, log)
        finally:
            process.kill()
            process.communicate()


KAFKA_PYTHON_2 = Library("kafka-python 2", "kafka-python", LOCK)
KAFKA_PYTHON_3 = Library("kafka-python 3", "kafka-python")
AIOKAFKA = Library("aiokafka", "aiokafka")
LIBRARIES = (KAFKA_PYTHON_2, KAFKA_PYTHON_3, AIOKAFKA)
NEWEST_IN_THE_GATE = pytest.mark.parametrize(
    "library",
    [pytest.param(KAFKA_PYTHON_2, marks=pytest.mark.soak), KAFKA_PYTHON_3, AIOKAFKA],
    ids=lambda library: library.name.replace(" ", "-"),
)
"""For what the maps' own code decides, which all versions of a library share."""


def installed(lock: Path) -> Path:
    """A directory with the packages of a lock, once per machine."""
    directory = cache_dir() / "python" / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    with locked(directory.parent / ".lock"):
        if not directory.is_dir():
            create_directory(directory, lambda work: _install(lock, work))
    return directory


def _install(lock: Path, target: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes",
         "--target", target, "-r", lock],
        check=True, timeout=600,
    )  # fmt: skip
