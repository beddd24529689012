"""`brokernat explain`: explains a code, a log line or a log, and the fix.

An argument is a code (`BN302`, or several), an existing file, or a log line; `-` or no argument means standard input.
The command needs no network and no configuration.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.options import format_option
from brokernat.doctor.explain.log import LogReport
from brokernat.errors import ConfigError, Finding
from brokernat.paths import reading
from brokernat.text import counted

if TYPE_CHECKING:
    from brokernat.doctor.checks import Check

_STDIN = "-"
_CODE = re.compile(r"bn-?\d{1,4}", re.IGNORECASE)
_ALIKE = 0.7


@click.command()
@format_option
@click.argument("what", metavar="[CODE | LINE | FILE]...", nargs=-1)
def explain(what: tuple[str, ...], output: str) -> int:
    """Explain a check's CODE, a client's log LINE or a log FILE (default: standard input)."""
    from brokernat.doctor.explain.log import explain_log
    from brokernat.doctor.explain.report import codes_json, codes_text

    text = " ".join(what)
    if not what and sys.stdin.isatty():
        raise click.UsageError("give a code, a log line in quotes, or a log file")
    codes = codes_in(text)
    if codes is not None:
        entries = entries_of(codes)
        if output == "json":
            console.json_data({"version": 1, "codes": codes_json(entries)})
        else:
            console.data(codes_text(entries, console.width()))
        return 0
    if not what or text == _STDIN:
        return _print(_read_stream(sys.stdin.buffer), output)
    if len(what) == 1 and "\n" not in text and len(text) < 1024 and Path(text).is_file():
        return _print(_read_file(Path(text)), output)
    if not any(map(str.isspace, text)):
        raise ConfigError(Finding("file-missing", f"`{text}` is not a file, a code or a log line"))
    return _print(explain_log(f"{line}\n" for line in text.splitlines()), output)


def codes_in(text: str) -> list[str] | None:
    """The codes of a text that contains only codes (`bn302`, `BN-302`, several), as the catalogue writes them; None for
    any other text.
    """
    words = [word for word in re.split(r"[\s,;]+", text) if word]
    if not words or not all(map(_CODE.fullmatch, words)):
        return None
    return list(dict.fromkeys(word.upper().replace("-", "") for word in words))


def entries_of(codes: list[str]) -> list[Check]:
    """The catalogue's entry of each code.

    Raises:
        ConfigError: code `unknown-code` for every unknown code, with similar ones.
    """
    from brokernat.doctor.checks import catalogue

    known = catalogue()
    unknown = [_unknown(code, [*known]) for code in codes if code not in known]
    if unknown:
        raise ConfigError(*unknown)
    return [known[code] for code in codes]


def _unknown(code: str, codes: list[str]) -> Finding:
    # Codes with the same first digits come first: the group is more often right than the last digit.
    close = [each for each in codes if each.startswith(code[:-1])] or get_close_matches(code, codes, 3, _ALIKE)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(codes)}"
    return Finding("unknown-code", f"no check has the code `{code}`", hint)


def _print(report: LogReport, output: str) -> int:
    from brokernat.doctor.explain.report import log_json, log_text, unknown_text

    if output == "json":
        console.json_data(log_json(report))
    elif report.explained or report.unknown:
        console.data("\n\n".join(filter(None, (text(report, console.width()) for text in (log_text, unknown_text)))))
    if not report.explained:
        console.report(
            f"no known log line in {counted(report.lines, 'line')}\n\n"
            "hint: look for lines at WARN or ERROR and for `Caused by:`; docs/reference/log-lines.md lists the known "
            "lines. `brokernat doctor HOST:PORT` probes the brokers"
        )
        return exit_codes.FINDINGS
    if report.lines > 1:
        different = len(report.explained)
        console.note(f"{report.recognised} of {counted(report.lines, 'line')} recognised, {different} different")
    return 0


def _read_file(file: Path) -> LogReport:
    with reading(file):
        try:
            with _opened(file) as binary:
                return _read_stream(binary)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise ConfigError(Finding("file-unreadable", f"`{file}` cannot be read: it is damaged")) from None


def _opened(file: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file)) if file.suffix == ".gz" else file.open("rb")


def _read_stream(binary: IO[bytes]) -> LogReport:
    from brokernat.doctor.explain.log import explain_log
    from brokernat.doctor.explain.log_text import pieces

    buffered = io.BufferedReader(cast(io.RawIOBase, binary))
    text = io.TextIOWrapper(buffered, _encoding(buffered.peek(2)), errors="replace")
    try:
        return explain_log(pieces(text))
    finally:
        # The caller that opened it closes it.
        text.detach()
        buffered.detach()


def _encoding(head: bytes) -> str:
    # PowerShell's `>` writes UTF-16. Other logs may mix encodings, but all patterns are ASCII.
    return "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
