"""Where output goes: data to stdout, everything else to stderr, both as plain text.

Nothing else of brokernat prints. Data is what a program behind a pipe wants; a note, a warning or an error is for the
person at the terminal, and nobody has to be there: the work goes on without.

What cannot be shown is escaped instead of ending the command: letters that the terminal's encoding lacks, bytes in a
file's name that are no text. In JSON that is JSON's own escape, also for whatever a terminal would obey.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from brokernat.errors import ConfigError, Problem

_NARROWEST, _WIDEST = 40, 100
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")


class ReaderGoneError(Exception):
    """Nobody reads stdout any more, as behind `| head`: stop, and no word about it."""


def data(text: str) -> None:
    """One piece of the command's result; a line end is added."""
    _write(text)


def json_data(value: object) -> None:
    """The command's result for programs."""
    text = json.dumps(value, indent=2, ensure_ascii=not codecs.lookup(_encoding(sys.stdout)).name.startswith("utf"))
    _write(_BEYOND_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text))


def table(headings: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest entry, two blanks between them."""
    rows = [tuple(headings), *(tuple(map(str, line)) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def width() -> int:
    """Columns that a report may take: those of the terminal, as far as one reads sentences well."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at this stream; a program may be started without any."""
    return stream is not None and not stream.closed and stream.isatty()


def note(text: str) -> None:
    """Something for the person, not for the pipe."""
    _tell(text)


def report(text: str) -> None:
    """An error, a warning, with its hint."""
    _tell(text)


def _write(text: str) -> None:
    encoding = _encoding(sys.stdout)
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        _give_up(sys.stdout)
        raise ReaderGoneError from None
    except OSError as error:
        _give_up(sys.stdout)
        raise ConfigError(Problem("file-unwritable", f"stdout cannot be written: {error.strerror}")) from None


def _tell(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Python flushes once more when it ends, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _encoding(stream: TextIO | None) -> str:
    return getattr(stream, "encoding", None) or "utf-8"
