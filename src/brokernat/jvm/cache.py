"""The directory for what can be fetched or made again, and the two ways to fill it safely.

Several sessions of one user share it, so a file appears whole or not at all (made beside its place, then renamed),
and who fills it holds a lock of the kernel, which a crash releases.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """`$XDG_CACHE_HOME/brokernat`, or `~/.cache/brokernat`."""
    base = os.environ.get("XDG_CACHE_HOME")
    # The base directory specification: a relative path is to be ignored.
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    return root / "brokernat"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; waits for whoever holds it, thread or process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def create_directory(path: Path, fill: Callable[[Path], None]) -> None:
    """Make directory `path` by `fill(directory)`, visible only when complete; a concurrent winner is kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        fill(work)
        work.rename(path)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
