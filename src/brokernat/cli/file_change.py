"""A file that a person owns, changed: the difference is shown, then asked about, then written in one step."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.whole_file import in_turn, is_ordinary, write_whole
from brokernat.errors import ConfigError, Problem

_BOM = "\ufeff"


def can_ask() -> bool:
    """Whether somebody is there to answer."""
    return console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)


def read_text(file: Path) -> str | None:
    """The text with the line ends that it has, None where there is no file.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        if not is_ordinary(file):
            raise ConfigError(Problem("file-unreadable", f"`{file}` is no ordinary file, and cannot be updated"))
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(Problem("file-unreadable", f"`{file}` cannot be read: {reason}")) from None


def change_file(file: Path, edit: Callable[[str | None], str], *, yes: bool) -> None:
    """Make of a file what `edit` makes of its text, which is None where there is none.

    Who agreed beforehand takes turns with others that change files there, and nobody's change is lost. Who is asked
    agrees to the difference that was shown, and to no other. A file that is new is written without a question.

    Raises:
        ConfigError: somebody else changed it after the question, or it cannot be written; whatever `edit` raises.
    """
    before = read_text(file)
    if not yes and not _agreed(file, before, edit(before)):
        return
    with in_turn(file):
        now = read_text(file)
        if not yes and now != before:
            raise ConfigError(Problem("file-changed", f"`{file}` was changed by somebody else and is left as it is"))
        after = edit(now)
        if after == now:
            console.note(f"{file}: says so already, nothing to change")
            return
        if yes and now is not None:
            console.note(_difference(file, now, after))
        write_whole(file, after)
    console.note(f"{file}: written")


def _agreed(file: Path, before: str | None, after: str) -> bool:
    if before is None or before == after:
        return True
    console.note(_difference(file, before, after))
    if click.confirm(f"write {file}?", err=True):
        return True
    console.note(f"{file}: left as it is")
    return False


def _difference(file: Path, before: str, after: str) -> str:
    old, new = (text.removeprefix(_BOM).splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, f"{file} (as it is)", f"{file} (proven)", lineterm=""))
