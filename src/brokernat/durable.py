"""Files and folders that take the place of others: after a power cut there is the old one or the whole new one.

A rename is atomic for processes and not for the disk: without an fsync before it, a file system may keep the new name
and lose the content (delayed allocation of ext4 and XFS), and the name itself is in the folder, which has an fsync of
its own (fsync(2)).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def exchange(made: Path, target: Path) -> None:
    """Rename a file or a folder to `target`, durably.

    Args:
        made: closed, with all in it, on the file system of `target`.
        target: replaced if it is a file; a folder must be empty or not there.

    Raises:
        OSError: it cannot be written or renamed; `target` is as it was.
    """
    sync(made)
    made.replace(target)
    sync_names(target.parent)


def sync(path: Path) -> None:
    """Write a file, or a folder with all in it, to the disk.

    Raises:
        OSError: the disk did not take it.
    """
    if path.is_symlink():
        return
    if not path.is_dir():
        _fsync(path)
        return
    for each in path.iterdir():
        sync(each)
    sync_names(path)


def sync_names(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    # Not every file system knows an fsync of folders (EINVAL), and a folder that may only be searched cannot be opened.
    with suppress(OSError):
        _fsync(folder)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
