"""What `brokernat doctor` makes of evidence: the diagnosis, in the forms that were asked for, and the exit code."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brokernat.cli import console
from brokernat.cli.options import findings_code
from brokernat.cli.output_file import write_file
from brokernat.cli.painting import painted, wanted
from brokernat.errors import MissingToolError, NothingReachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brokernat.doctor.evidence import Evidence
    from brokernat.doctor.suppressing import Suppression


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--html`, `--suppress`, `--list-checks`, `--schema`, as the arguments `html`, `suppress`, `list_checks`."""
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


def report(evidence: Evidence, *, output: str, html: Path | None, suppress: Sequence[Suppression], fail_on: str) -> int:
    """Diagnose and tell; the result is the exit code.

    Raises:
        ConfigError: `html` cannot be written.
    """
    from brokernat.doctor.reports.json_v1 import json_v1
    from brokernat.doctor.reports.terminal import terminal
    from brokernat.doctor.runner import diagnose

    diagnosis = diagnose(evidence, suppressions=suppress)
    for each in suppress:
        if not any(each.covers(finding) for finding in diagnosis.suppressed):
            console.note(f"`--suppress {each}` matched nothing")
    if html is not None:
        from brokernat.doctor.reports.html import html_page

        write_file(html, html_page(diagnosis), replace=True)
        console.note(f"{html}: the report as a page")
    if output == "json":
        console.json_data(json_v1(diagnosis))
    else:
        text = terminal(diagnosis, console.width())
        console.data(painted(text) if wanted(sys.stdout, os.environ) else text)
    if evidence.bootstraps and not any(look.answers for look in evidence.bootstraps):
        return NothingReachableError.exit_code
    return findings_code((finding.severity for finding in diagnosis.findings), fail_on)


# What is wrong with an option is said before anything is looked at, which may take a while.


def _suppressions(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[Suppression, ...]:
    if not texts:
        return ()
    from brokernat.doctor.suppressing import Suppression

    return tuple(map(Suppression.parse, texts))


def _page_can_be_made(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    if file is not None and find_spec("jinja2") is None:
        raise MissingToolError("`--html` needs Jinja2", hint="pip install 'brokernat[doctor]'")
    return file


def _schema(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from brokernat.doctor.reports.shape_v1 import schema_v1

        console.data(schema_v1().rstrip("\n"))
        ctx.exit()
