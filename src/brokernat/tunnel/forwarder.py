"""What opens forwards: the interface that `ssh.py` and `commands.py` implement, and the workspace that both start their
programs in.

A workspace is a private folder for one tunnel, and a guard process that cleans up even after a kill of this process.
The guard is a shell that waits for the end of its standard input. This process holds the other end of that pipe, and
the kernel closes it even after `kill -9`. Then the guard ends ssh's master connection, whose socket is in the folder,
and every process group with a file `<id>.group` there, and removes the folder. `close` ends the programs in order and
then lets the guard clean up.

The folder is directly below XDG_RUNTIME_DIR or /tmp, because the path of a Unix socket has at most 104 characters and
ssh adds 17 while it binds. Programs run in their own process groups, so Ctrl-C at the terminal reaches the command but
not its tunnel.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from brokernat.address import Endpoint
from brokernat.errors import NothingReachableError
from brokernat.paths import writing


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward from `local` on this machine to `target`, which the far end of the tunnel dials."""

    target: Endpoint
    local: Endpoint

    def __str__(self) -> str:
        return f"{self.target} at {self.local}"


class PortTakenError(Exception):
    """Another program listens at the forward's local port."""


class Forwarder(Protocol):
    """Opens forwards. The workspace ends all processes that a forwarder has started."""

    def __str__(self) -> str:
        """The command for messages: `ssh user@bastion`."""

    def open(self, forward: Forward, *, may_prompt: bool) -> None:
        """Open one forward, after the connection that it needs.

        Args:
            may_prompt: whether the program may prompt for a password or an unknown host key at the terminal.

        Raises:
            PortTakenError: the local port is in use.
            TunnelFailedError: any other failure.
            MissingToolError: the program is not installed.
        """

    def alive(self, forward: Forward) -> bool:
        """Whether the forward still accepts connections; never blocks."""

    def close(self, forward: Forward) -> None:
        """End the forward. Its local port is free again."""

    def renew(self, forward: Forward) -> None:
        """End a forward that still accepts connections but may have lost its target; the caller opens it again."""

    def connection_key(self, forward: Forward) -> object:
        """The key of the forward's connection: equal for all forwards that share one."""

    def reason(self, forward: Forward) -> str:
        """The last message of the program about the forward; empty if there is none."""


class TunnelFailedError(NothingReachableError):
    """A forward cannot be opened, or the wrong server answers behind it."""


_GUARD = """\
trap '' INT TERM HUP
while read -r _; do :; done
if [ -S "$0/ssh" ]; then ssh -F none -S "$0/ssh" -O exit brokernat 2>/dev/null; fi
for group in "$0"/*.group; do
  [ -f "$group" ] && kill -s TERM -- "-$(basename "$group" .group)" 2>/dev/null
done
rm -rf "$0"
"""
_ENDS_WITHIN = 5


class Workspace:
    """The folder and the guard; `close` ends both and all programs started here."""

    def __init__(self) -> None:
        """Creates the folder and starts the guard.

        Raises:
            ConfigError: the folder cannot be created.
        """
        base = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"  # noqa: S108 - mkdtemp makes a folder of this user alone
        with writing(base, "the folder of the tunnel's sockets", moved_by="XDG_RUNTIME_DIR"):
            self.folder = Path(tempfile.mkdtemp(prefix="brokernat-", dir=base))
        self._lock, self._closed = threading.Lock(), False
        self._prompting: subprocess.Popen[bytes] | None = None
        self._programs: list[subprocess.Popen[bytes]] = []
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )

    def run_on_terminal(self, words: Sequence[str]) -> int:
        """Runs a program on the user's terminal until it ends or goes into the background; returns its exit code."""
        with self._lock:
            self._require_open()
            # stderr has the host's banner and prompts.
            self._prompting = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return self._prompting.wait()

    def start(self, words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        """Starts a program in its own process group, without a terminal; its output goes to `log`."""
        with self._lock, log.open("wb") as output:
            self._require_open()
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0
            )
            self._file_of(process).touch()
            self._programs.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends a program and its children; a second call does nothing."""
        if process not in self._programs:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_ENDS_WITHIN)
                break
        self._programs.remove(process)
        self._file_of(process).unlink(missing_ok=True)

    def close(self) -> None:
        """Ends all programs, then lets the guard clean up; a second call does nothing."""
        with self._lock:
            self._closed = True
        if self._prompting is not None:
            self._prompting.terminate()
            self._prompting.wait()
        for process in tuple(self._programs):
            self.end(process)
        self._guard.communicate()

    def _require_open(self) -> None:
        if self._closed:
            raise TunnelFailedError("the tunnel is closed")

    def _file_of(self, process: subprocess.Popen[bytes]) -> Path:
        return self.folder / f"{process.pid}.group"


def last_lines(log: Path, most: int = 5) -> tuple[str, ...]:
    """The last non-empty lines of a log; none without a log."""
    try:
        text = log.read_text("utf-8", "replace")
    except OSError:
        return ()
    return tuple(line.strip() for line in text.splitlines() if line.strip())[-most:]
