"""The gateway of the loopback world as a process: stop it, start it, as if the host between the networks went away."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from brokernat.errors import WorldError
from brokernat.render import Forward
from brokernat.testbed.place import Launcher, Place, script


class ForwarderGateway:
    """Runs forwarder.py."""

    def __init__(self, forwards: Sequence[Forward], *, launcher: Launcher, place: Place, log: Path) -> None:
        self._forwards = tuple(forwards)
        self._launcher = launcher
        self._place = place
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return when every port listens; nothing happens when it runs.

        Raises:
            WorldError: a port cannot be had.
        """
        if self.running() or not self._forwards:
            return
        words = script("forwarder.py", *(f"{forward.listen}={forward.upstream}" for forward in self._forwards))
        self._process = self._launcher.start(words, place=self._place, log=self._log, stdout=subprocess.PIPE)
        assert self._process.stdout is not None  # noqa: S101
        with self._process.stdout as output:
            ready = output.readline()
        if ready != b"ready\n":
            self.stop()
            raise WorldError(f"the gateway does not start: {self._log.read_text(errors='replace').strip()[-500:]}")

    def stop(self) -> None:
        """End it at once: every connection through it is reset, every port refuses."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def running(self) -> bool:
        """Whether it forwards."""
        return self._process is not None and self._process.poll() is None
