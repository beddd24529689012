"""The releases of confluent-kafka that tests run with: this environment's, and the oldest with a wheel for its Python.

An older release is installed by hash into the cache, once per machine, and put before this environment on the path of
a process of its own.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from brokernat.paths import cache_dir, create_directory, locked

_HAS_WHEEL = pytest.mark.skipif(sys.version_info >= (3, 12), reason="the oldest release has no wheel for this Python")
RELEASES = ["newest", pytest.param("oldest", marks=_HAS_WHEEL)]
NEWEST_IN_THE_GATE = pytest.mark.parametrize(
    "release", ["newest", pytest.param("oldest", marks=[_HAS_WHEEL, pytest.mark.soak])]
)
"""For what the map decides and every release does alike once its clients of every kind work."""
ROOT = Path(__file__).resolve().parents[3]
OLDEST_LOCK = ROOT / "requirements" / "confluent-oldest.lock"


def environment(release: str) -> dict[str, str]:
    """What to start Python with so that it imports `newest` or `oldest`."""
    path = [str(_installed(OLDEST_LOCK))] if release == "oldest" else []
    return os.environ | {"PYTHONPATH": os.pathsep.join([*path, str(ROOT)])}


def _installed(lock: Path) -> Path:
    directory = cache_dir() / "confluent-kafka" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    with locked(directory.parent / ".lock"):
        if not directory.is_dir():
            create_directory(directory, lambda work: _install(lock, work))
    return directory


def _install(lock: Path, target: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--no-build", "--require-hashes",
         "--target", target, "-r", lock],
        check=True, timeout=600,
    )  # fmt: skip
