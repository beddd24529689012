"""`keytool`, which comes with every Java: how a store is named to it, and several at once."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from brokernat.errors import WorldError
from brokernat.testbed.server_properties import STORE_PASSWORD

_TIMEOUT = 180
# It runs for a moment, and a test session starts it dozens of times.
_QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")


def store(file: Path) -> list[str]:
    """The arguments that name a store of the testbed's."""
    return ["-keystore", str(file), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD]


def run_all(commands: Sequence[Sequence[str]]) -> None:
    """Run them side by side.

    Raises:
        WorldError: one failed; with what it said.
    """
    started = [
        subprocess.Popen(
            [program, *_QUICK, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for program, *arguments in commands
    ]
    for process in started:
        said, _ = process.communicate(timeout=_TIMEOUT)
        if process.returncode != 0:
            raise WorldError(f"keytool failed: {said.strip()}")
