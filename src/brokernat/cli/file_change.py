"""A file that a person owns, changed: the difference is shown, then asked about, then written in one step."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING

import click

from brokernat.cli import console
from brokernat.errors import ConfigError, Problem

if TYPE_CHECKING:
    from pathlib import Path

_BOM = "\ufeff"


def can_ask() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def read_text(file: Path) -> str | None:
    """The text with the line ends that it has, None where there is no file.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError([Problem("file-unreadable", f"`{file}` cannot be read: {reason}")]) from None


def change_file(file: Path, before: str | None, after: str, *, yes: bool) -> None:
    """Make `after` of a file that held `before`; a file that is new is written without a question.

    Raises:
        ConfigError: somebody else changed it in between, or it cannot be written.
    """
    if before == after:
        console.note(f"{file}: says so already, nothing to change")
        return
    if before is not None:
        console.note(_difference(file, before, after))
        if not yes and not click.confirm(f"write {file}?", err=True):
            console.note(f"{file}: left as it is")
            return
    if read_text(file) != before:
        raise ConfigError([Problem("file-changed", f"`{file}` was changed by somebody else and is left as it is")])
    _replace(file, after)
    console.note(f"{file}: written")


def _difference(file: Path, before: str, after: str) -> str:
    old, new = (text.removeprefix(_BOM).splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, f"{file} (as it is)", f"{file} (proven)", lineterm=""))


def _replace(file: Path, text: str) -> None:
    target = file.resolve()
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as new:
            new.write(text.encode())
        try:
            if target.exists():
                shutil.copymode(target, new.name)
            else:
                os.chmod(new.name, 0o666 & ~_umask())  # noqa: PTH101
            os.replace(new.name, target)  # noqa: PTH105
        except OSError:
            os.unlink(new.name)  # noqa: PTH108
            raise
    except OSError as error:
        raise ConfigError([Problem("file-unwritable", f"`{file}` cannot be written: {error.strerror}")]) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
