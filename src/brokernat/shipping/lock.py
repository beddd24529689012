"""One process for one spool, told by the kernel: the claim ends with the process, however that ends.

`flock` belongs to the open file, which a forked child inherits: the child gives its copy up (`abandon`), or the spool
would stay taken after its parent is gone. A program that is started by us inherits nothing (`O_CLOEXEC`).
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from brokernat.shipping.faults import SpoolBusyError

FILE = "lock"


class SpoolLock:
    """Holds a spool's folder from the making on."""

    def __init__(self, directory: Path) -> None:
        """Raises SpoolBusyError: another process, or another handler of this one, holds it."""
        self._file = os.open(directory / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 20).decode("ascii", "replace").strip()
            os.close(self._file)
            raise SpoolBusyError(directory, holder) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others have it. Once: the number of a closed file is soon that of another one."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    abandon = release


def held(directory: Path) -> bool:
    """Whether a process holds the spool now."""
    try:
        file = os.open(directory / FILE, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
