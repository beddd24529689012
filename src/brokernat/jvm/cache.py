"""The two ways to fill the cache (`paths.cache_dir`) safely.

Several sessions of one user share it, so a file appears whole or not at all (made beside its place, then renamed),
and who fills it holds a lock of the kernel, which a crash releases.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from brokernat import durable
from brokernat.paths import CACHE_VARIABLE, writing


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; waits for whoever holds it, thread or process."""
    with _written(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def create_directory(path: Path, fill: Callable[[Path], None]) -> None:
    """Make directory `path` by `fill(directory)`, visible only when complete; a concurrent winner is kept."""
    with _written(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
        try:
            fill(work)
            durable.exchange(work, path)
        except OSError:
            if not path.is_dir():
                raise
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _written(path: Path) -> AbstractContextManager[None]:
    return writing(path.parent, "the cache", moved_by=CACHE_VARIABLE)
