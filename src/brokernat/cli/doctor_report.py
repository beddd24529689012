"""What `brokernat doctor` makes of evidence: the diagnosis, in the forms that were asked for, and the exit code.

What is wrong with an option is said before anything is looked at, which may take a while. And a file that cannot be
written in the end costs nobody the report.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console
from brokernat.cli.options import findings_code
from brokernat.cli.painting import painted, wanted
from brokernat.cli.saved_evidence import EVIDENCE_BEGINS, write_evidence
from brokernat.cli.whole_file import is_ordinary, require_place, write_whole
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.runner import Diagnosis
from brokernat.doctor.suppressing import Suppression
from brokernat.errors import ConfigError, MissingToolError, NothingReachableError, Problem

_PAGE_BEGINS = re.compile(rb"(?s).{0,900}<meta name=\"generator\" content=\"brokernat ")
_LOOKED_AT = 1024


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--save`, `--html`, `--suppress`, `--list-checks`, `--schema`, as arguments of these names; the last is none."""
    for option in (
        click.option(
            "--schema",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_schema,
            help="Print the JSON Schema of `--format json`.",
        ),
        click.option("--list-checks", is_flag=True, help="Print every check and look at nothing."),
        click.option(
            "--suppress",
            metavar="CODE[=SUBJECT]",
            multiple=True,
            callback=_suppressions,
            help="Findings that decide nothing; `*` stands for any text; repeatable.",
        ),
        click.option(
            "--html",
            metavar="FILE",
            type=click.Path(path_type=Path),
            callback=_page_can_be_made,
            help="Also write the report as one HTML page.",
        ),
        click.option(
            "--save",
            metavar="FILE",
            type=click.Path(path_type=Path),
            callback=_evidence_can_be_kept,
            help="Keep what was seen, without secrets.",
        ),
    ):
        command = option(command)
    return command


def listed_checks(output: str) -> int:
    """`--list-checks`."""
    from brokernat.doctor.catalogue import catalogue, page

    entries = catalogue().values()
    if output == "json":
        console.json_data([{"code": each.code, "title": each.title, "doc": page(each.code)} for each in entries])
    else:
        console.data(console.table(("code", "check"), ((each.code, each.title) for each in entries)))
    return 0


def report(
    evidence: Evidence,
    *,
    output: str,
    save: Path | None,
    html: Path | None,
    suppress: Sequence[Suppression],
    fail_on: str,
) -> int:
    """Diagnose and tell; the result is the exit code.

    Raises:
        ConfigError: `save` or `html` cannot be written; the rest is done.
    """
    from brokernat.doctor.runner import diagnose

    diagnosis = diagnose(evidence, suppressions=suppress)
    for each in suppress:
        if not any(each.covers(finding) for finding in diagnosis.suppressed):
            console.note(f"`--suppress {each}` matched nothing")
    problems: list[Problem] = []
    for file, write in ((save, partial(write_evidence, evidence)), (html, partial(_write_page, diagnosis))):
        try:
            if file is not None:
                write(file)
        except ConfigError as error:
            problems += error.problems
    _print(diagnosis, output)
    if problems:
        raise ConfigError(*problems)
    if evidence.bootstraps and not any(look.answers for look in evidence.bootstraps):
        return NothingReachableError.exit_code
    return findings_code((finding.severity for finding in diagnosis.findings), fail_on)


def _write_page(diagnosis: Diagnosis, file: Path) -> None:
    from brokernat.doctor.reports.html import html_page

    write_whole(file, html_page(diagnosis))
    console.note(f"{file}: the report as a page")


def _print(diagnosis: Diagnosis, output: str) -> None:
    from brokernat.doctor.reports.json_v1 import json_v1
    from brokernat.doctor.reports.terminal import terminal

    if output == "json":
        console.json_data(json_v1(diagnosis))
    else:
        text = terminal(diagnosis, console.width())
        console.data(painted(text) if wanted(sys.stdout, os.environ) else text)


def _suppressions(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[Suppression, ...]:
    if not texts:
        return ()
    from brokernat.doctor.suppressing import Suppression

    return tuple(map(Suppression.parse, texts))


def _page_can_be_made(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    if file is not None and find_spec("jinja2") is None:
        raise MissingToolError("`--html` needs Jinja2", hint="pip install 'brokernat[doctor]'")
    return _can_be_made(file, _PAGE_BEGINS, "a page of the doctor")


def _evidence_can_be_kept(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    return _can_be_made(file, EVIDENCE_BEGINS, "evidence")


def _can_be_made(file: Path | None, begins: re.Pattern[bytes], what: str) -> Path | None:
    """The file, where it can be written and holds nothing else: a slip of the hand would cost a brokernat.yaml."""
    if file is None:
        return None
    require_place(file)
    if is_ordinary(file) and file.exists():
        try:
            with file.open("rb") as opened:
                beginning = opened.read(_LOOKED_AT)
        except OSError as error:
            raise ConfigError(Problem("file-unreadable", f"`{file}` cannot be read: {error.strerror}")) from None
        if beginning.strip() and not begins.match(beginning):
            message = f"`{file}` exists, is not {what}, and is left as it is"
            raise ConfigError(Problem("file-exists", message, "name another file"))
    return file


def _schema(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from brokernat.doctor.reports.shape_v1 import schema_v1

        console.data(schema_v1().rstrip("\n"))
        ctx.exit()
