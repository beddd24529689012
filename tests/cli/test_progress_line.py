"""A look that is ended early, on a terminal: the code says how, and the cursor is there again."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

SILENT_COMMANDS = {
    "doctor": ("doctor", "--timeout", "600", "--bootstrap-server"),
    "discover": ("discover", "--timeout", "600", "--bootstrap-server"),
}
pytestmark = pytest.mark.usefixtures("nothing_ignored")

HIDDEN, SHOWN = b"\x1b[?25l", b"\x1b[?25h"


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """Takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


@pytest.mark.parametrize("command", SILENT_COMMANDS)
@pytest.mark.parametrize(("number", "said"), [(signal.SIGINT, b"stopped"), (signal.SIGTERM, b"")])
def test_ended_early(silent_server: socket.socket, command: str, number: signal.Signals, said: bytes) -> None:
    here, there = pty.openpty()
    endpoint = "{}:{}".format(*silent_server.getsockname())
    arguments = [sys.executable, "-m", "brokernat", *SILENT_COMMANDS[command], endpoint]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(arguments, stderr=there, stdout=subprocess.PIPE, env=environment) as process:
        os.close(there)
        shown = b""
        with silent_server.accept()[0]:
            while HIDDEN not in shown:
                shown += os.read(here, 1000)
            process.send_signal(number)
            while chunk := read(here):
                shown += chunk
            assert process.wait(60) == 128 + number
    os.close(here)
    assert shown.rindex(SHOWN) > shown.rindex(HIDDEN)
    assert said in shown
    assert not re.search(rb"Traceback|Error|never retrieved", shown)
    # The line that moved is ASCII, and gone.
    assert shown.isascii()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1000)
    except OSError:
        # Nobody is at the other end any more.
        return b""
