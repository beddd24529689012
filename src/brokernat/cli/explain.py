"""`brokernat explain`: explains a code, a log line or a log, and the fix.

An argument is a code (`BN302`, or several), an existing file, a pipe, or a log line; `-` or no argument means standard
input. Arguments that are neither codes nor files and have no blanks are the words of one log line without quotes.
The command needs no network and no configuration.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.options import CodeOrPath, format_option
from brokernat.doctor.explain.log import LogReport
from brokernat.errors import ConfigError, Finding
from brokernat.paths import reading
from brokernat.text import counted

if TYPE_CHECKING:
    from brokernat.doctor.checks import Check

_STDIN = "-"
_CODE = re.compile(r"bn-?\d{1,4}", re.IGNORECASE)
_OF_PATH = re.compile(r"[./]")
# A name of an error of librdkafka, which its clients print behind `code=`.
_LIBRDKAFKAS = re.compile(r"_[A-Z_]+")
_BLANK = re.compile(r"\s")
_ALIKE = 0.7


@click.command()
@format_option
@click.argument("what", metavar="[CODE | LINE | FILE]...", nargs=-1, type=CodeOrPath())
def explain(what: tuple[str, ...], output: str) -> int:
    """Explain a check's CODE, a client's log LINE in quotes, or a log FILE (default: standard input, also `-`).

    Several files and lines are read in their order, as one log.
    """
    from brokernat.doctor.explain.log import explain_log

    if not what and console.is_terminal(sys.stdin):
        raise click.UsageError("give a code, a log line in quotes, or a log file")
    if not all(map(str.strip, what)):
        raise click.UsageError("an argument is empty; give a code, a log line in quotes, or a log file")
    codes = {each: found for each in what if (found := codes_in(each))}
    entries = entries_of(list(dict.fromkeys(chain.from_iterable(codes.values()))))
    if codes and len(codes) == len(set(what)):
        return _print(entries, None, output)
    sources = _sources([each for each in what if each not in codes] or [_STDIN], alone=not codes)
    return _print(entries, explain_log(chain.from_iterable(map(_pieces, sources))), output)


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


def _print(entries: list[Check], report: LogReport | None, output: str) -> int:
    from brokernat.doctor.explain.report import codes_json, codes_text, log_json, log_text, unknown_text

    if output == "json":
        codes = {"codes": codes_json(entries)} if entries else {}
        console.json_data({"version": 1} | codes | (log_json(report) if report else {}))
    else:
        width = console.width()
        texts = [codes_text(entries, width)]
        if report is not None:
            texts += log_text(report, width), unknown_text(report, width)
        if text := "\n\n".join(filter(None, texts)):
            console.data(text)
    if report is None:
        return 0
    if not report.explained:
        console.report(
            f"no known log line in {counted(report.lines, 'line')}\n\n"
            "hint: look for lines at WARN or ERROR and for `Caused by:`; docs/reference/log-lines.md lists the known "
            "lines. `brokernat doctor HOST:PORT` probes the brokers"
        )
        return exit_codes.FINDINGS
    if report.lines > 1:
        different = len(report.shown)
        console.note(f"{report.recognised} of {counted(report.lines, 'line')} recognised, {different} different")
    return 0


def _is_path(text: str) -> bool:
    """Whether the text is `-` or names a file, also a pipe or one that this user may not read."""
    try:
        return text == _STDIN or bool(Path(text).stat())
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def _sources(words: list[str], *, alone: bool) -> list[str]:
    """The files and log lines of arguments; words alone are one log line without quotes.

    Raises:
        ConfigError: code `file-missing` for every word that is neither a file nor a log line.
    """
    from brokernat.doctor.explain.log import explain_log

    words = [f"code={each}" if _LIBRDKAFKAS.fullmatch(each) else each for each in words]
    lines = [each for each in words if not _is_path(each)]
    unknown = [each for each in lines if not _BLANK.search(each) and not explain_log([f"{each}\n"]).explained]
    if not unknown:
        return words
    if alone and len(words) > 1 and lines == words and not all(map(_OF_PATH.search, unknown)):
        return [" ".join(words)]
    hint = "check the path of a file, and put a log line in quotes"
    raise ConfigError(
        *(Finding("file-missing", f"`{each}` is not a file, a code or a log line", hint) for each in unknown)
    )


def _pieces(source: str) -> Iterator[str]:
    """The lines of a file, of standard input, or of a text."""
    if source == _STDIN:
        if sys.stdin is None:
            hint = "give a code, a log line in quotes, or a log file"
            raise ConfigError(Finding("file-unreadable", "standard input is closed", hint))
        yield from _lines(sys.stdin.buffer)
    elif _is_path(source):
        file = Path(source)
        with reading(file):
            try:
                with _opened(file) as binary:
                    yield from _lines(binary)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                raise ConfigError(Finding("file-unreadable", f"`{file}` cannot be read: it is damaged")) from None
    else:
        yield from (f"{line}\n" for line in source.splitlines())


def _opened(file: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file)) if file.suffix == ".gz" else file.open("rb")


def _lines(binary: IO[bytes]) -> Iterator[str]:
    from brokernat.doctor.explain.log_text import pieces

    buffered = io.BufferedReader(cast(io.RawIOBase, binary))
    text = io.TextIOWrapper(buffered, _encoding(buffered.peek(2)), errors="replace")
    try:
        yield from pieces(text)
    finally:
        # The caller that opened it closes it.
        text.detach()
        buffered.detach()


def _encoding(head: bytes) -> str:
    # PowerShell's `>` writes UTF-16. Other logs may mix encodings, but all patterns are ASCII.
    return "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
