"""`brokernat explain`: a code, a pasted log line, or a whole log to what it means and what to do.

An argument is a code (`BN302`, several of them), a file when there is one of that name, else the line itself; `-` or no
argument is standard input. Nothing is dialled and no configuration is read: a log can be explained anywhere.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import IO, cast

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.options import format_option
from brokernat.doctor.explaining.log import Account
from brokernat.errors import ConfigError, Problem
from brokernat.paths import reading
from brokernat.plurals import counted

_STDIN = "-"


@click.command()
@format_option
@click.argument("what", metavar="[CODE | LINE | FILE]...", nargs=-1)
def explain(what: tuple[str, ...], output: str) -> int:
    """Explain a check's CODE, a client's log LINE or a log FILE (default: standard input)."""
    from brokernat.doctor.explaining.codes import codes_in, entries_of
    from brokernat.doctor.explaining.log import account
    from brokernat.doctor.explaining.report import codes_json, codes_text

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
        return _told(_account(sys.stdin.buffer), output)
    if len(what) == 1 and "\n" not in text and len(text) < 1024 and Path(text).is_file():
        return _told(_read(Path(text)), output)
    if not any(map(str.isspace, text)):
        raise ConfigError(Problem("file-missing", f"`{text}` is not a file, a code or a log line"))
    return _told(account(f"{line}\n" for line in text.splitlines()), output)


def _told(found: Account, output: str) -> int:
    from brokernat.doctor.explaining.report import account_json, account_text

    if output == "json":
        console.json_data(account_json(found))
    elif found.entries:
        console.data(account_text(found, console.width()))
    if not found.entries:
        console.report(
            f"nothing recognised in {counted(found.lines, 'line')}\n\n"
            "hint: look for lines at WARN or ERROR and for `Caused by:`; docs/reference/log-lines.md lists all known "
            "lines. `brokernat doctor HOST:PORT` probes the brokers"
        )
        return exit_codes.FINDINGS
    if found.lines > 1:
        console.note(f"{found.recognised} of {counted(found.lines, 'line')} recognised, {len(found.entries)} different")
    return 0


def _read(file: Path) -> Account:
    with reading(file):
        try:
            with _opened(file) as binary:
                return _account(binary)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise ConfigError(Problem("file-unreadable", f"`{file}` cannot be read: it is damaged")) from None


def _opened(file: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file)) if file.suffix == ".gz" else file.open("rb")


def _account(binary: IO[bytes]) -> Account:
    from brokernat.doctor.explaining.log import account, pieces

    buffered = io.BufferedReader(cast(io.RawIOBase, binary))
    text = io.TextIOWrapper(buffered, _encoding(buffered.peek(2)), errors="replace")
    try:
        return account(pieces(text))
    finally:
        # Who opened it closes it.
        text.detach()
        buffered.detach()


def _encoding(head: bytes) -> str:
    # PowerShell's `>` writes UTF-16. Old logs mix encodings otherwise; what is looked for is ASCII.
    return "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
