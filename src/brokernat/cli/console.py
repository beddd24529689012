"""Where output goes: data to stdout, everything else to stderr, both as plain text.

Nothing else of brokernat prints. Data is what a program behind a pipe wants; a note, a warning or an error is for the
person at the terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NARROWEST, _WIDEST = 40, 100


class ReaderGoneError(Exception):
    """Nobody reads stdout any more, as behind `| head`: stop, and no word about it."""


def data(text: str) -> None:
    """One piece of the command's result; a line end is added."""
    _write(text)


def json_data(value: object) -> None:
    """The command's result for programs."""
    _write(json.dumps(value, indent=2, ensure_ascii=False))


def table(headings: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest entry, two blanks between them."""
    rows = [tuple(headings), *(tuple(map(str, line)) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def width() -> int:
    """Columns that a report may take: those of the terminal, as far as one reads sentences well."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


def note(text: str) -> None:
    """Something for the person, not for the pipe."""
    print(text, file=sys.stderr)


def report(text: str) -> None:
    """An error, a warning, with its hint."""
    print(text, file=sys.stderr)


def _write(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReaderGoneError from None
