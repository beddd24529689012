"""Writes files of a command: atomically, after a question, or as `--output FILE`.

A full disk, Ctrl-C or a power cut while writing would leave half a file. So the text is written to a new file beside
the old one, which then replaces it durably. A symbolic link stays a link, a read-only file is not replaced, and the
file keeps its mode and, if the process may set it, its owner. Other files than regular ones (a pipe, `/dev/stdout`)
cannot be replaced and are written directly.
"""

from __future__ import annotations

import difflib
import errno
import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console
from brokernat.cli.options import PATH
from brokernat.errors import ConfigError, Finding
from brokernat.paths import reading, replacing

_BOM = "\ufeff"
_DEVICES = ("/dev/", "/proc/")
_FOLDER_ERRORS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}
_FOLDER_HINT = "the folder must be writable too, because the file is replaced"


def write_atomically(file: Path, text: str) -> None:
    """Replace the content of the file by the text, in UTF-8.

    Raises:
        ConfigError: it cannot be written; it is unchanged.
    """
    # The text may contain a file name with undecodable bytes.
    data = text.encode(errors="surrogateescape")
    try:
        if is_regular_or_new(file):
            _exchange(file.resolve(), data)
        else:
            with file.open("wb") as opened:
                opened.write(data)
    except (OSError, RuntimeError) as error:
        raise _unwritable_error(file, error) from None


def is_regular_or_new(file: Path) -> bool:
    """Whether a file can be replaced: it is a regular file, or does not exist.

    Raises:
        OSError: its folder cannot be read.
    """
    return not str(file.absolute()).startswith(_DEVICES) and (file.is_file() or not file.exists())


def require_writable_place(file: Path) -> None:
    """Raise the error of `write_atomically` before long work.

    Raises:
        ConfigError: it cannot be written.
    """
    try:
        place = file.resolve().parent if is_regular_or_new(file) else file
        if file.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if not place.exists():
            missing = "it does not exist, and no file can be made there"
            raise FileNotFoundError(None, missing if place == file else f"there is no folder `{place}`")
        for needed in (place, file):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise PermissionError(errno.EACCES, f"`{needed}` is not writable")
    except (OSError, RuntimeError) as error:
        raise _unwritable_error(file, error) from None


@contextmanager
def folder_lock(file: Path) -> Iterator[None]:
    """Exclusive access to the files of a folder, among brokernat processes.

    The lock is on the folder, because a replaced file loses its lock.
    """
    folder = None
    with suppress(OSError, RuntimeError):
        folder = os.open(file.resolve().parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if folder is not None:
            # Network file systems may not support locks on folders.
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
    with replacing(target) as new:
        # The new file never has wider permissions than the old one.
        mode = 0o666 if before is None else 0o600
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, before.st_mode & 0o7777)


def _unwritable_error(file: Path, error: OSError | RuntimeError) -> ConfigError:
    # Before Python 3.13 a link that leads to itself is a RuntimeError.
    if not isinstance(error, OSError):
        return ConfigError(Finding("file-unwritable", f"`{file}` cannot be written: the link points to itself"))
    hint = _FOLDER_HINT if error.errno in _FOLDER_ERRORS and os.access(file, os.W_OK) else None
    reason = error.strerror or type(error).__name__
    return ConfigError(Finding("file-unwritable", f"`{file}` cannot be written: {reason}", hint))


def can_ask() -> bool:
    """Whether there is a terminal for questions."""
    return console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)


def read_text(file: Path) -> str | None:
    """The text with its original line ends, None if the file does not exist.

    Raises:
        ConfigError: it cannot be read.
    """
    with reading(file):
        if not is_regular_or_new(file):
            raise ConfigError(Finding("file-unreadable", f"`{file}` is not a regular file and cannot be updated"))
        try:
            return file.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None


def edit_file(file: Path, edit: Callable[[str | None], str], *, yes: bool) -> None:
    """Replace the text of a file by the result of `edit`, which receives None if there is no file.

    With `yes` the edit runs under the folder's lock, so no concurrent edit is lost. Without it, the user confirms the
    difference, and no other is written. A new file is written without a question.

    Raises:
        ConfigError: it was changed after the question, or cannot be written. Also raises errors of `edit`.
    """
    before = read_text(file)
    if not yes and not _confirmed(file, before, edit(before)):
        return
    with folder_lock(file):
        now = read_text(file)
        if not yes and now != before:
            raise ConfigError(Finding("file-changed", f"another program has changed `{file}`: nothing is written"))
        after = edit(now)
        if after == now:
            console.note(f"{file}: already up to date")
            return
        if yes and now is not None:
            console.note(_difference(file, now, after))
        write_atomically(file, after)
    console.note(f"{file}: written")


def _confirmed(file: Path, before: str | None, after: str) -> bool:
    if before is None or before == after:
        return True
    console.note(_difference(file, before, after))
    if click.confirm(f"write {file}?", err=True):
        return True
    console.note(f"{file}: not changed")
    return False


def _difference(file: Path, before: str, after: str) -> str:
    old, new = (text.removeprefix(_BOM).splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, f"{file} (as it is)", f"{file} (proven)", lineterm=""))


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--output FILE` and `--replace`, as the arguments `file` and `replace`."""
    command = click.option("--replace", is_flag=True, help="Allow --output to overwrite a file with other content.")(
        command
    )
    return click.option(
        "--output",
        "file",
        metavar="FILE",
        type=PATH,
        callback=_none_for_stdout,
        help="Write to this file instead of stdout (`-`).",
    )(command)


def require_output(file: Path, *, replace: bool) -> None:
    """Raise the error of `write_output` before long work.

    Raises:
        ConfigError: the file exists and `replace` is not set, or it cannot be written.
    """
    require_writable_place(file)
    if file.exists() and not replace:
        raise _exists_error(file)


def write_output(file: Path, text: str, *, replace: bool) -> None:
    """Write the file atomically, unless it already has the text.

    Raises:
        ConfigError: it has another content and `replace` is not set, or it cannot be written.
    """
    require_writable_place(file)
    if not replace and is_regular_or_new(file) and file.exists() and not _holds(file, text):
        raise _exists_error(file)
    write_atomically(file, text)


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_bytes() == text.encode(errors="surrogateescape")
    except OSError:
        return False


def _none_for_stdout(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    return None if file == Path("-") else file


def _exists_error(file: Path) -> ConfigError:
    hint = "name another file, or add `--replace`"
    return ConfigError(Finding("file-exists", f"`{file}` exists and is not overwritten", hint))
