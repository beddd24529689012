"""`brokernat proxy` as a user runs it, in front of brokers that nobody reaches directly."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.testbed import LoopbackWorld, RunningCluster
from brokernat.testbed.running_cluster import config_text

_TIMEOUT = 60
_ADDRESSES = itertools.count(1)


@dataclass
class ProxyCommand:
    """The command with a file of its own; `restart` ends it as an administrator does."""

    file: Path
    listen: Endpoint
    options: Sequence[str] = ()
    _process: subprocess.Popen[str] = field(init=False)

    def start(self) -> None:
        words = ["proxy", "--config", str(self.file), "--cluster", "hq", "--listen", str(self.listen), *self.options]
        with self.log_file.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "brokernat", *words], stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "XDG_STATE_HOME": str(self.file.parent)},
            )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == f"{self.listen}\n", self.log()

    def stop(self) -> int:
        """Its exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(_TIMEOUT)
        finally:
            self._process.kill()
            self._process.communicate()

    def reload(self) -> None:
        self._process.send_signal(signal.SIGHUP)

    def log(self) -> str:
        return self.log_file.read_text()

    @property
    def log_file(self) -> Path:
        return self.file.with_suffix(".log")


class Proxies:
    """Starts proxies of clusters, and ends them."""

    def __init__(self, folder: Path, ends: ExitStack) -> None:
        self._folder = folder
        self._ends = ends

    def __call__(self, cluster: RunningCluster, *options: str) -> ProxyCommand:
        number = next(_ADDRESSES)
        file = self._folder / f"proxy-{number}.yaml"
        file.write_text(config_text([cluster]))
        # An address of this process alone, so that every port is free.
        host = f"127.{100 + os.getpid() % 100}.{os.getpid() // 100 % 250}.{number}"
        command = ProxyCommand(file, Endpoint(host, 9092), options)
        command.start()
        self._ends.callback(command.stop)
        return command


@pytest.fixture
def proxy_of(tmp_path: Path) -> Iterator[Proxies]:
    with ExitStack() as ends:
        yield Proxies(tmp_path, ends)


@pytest.fixture(scope="package")
def world() -> Iterator[LoopbackWorld]:
    """Three brokers of its own: they are killed."""
    with LoopbackWorld(local=None) as world:
        yield world
