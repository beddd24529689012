"""Opens each forward with a separate program: `kubectl port-forward`, or any command of the user.

A forward counts as open when its local port accepts connections, because each program prints a different message. When
the program ends, the forward is closed; the last line of its output is reported as the reason.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from brokernat.address import Endpoint
from brokernat.errors import MissingToolError
from brokernat.tunnel.forwarder import Forward, PortTakenError, TunnelFailedError, Workspace, last_lines

PLACEHOLDERS: Final = ("{host}", "{port}", "{local}")
_TAKEN = ("address already in use", "unable to listen on port")
_READY_TIMEOUT, _POLL_INTERVAL = 30.0, 0.05


class CommandForwarder:
    """One program for each forward."""

    def __init__(self, name: str, words: Callable[[Forward], Sequence[str]], workspace: Workspace) -> None:
        """Starts no program. `words` returns the command line of a forward; `name` is for messages."""
        self._name, self._command_line, self._workspace = name, words, workspace
        self._running: dict[Forward, subprocess.Popen[bytes]] = {}

    def __str__(self) -> str:
        return self._name

    def open(self, forward: Forward, *, may_prompt: bool) -> None:  # noqa: ARG002 - these programs have no terminal
        """As `Forwarder.open`."""
        words = self._command_line(forward)
        if shutil.which(words[0]) is None:
            raise MissingToolError(f"no `{words[0]}` on this machine", hint="install it, or give its full path")
        self.close(forward)
        process = self._running[forward] = self._workspace.start(words, self._log(forward))
        deadline = time.monotonic() + _READY_TIMEOUT
        while not _listens(forward.local):
            if process.poll() is None and time.monotonic() < deadline:
                time.sleep(_POLL_INTERVAL)
                continue
            reason = self.reason(forward) or (
                f"it does not listen on {forward.local} within {_READY_TIMEOUT:.0f} s"
                if process.returncode is None
                else f"it ended with {process.returncode}"
            )
            self.close(forward)
            if any(text in reason.lower() for text in _TAKEN):
                raise PortTakenError(str(forward))
            raise TunnelFailedError(
                f"`{shlex.join(words)}`: {reason}", hint="run this command by hand until it works, then start again"
            )

    def alive(self, forward: Forward) -> bool:
        """Whether the program of the forward runs."""
        process = self._running.get(forward)
        return process is not None and process.poll() is None

    def renew(self, forward: Forward) -> None:
        """End the program of the forward."""
        self.close(forward)

    def close(self, forward: Forward) -> None:
        """End the program of the forward."""
        if (process := self._running.pop(forward, None)) is not None:
            self._workspace.end(process)

    def connection_key(self, forward: Forward) -> object:
        """The forward itself, because each forward has its own program."""
        return forward

    def reason(self, forward: Forward) -> str:
        """The last line that the program of the forward printed."""
        lines = last_lines(self._log(forward))
        return lines[-1] if lines else ""

    def _log(self, forward: Forward) -> Path:
        return self._workspace.folder / f"{forward.local.port}.log"


def via_words(forward: Forward, template: str) -> list[str]:
    """The user's command for one forward. It is split before values are inserted, so no shell interprets a value."""
    values = zip(PLACEHOLDERS, (forward.target.host, forward.target.port, forward.local.port), strict=True)
    words = shlex.split(template)
    for placeholder, value in values:
        words = [word.replace(placeholder, str(value)) for word in words]
    return words


def _listens(local: Endpoint) -> bool:
    try:
        socket.create_connection((local.host, local.port), timeout=1).close()
    except OSError:
        return False
    return True
