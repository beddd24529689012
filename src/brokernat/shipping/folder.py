"""The folder of a spool: locked by one process, private to its owner, without links.

Records may be secret, and another user with write access could place a link that makes brokernat overwrite a file. So a
folder that others may write to is refused, and every file in it must be a regular file of this user without hard links.
Files have mode 0600 whatever the umask; SQLite gives its log the mode of the database. If the folder already contains a
spool, its mode is restricted again instead: Kubernetes gives a group access to volumes (`fsGroup`) at every start of a
pod.

The lock is a `flock`, which the kernel releases at the end of the process. It belongs to the open file, which a forked
child inherits: the child closes its copy, or the spool would stay locked after the end of its parent. Started programs
do not inherit it (`O_CLOEXEC`).
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from brokernat.paths import writing
from brokernat.shipping.errors import SpoolBusyError, SpoolUnsafeError

DATABASE: Final = "spool.db"
LOCK: Final = "lock"
MOVED_BY: Final = "`--spool`, `spool:` or `spool=`"
"""The names of the folder's setting: of `brokernat ship`, of its section in the file, of KafkaHandler."""
_CLAIMS: Final = 200
_CLAIM_PAUSE: Final = 0.01
_LOGS: Final = tuple(f"{DATABASE}-{part}" for part in ("wal", "shm", "journal"))
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
# O_NONBLOCK: opening a named pipe must not block.
_OPEN: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class SpoolFolder:
    """A spool folder, locked until `release`."""

    def __init__(self, directory: Path) -> None:
        """Creates the folder if missing.

        Raises:
            SpoolBusyError: another process, or another handler of this process, uses it.
            SpoolUnsafeError: others may write it, or something in it is a link.
            ConfigError: it cannot be created or written.
        """
        with writing(directory, "the spool", moved_by=MOVED_BY):
            for missing in reversed([parent for parent in directory.parents if not parent.exists()]):
                missing.mkdir(mode=0o755, exist_ok=True)
            with suppress(FileExistsError):
                directory.mkdir(mode=0o700)
            folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                _close_to_others(directory, folder)
                self._lock = _own_file(directory, folder, LOCK, create=True)
                try:
                    _claim(directory, self._lock)
                    # Only under the lock: closing a database file releases SQLite's POSIX locks on it.
                    for name in (DATABASE, *_LOGS):
                        with suppress(FileNotFoundError):
                            os.close(_own_file(directory, folder, name, create=name == DATABASE))
                except BaseException:
                    os.close(self._lock)
                    raise
            finally:
                os.close(folder)

    def release(self) -> None:
        """Release the lock. Call it once: the descriptor number is reused."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _locked(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(directory: Path) -> bool:
    """Whether a process uses the spool now."""
    try:
        lock = os.open(directory / LOCK, os.O_RDONLY | _OPEN)
    except FileNotFoundError:
        return False
    try:
        return not _locked(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def refuse_links(directory: Path) -> None:
    """Check before reading that no file is a link: SQLite would follow it and write a log next to its target.

    Raises:
        SpoolUnsafeError: a file of the spool is a link or no regular file.
    """
    for name in (LOCK, DATABASE, *_LOGS):
        with suppress(FileNotFoundError):
            _must_be_regular(directory, name, (directory / name).lstat())


def _close_to_others(directory: Path, folder: int) -> None:
    found = os.fstat(folder)
    if found.st_uid not in (0, os.geteuid()):
        hint = "ship as that user, or name a folder below it: brokernat creates it for your user only"
        raise SpoolUnsafeError(directory, f"it belongs to another user (id {found.st_uid})", hint)
    if not found.st_mode & _OTHERS_MAY_WRITE:
        return
    if found.st_uid == os.geteuid() and DATABASE in os.listdir(folder):
        os.fchmod(folder, 0o700)
        return
    hint = f"`chmod go-w {directory}`, or name a folder below it: brokernat creates it for your user only"
    mode = stat.S_IMODE(found.st_mode)
    raise SpoolUnsafeError(directory, f"other users may write the folder (mode {mode:04o})", hint)


def _own_file(directory: Path, folder: int, name: str, *, create: bool) -> int:
    """Open a regular file of this user without hard links, and make it private."""
    found = None
    with suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if found is not None:
        _must_be_regular(directory, name, found)
    try:
        file = os.open(name, os.O_RDWR | _OPEN | (os.O_CREAT if create else 0), 0o600, dir_fd=folder)
    except OSError as error:
        error.filename = str(directory / name)
        raise
    try:
        found = os.fstat(file)
        _must_be_regular(directory, name, found)
        if found.st_uid != os.geteuid():
            hint = f"`chown` it to the shipping user and keep it: it may hold records ({directory / name})"
            raise SpoolUnsafeError(directory, f"`{name}` in it belongs to another user (id {found.st_uid})", hint)
        os.fchmod(file, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file


def _must_be_regular(directory: Path, name: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        kind = "is a link" if stat.S_ISLNK(found.st_mode) or found.st_nlink > 1 else "is not a regular file"
        hint = f"brokernat never creates one: find out who did, then remove `{directory / name}`"
        raise SpoolUnsafeError(directory, f"`{name}` in it {kind}", hint)


def _claim(directory: Path, lock: int) -> None:
    """Take the lock; retries, because `is_held` holds it shared for a moment."""
    for _ in range(_CLAIMS):
        if _locked(lock, fcntl.LOCK_EX):
            break
        if not _locked(lock, fcntl.LOCK_SH):
            raise SpoolBusyError(directory, os.read(lock, 20).decode("ascii", "replace").strip())
        fcntl.flock(lock, fcntl.LOCK_UN)
        time.sleep(_CLAIM_PAUSE)
    else:
        raise SpoolBusyError(directory, "")
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
