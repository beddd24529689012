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
"""The setting of the folder in `brokernat ship`, in its section of the file, and in KafkaHandler; for messages."""
_LOCK_ATTEMPTS: Final = 200
_LOCK_PAUSE: Final = 0.01
_SQLITE_FILES: Final = tuple(f"{DATABASE}-{part}" for part in ("wal", "shm", "journal"))
_FILES: Final = (LOCK, DATABASE, *_SQLITE_FILES)
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
                _require_private_folder(directory, folder)
                self._lock = _open_private_file(directory, folder, LOCK, create=True)
                try:
                    _acquire_lock(directory, self._lock)
                    # Only with the lock held: closing a database file releases SQLite's POSIX locks on it.
                    for name in (DATABASE, *_SQLITE_FILES):
                        with suppress(FileNotFoundError):
                            os.close(_open_private_file(directory, folder, name, create=name == DATABASE))
                except BaseException:
                    os.close(self._lock)
                    raise
            finally:
                os.close(folder)

    def release(self) -> None:
        """Release the lock. A second call does nothing, because the descriptor number may be in use again."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _try_lock(lock: int, kind: int) -> bool:
    """Whether the lock is acquired now; does not wait."""
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
        return not _try_lock(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def is_spool_file(path: Path) -> bool:
    """Whether the file belongs to a spool, this process's or another one."""
    return path.name in _FILES and path.with_name(DATABASE).exists()


def refuse_links(directory: Path) -> None:
    """Check before reading that no file is a link: SQLite would follow it and write a log next to its target.

    Raises:
        SpoolUnsafeError: a file of the spool is a link or no regular file.
    """
    for name in _FILES:
        with suppress(FileNotFoundError):
            _require_regular_file(directory, name, (directory / name).lstat())


def _require_private_folder(directory: Path, folder: int) -> None:
    """Raises SpoolUnsafeError if other users own or may write the folder; restricts the mode of an existing spool."""
    found = os.fstat(folder)
    if found.st_uid not in (0, os.geteuid()):
        hint = "ship as that user, or name a folder below it: brokernat creates it for your user only"
        raise SpoolUnsafeError(directory, f"it belongs to another user (id {found.st_uid})", hint)
    if not found.st_mode & _OTHERS_MAY_WRITE:
        return
    files = os.listdir(folder)
    if found.st_uid == os.geteuid() and DATABASE in files:
        os.fchmod(folder, 0o700)
        return
    hint = "name a folder of its own below it: brokernat creates it for your user only"
    # An empty folder is there for the spool. Others may need to write to any other one, such as /tmp.
    if found.st_uid == os.geteuid() and not (files or found.st_mode & stat.S_ISVTX):
        hint = f"`chmod go-w {directory}`, or {hint}"
    mode = stat.S_IMODE(found.st_mode)
    raise SpoolUnsafeError(directory, f"other users may write the folder (mode {mode:04o})", hint)


def _open_private_file(directory: Path, folder: int, name: str, *, create: bool) -> int:
    """Open a regular file of this user without hard links, and make it private."""
    found = None
    with suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if found is not None:
        _require_regular_file(directory, name, found)
    try:
        file = os.open(name, os.O_RDWR | _OPEN | (os.O_CREAT if create else 0), 0o600, dir_fd=folder)
    except OSError as error:
        error.filename = str(directory / name)
        raise
    try:
        found = os.fstat(file)
        _require_regular_file(directory, name, found)
        if found.st_uid != os.geteuid():
            hint = f"`chown` it to the shipping user and keep it: it may hold records ({directory / name})"
            raise SpoolUnsafeError(directory, f"`{name}` in it belongs to another user (id {found.st_uid})", hint)
        os.fchmod(file, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file


def _require_regular_file(directory: Path, name: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        kind = "is a link" if stat.S_ISLNK(found.st_mode) or found.st_nlink > 1 else "is not a regular file"
        hint = f"brokernat never creates one: find out who did, then remove `{directory / name}`"
        raise SpoolUnsafeError(directory, f"`{name}` in it {kind}", hint)


def _acquire_lock(directory: Path, lock: int) -> None:
    """Acquire the lock; retries, because `is_held` holds it shared for a moment."""
    for _ in range(_LOCK_ATTEMPTS):
        if _try_lock(lock, fcntl.LOCK_EX):
            break
        if not _try_lock(lock, fcntl.LOCK_SH):
            raise SpoolBusyError(directory, os.read(lock, 20).decode("ascii", "replace").strip())
        fcntl.flock(lock, fcntl.LOCK_UN)
        time.sleep(_LOCK_PAUSE)
    else:
        raise SpoolBusyError(directory, "")
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
