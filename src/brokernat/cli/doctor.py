"""`brokernat doctor`: diagnoses the connections from this machine to every broker.

The cluster is from the file, or from `--bootstrap-server` and `--command-config`. `--save` writes the evidence to a
file, and `--from` makes the report from it on another machine, without a network. Such a file may be damaged, edited or
of another version, so all its faults are reported with their positions. Wrong options are reported before the probes,
and the report is printed even if a file cannot be written.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import ClusterSource, cluster_options, through_tunnel_for_doctor
from brokernat.cli.error_reports import require_extra
from brokernat.cli.files import is_regular_or_new, require_writable_place, write_atomically
from brokernat.cli.options import PATH, SECONDS, Code, fail_on_option, format_option, token_command_option
from brokernat.cli.spark import executor_options, with_executors, with_spark
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import Diagnosis, Suppression
from brokernat.doctor.evidence import Evidence
from brokernat.errors import ConfigError, Finding, NothingReachableError
from brokernat.paths import reading

_LONGEST_NAME = 2**15 - 1
_PAGE_BEGINS = re.compile(rb"(?s).{0,900}<meta name=\"generator\" content=\"brokernat ")
_HEAD_SIZE = 1024
_EVIDENCE_BEGINS = re.compile(rb'\s*\{\s*"taken_at"')
"""The beginning of a file that `--save` may overwrite."""
_LARGEST_EVIDENCE = 1 << 28


def _kafka_names(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Checks that names fit Kafka's protocol: UTF-8, with a length of two bytes."""
    for name in names:
        if len(name.encode(errors="replace")) > _LONGEST_NAME or name != name.encode(errors="replace").decode():
            raise click.BadParameter("not a valid name in Kafka: longer than 32767 bytes, or not UTF-8")
    return names


def _suppressions(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[Suppression, ...]:
    return tuple(map(Suppression.parse, texts))


def _html_file(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    if file is not None:
        require_extra("jinja2", "`--html`")
    return _replaceable(file, _PAGE_BEGINS, "a report page of the doctor")


def _evidence_file(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    return _replaceable(file, _EVIDENCE_BEGINS, "evidence")


def _replaceable(file: Path | None, begins: re.Pattern[bytes], what: str) -> Path | None:
    """The file, if it is writable and has no other content, so that a typo does not overwrite a brokernat.yaml."""
    if file is None:
        return None
    require_writable_place(file)
    if is_regular_or_new(file) and file.exists():
        with reading(file), file.open("rb") as opened:
            beginning = opened.read(_HEAD_SIZE)
        if beginning.strip() and not begins.match(beginning):
            message = f"`{file}` exists, is not {what}, and is not overwritten"
            raise ConfigError(Finding("file-exists", message, "name another file"))
    return file


def _print_schema(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from brokernat.doctor.reports.json_v1 import schema_v1

        console.data(schema_v1().rstrip("\n"))
        ctx.exit()


def _report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--save`, `--html`, `--suppress`, `--list-checks`, `--schema`; all but the last become arguments."""
    for option in (
        click.option(
            "--schema",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_schema,
            help="Print the JSON Schema of `--format json`.",
        ),
        click.option("--list-checks", is_flag=True, help="Print all checks, and probe nothing."),
        click.option(
            "--suppress",
            metavar="CODE[=SUBJECT]",
            type=Code(),
            multiple=True,
            callback=_suppressions,
            help="Findings to ignore; `*` matches any text; repeatable.",
        ),
        click.option(
            "--html",
            metavar="FILE",
            type=PATH,
            callback=_html_file,
            help="Also write the report as one HTML page.",
        ),
        click.option(
            "--save",
            metavar="FILE",
            type=PATH,
            callback=_evidence_file,
            help="Write the evidence to a file, without secrets.",
        ),
    ):
        command = option(command)
    return command


@click.command()
@cluster_options
@click.option("--map", "rules", metavar="RULES", help="Address map for the bootstrap servers, or `file:/path`.")
@click.option("--timeout", type=SECONDS, default=30, show_default=True, help="Seconds for all probes.")
@click.option("--from", "source", metavar="FILE", type=PATH, help="Report on evidence that --save wrote.")
@click.option(
    "--server-properties",
    "broker_files",
    metavar="FILE",
    multiple=True,
    type=PATH,
    help="A broker's server.properties or a compose file; repeatable. Without a cluster nothing is probed.",
)
@click.option(
    "--topic",
    "topics",
    metavar="TOPIC",
    multiple=True,
    callback=_kafka_names,
    help="Also look whether this topic exists, and what the client's user may do with it; repeatable.",
)
@click.option(
    "--group",
    "groups",
    metavar="GROUP",
    multiple=True,
    callback=_kafka_names,
    help="Also probe the coordinator of this consumer group; repeatable.",
)
@click.option(
    "--transactional-id",
    "transactional_ids",
    metavar="ID",
    multiple=True,
    callback=_kafka_names,
    help="Also probe the coordinator of this transactional id; repeatable.",
)
@token_command_option
@click.option(
    "--on-executors", is_flag=True, help="Also probe from the driver and every executor of a Spark application."
)
@with_spark
@_report_options
@fail_on_option
@format_option
def doctor(
    cluster_source: ClusterSource,
    rules: str | None,
    timeout: float,
    save: Path | None,
    source: Path | None,
    broker_files: tuple[Path, ...],
    topics: tuple[str, ...],
    groups: tuple[str, ...],
    transactional_ids: tuple[str, ...],
    token_command: str | None,
    on_executors: bool,
    html: Path | None,
    suppress: tuple[Suppression, ...],
    list_checks: bool,
    fail_on: str,
    output: str,
    **spark: Any,
) -> int:
    """Connect to every broker as a client does; report the root cause and what to change.

    HOST:PORT are bootstrap servers, separated by blanks or `,`. Without any, a cluster of the file is probed.
    """
    from brokernat.doctor.broker_files import read_broker_files

    if list_checks:
        return _list_checks(output)
    if save is not None and save == html:
        raise click.UsageError("`--save` and `--html` name the same file")
    if source is not None and (cluster_source.chosen or rules or on_executors):
        raise click.UsageError(
            "`--from` cannot be combined with bootstrap servers, `--cluster`, `--command-config`, `--map` and "
            "`--on-executors`"
        )
    if source is not None and (topics or groups or transactional_ids or token_command):
        raise click.UsageError(
            "`--from` cannot be combined with `--topic`, `--group`, `--transactional-id` and `--token-command`"
        )
    wanted = executor_options(spark, on_executors=on_executors)
    files = read_broker_files(broker_files)
    if source:
        evidence = read_evidence(source)
    elif files and not (cluster_source.chosen or rules or on_executors):
        evidence = Evidence.without_network("files", files=files)
    else:
        looked_at = through_tunnel_for_doctor(cluster_source.cluster(rules))
        asked = {"topics": topics, "groups": groups, "transactional_ids": transactional_ids}
        evidence = _collected(looked_at, timeout, token_command=token_command, **asked)
        if wanted is not None:
            evidence = with_executors(evidence, looked_at, wanted)
    if files:
        evidence = replace(evidence, files=files)
    return _report(evidence, output=output, save=save, html=html, suppress=suppress, fail_on=fail_on)


def _collected(cluster: Cluster, timeout: float, **asked: Any) -> Evidence:
    require_extra("kio", "the doctor")
    from brokernat.doctor.probes.collecting import collect

    with console.progress_line("probing the bootstrap servers and the advertised listeners"):
        return collect(cluster, timeout, **asked)


def _list_checks(output: str) -> int:
    """`--list-checks`."""
    from brokernat.doctor.checks import catalogue, page

    entries = catalogue().values()
    if output == "json":
        console.json_data([{"code": each.code, "title": each.title, "doc": page(each.code)} for each in entries])
    else:
        console.data(console.table(("code", "check"), ((each.code, each.title) for each in entries)))
    return 0


def _report(
    evidence: Evidence,
    *,
    output: str,
    save: Path | None,
    html: Path | None,
    suppress: Sequence[Suppression],
    fail_on: str,
) -> int:
    """Diagnose and report; returns the exit code.

    Raises:
        ConfigError: `save` or `html` cannot be written; everything else is done.
    """
    from brokernat.doctor.diagnosis import diagnose

    diagnosis = diagnose(evidence, suppressions=suppress)
    for each in suppress:
        if not any(each.covers(finding) for finding in diagnosis.suppressed):
            console.note(f"`--suppress {each}` matched no finding")
    problems: list[Finding] = []
    for file, write in ((save, partial(_write_evidence, evidence)), (html, partial(_write_page, diagnosis))):
        try:
            if file is not None:
                write(file)
        except ConfigError as error:
            problems += error.problems
    _print(diagnosis, output)
    if problems:
        raise ConfigError(*problems)
    if evidence.bootstraps and not any(probe.answers for probe in evidence.bootstraps):
        return NothingReachableError.exit_code
    return exit_codes.findings_code(diagnosis.findings, fail_on)


def _write_page(diagnosis: Diagnosis, file: Path) -> None:
    from brokernat.doctor.reports.html import html_page

    write_atomically(file, html_page(diagnosis))
    console.note(f"{file}: the report as an HTML page")


def _print(diagnosis: Diagnosis, output: str) -> None:
    from brokernat.doctor.reports.json_v1 import json_v1
    from brokernat.doctor.reports.terminal import terminal

    if output == "json":
        console.json_data(json_v1(diagnosis))
    else:
        text = terminal(diagnosis, console.width())
        console.data(console.colored(text) if console.wants_color(sys.stdout, os.environ) else text)


def read_evidence(file: Path) -> Evidence:
    """Read the saved evidence.

    Raises:
        ConfigError: the file cannot be read, or is not evidence.
    """
    from brokernat.doctor.evidence import from_json

    with reading(file), file.open("rb") as opened:
        data = opened.read(_LARGEST_EVIDENCE + 1)
        if len(data) > _LARGEST_EVIDENCE:
            raise ConfigError(
                Finding("file-unreadable", f"`{file}` is larger than 256 MiB, so it is not evidence of the doctor")
            )
        text = data.decode("utf-8-sig")
    return from_json(text, str(file))


def _write_evidence(evidence: Evidence, file: Path) -> None:
    """Save the evidence.

    Raises:
        ConfigError: the file cannot be written.
    """
    from brokernat.doctor.evidence import to_json

    write_atomically(file, to_json(evidence))
    console.note(f"{file}: the evidence; `brokernat doctor --from {shlex.quote(str(file))}` prints this report again")
