"""Output: data to stdout, everything else to stderr, both as plain text.

No other module prints. Results are data for a pipe; notes, warnings and errors are for the user. A closed stderr does
not stop the command.

Characters that the terminal's encoding lacks and undecodable bytes of file names are escaped; JSON has its own escapes,
also for control characters.
"""

from __future__ import annotations

import codecs
import json
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from brokernat.cli.signals import sigterm_as_interrupt
from brokernat.errors import ConfigError, Finding

if TYPE_CHECKING:
    from rich.status import Status

_NARROWEST, _WIDEST = 40, 100
_LEVEL = re.compile(r"(error|warning): ")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")
_BOLD, _RED, _GREEN, _YELLOW, _CYAN = "1", "1;31", "32", "1;33", "36"
_STYLES = (
    (re.compile(r"\A.+"), _BOLD),
    (re.compile(r"^root cause:", re.MULTILINE), _RED),
    (re.compile(r"^(?:[a-z][a-z' ]+)$", re.MULTILINE), _BOLD),
    (re.compile(r"^  x(?= )", re.MULTILINE), _RED),
    (re.compile(r"^  !(?= )", re.MULTILINE), _YELLOW),
    (re.compile(r"^  ok(?= )", re.MULTILINE), _GREEN),
    (re.compile(r"^  i(?= BN)", re.MULTILINE), _CYAN),
)


class ReaderGoneError(Exception):
    """The reader has closed stdout, as `| head` does: stop without a message."""


def data(text: str) -> None:
    """Prints a part of the command's result and a line end."""
    _write_stdout(text)


def json_data(value: object) -> None:
    """Prints the command's result as JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=not codecs.lookup(_encoding(sys.stdout)).name.startswith("utf"))
    _write_stdout(_BEYOND_ASCII.sub(_json_escape, text))


def table(headings: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table with columns as wide as their widest entry, two blanks between them."""
    rows = [tuple(headings), *(tuple(map(str, line)) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def width() -> int:
    """The width of reports: the terminal's, within readable limits."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether this stream is an open terminal; the stream is None if the program was started without it."""
    return stream is not None and not stream.closed and stream.isatty()


def wants_color(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether to colour this stream: a terminal without `NO_COLOR` (https://no-color.org)."""
    return is_terminal(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def colored(report: str) -> str:
    """The doctor's report with the escape sequences of a terminal.

    Colour repeats information of the text, so it is added to the finished lines.
    """
    for pattern, style in _STYLES:
        report = pattern.sub(rf"\033[{style}m\g<0>\033[0m", report)
    return report


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """A progress line on stderr; does nothing without a terminal."""

    status: Status | None = None

    def show(self, text: str) -> None:
        """Replace the text."""
        if self.status is not None:
            self.status.update(text)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the line for the block, for a question to the user."""
        if self.status is None:
            yield
            return
        self.status.stop()
        yield
        self.status.start()


@contextmanager
def progress_line(text: str) -> Iterator[ProgressLine]:
    """A progress line on a terminal, in ASCII; it is removed at the end.

    The cursor is hidden meanwhile, so SIGTERM is handled like Ctrl-C and restores it.
    """
    with sigterm_as_interrupt():
        if not is_terminal(sys.stderr):
            yield ProgressLine()
            return
        from rich.console import Console

        # Every terminal can show `|/-\`.
        with Console(stderr=True, highlight=False, markup=False).status(text, spinner="line") as status:
            yield ProgressLine(status)


@dataclass(slots=True)
class _Log:
    """The format of notes and reports; a long-running command may choose JSON for log collectors."""

    as_json: bool = False


_log = _Log()


def log_as_json(chosen: bool) -> None:
    """Switch notes and reports to JSON, one object per line, or back to plain text."""
    _log.as_json = chosen


def note(text: str) -> None:
    """Print a line for the user to stderr."""
    event(text, {})


def report(text: str) -> None:
    """Print an error or a warning with its hint to stderr."""
    event(text, {})


def event(text: str, fields: Mapping[str, object]) -> None:
    """Print a note with `fields` for programs, which plain text omits."""
    _write_stderr(_json_line(text, fields) if _log.as_json else text)


def _json_line(text: str, fields: Mapping[str, object]) -> str:
    level = _LEVEL.match(text)
    message, _, hint = text[level.end() if level else 0 :].partition("\nhint: ")
    moment = time.time()
    written = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
    line = {"time": f"{written}.{int(moment * 1000) % 1000:03d}Z", "level": level[1] if level else "info"}
    return json.dumps(line | {"message": message.strip()} | ({"hint": hint} if hint else {}) | dict(fields))


@contextmanager
def log_to_stderr() -> Iterator[None]:
    """Print brokernat's log from INFO on, for long-running commands."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    with log_to(handler):
        yield


@contextmanager
def log_to(*handlers: logging.Handler) -> Iterator[None]:
    """Send brokernat's log from INFO on only to these handlers, until the context ends."""
    log = logging.getLogger("brokernat")
    before = log.level, log.propagate
    log.setLevel(logging.INFO)
    log.propagate = False
    for handler in handlers:
        log.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]


def _json_escape(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def _write_stdout(text: str) -> None:
    if sys.stdout is None:
        raise _unwritable("it is closed")
    encoding = _encoding(sys.stdout)
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        _discard(sys.stdout)
        raise ReaderGoneError from None
    except OSError as error:
        _discard(sys.stdout)
        raise _unwritable(error.strerror) from None


def _unwritable(reason: str | None) -> ConfigError:
    return ConfigError(Finding("file-unwritable", f"stdout cannot be written: {reason}"))


def _write_stderr(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Redirect the stream to /dev/null, because Python flushes it at exit and would report an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _encoding(stream: TextIO | None) -> str:
    return getattr(stream, "encoding", None) or "utf-8"
