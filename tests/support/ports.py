"""Ports that nobody has."""

from __future__ import annotations

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """Below those that the kernel gives to outgoing connections: nobody gets it before it is used."""
    for port in random.sample(range(23_000, 32_000), 100):
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port
    raise AssertionError("a hundred ports are taken")
