"""A place in the network, from which processes run and connections are made; and waiting for conditions.

In the loopback world all parts share one place; with namespaces each host is one. The code that starts a process or
dials an endpoint is the same for both.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from brokernat.address import Endpoint
from brokernat.errors import NothingReachableError
from brokernat.testbed.keeper import MARK

_PAUSE = 0.05
_DEAD_TIMEOUT = 1.0


class Place(Protocol):
    """The interface of places."""

    def command(self, words: Sequence[str]) -> list[str]:
        """The command line that runs `words` in this place."""
        ...

    def dial(self, endpoint: Endpoint, timeout: float = 15.0) -> socket.socket:
        """A TCP connection from this place.

        Raises:
            OSError: refused, no answer in time, no such name.
        """
        ...


class Here:
    """The network of this process."""

    def command(self, words: Sequence[str]) -> list[str]:
        """`words` unchanged."""
        return list(words)

    def dial(self, endpoint: Endpoint, timeout: float = 15.0) -> socket.socket:
        """A TCP connection from here."""
        return socket.create_connection((endpoint.host, endpoint.port), timeout=timeout)


def connects(endpoint: Endpoint, place: Place) -> bool:
    """Whether anything accepts a connection there."""
    try:
        place.dial(endpoint, timeout=_DEAD_TIMEOUT).close()
    except OSError:
        return False
    return True


@dataclass
class Launcher:
    """Starts the processes of one world with its mark (keeper.py), in their own sessions: Ctrl-C does not end them."""

    state: Path
    inherited: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(
        self, words: Sequence[str], *, place: Place, log: Path | None = None, stdout: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start `words` in `place`. Its output is appended to `log`; `stdout` replaces its standard output."""
        sink: IO[bytes] | int = log.open("ab") if log else subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                place.command(words),
                stdin=subprocess.DEVNULL,
                stdout=sink if stdout is None else stdout,
                stderr=sink,
                env={**self.environment, MARK: str(self.state)},
                cwd=self.state,
                start_new_session=True,
                pass_fds=self.inherited,
            )
        finally:
            if not isinstance(sink, int):
                sink.close()
        self._started.append(process)
        return process

    def reap(self) -> None:
        """Wait for the processes after they were killed."""
        for process in self._started:
            process.wait()


def script(name: str, *arguments: str) -> list[str]:
    """The command that runs a script of this package without importing the package."""
    return [sys.executable, "-I", str(Path(__file__).parent / name), *arguments]


def wait_until(
    condition: Callable[[], bool], what: str, *, timeout: float, abort: Callable[[], str | None] = lambda: None
) -> None:
    """Return when `condition()` is true.

    Args:
        condition: called every 50 ms.
        what: the description of the condition, for the message.
        timeout: seconds.
        abort: returns a reason to stop waiting, such as the end of the process, or None.

    Raises:
        NothingReachableError: the condition was not true in time, or `abort` returned a reason.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if reason := abort():
            raise NothingReachableError(f"{what}: {reason}")
        if time.monotonic() > deadline:
            raise NothingReachableError(f"{what}: not within {timeout:.0f} s")
        time.sleep(_PAUSE)
