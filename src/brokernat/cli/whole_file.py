"""A file made in one step: what was there before, or all of the new text, and never a part of it.

A disk that fills up, a Ctrl-C or a power cut in the middle of writing would leave half a file, and nothing of the old
one. So the text goes into a new file beside the old one, is brought to the disk, and then takes the name. A link stays
a link, a file that nobody may write to is not exchanged either, and it keeps its mode and, where the process may say
so, its owner. What is no ordinary file (a pipe, `/dev/stdout`) cannot be exchanged and is written to as it is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from brokernat.errors import ConfigError, Problem

_DEVICES = ("/dev/", "/proc/")
_OF_THE_FOLDER = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}
_FOLDER = "its folder must be writable too, because the file is exchanged in one step"


def write_whole(file: Path, text: str) -> None:
    """Make the file hold the text, in UTF-8.

    Raises:
        ConfigError: it cannot be written; then it is as it was.
    """
    # A text may quote the name of a file, which may be any bytes.
    data = text.encode(errors="surrogateescape")
    try:
        if is_ordinary(file):
            _exchange(file.resolve(), data)
        else:
            with file.open("wb") as opened:
                opened.write(data)
    except (OSError, RuntimeError) as error:
        raise _unwritable(file, error) from None


def is_ordinary(file: Path) -> bool:
    """Whether a file of that name can be exchanged for another: it is a regular one, or there is none.

    Raises:
        OSError: nobody may look.
    """
    return not str(file.absolute()).startswith(_DEVICES) and (file.is_file() or not file.exists())


def require_place(file: Path) -> None:
    """For what takes long to make: whether the file could be written, said beforehand.

    Raises:
        ConfigError: it could not.
    """
    try:
        place = file.resolve().parent if is_ordinary(file) else file
        if file.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if not place.exists():
            raise FileNotFoundError(None, f"there is no folder `{place}`")
        for needed in (place, file):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise PermissionError(errno.EACCES, f"`{needed}` is not writable")
    except (OSError, RuntimeError) as error:
        raise _unwritable(file, error) from None


@contextmanager
def in_turn(file: Path) -> Iterator[None]:
    """Of several processes that change files of one folder, each in its turn: it may read, decide and write.

    The lock is on the folder: a file that is exchanged takes its own lock away with it.
    """
    folder = None
    with suppress(OSError, RuntimeError):
        folder = os.open(file.resolve().parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if folder is not None:
            # Network file systems may know no locks on folders.
            with suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        if folder is not None:
            os.close(folder)


def _exchange(target: Path, data: bytes) -> None:
    before = target.stat() if target.exists() else None
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(None, "it is not writable")
    new = target.with_name(f".brokernat-{secrets.token_hex(8)}")
    # Nobody reads in between what the old file did not show.
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if before is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(descriptor)
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, before.st_mode & 0o7777)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _unwritable(file: Path, error: OSError | RuntimeError) -> ConfigError:
    # Before Python 3.13 a link that leads to itself is a RuntimeError.
    words = (error.strerror or type(error).__name__) if isinstance(error, OSError) else "a link leads to itself"
    hint = (
        _FOLDER if isinstance(error, OSError) and error.errno in _OF_THE_FOLDER and os.access(file, os.W_OK) else None
    )
    return ConfigError(Problem("file-unwritable", f"`{file}` cannot be written: {words}", hint))
