"""`brokernat init`, `config check` and `config schema`: the file brokernat.yaml itself."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import config_origin_named, load_config
from brokernat.cli.options import PATH, Group, config_option, fail_on_option, format_option
from brokernat.config import Config
from brokernat.errors import ConfigError, Finding
from brokernat.paths import writing
from brokernat.text import counted


@click.command()
@config_option
def init(config_file: Path) -> None:
    """Write a commented brokernat.yaml, never over an existing one; `--config -` prints it."""
    from brokernat.config.editing import starter_file

    if config_file == Path("-"):
        console.data(starter_file().removesuffix("\n"))
        return
    with config_origin_named(config_file), writing(config_file, moved_by="`--config FILE`"):
        try:
            with config_file.open("x", encoding="utf-8") as file:
                file.write(starter_file())
        except FileExistsError:
            hint = "name another file with `--config FILE`, or move this one away"
            raise ConfigError(Finding("file-exists", f"`{config_file}` exists and is not overwritten", hint)) from None
    console.data(str(config_file))
    console.note("edit it, then run `brokernat config check`")


@click.group(cls=Group)
def config() -> None:
    """Check brokernat.yaml; print its JSON Schema."""


@config.command()
@config_option
@fail_on_option
@format_option
@click.option("--skip-secrets", is_flag=True, help="Do not resolve ${env:NAME} and ${file:PATH}.")
@click.argument("named_file", metavar="[FILE]", type=PATH, required=False)
def check(config_file: Path, named_file: Path | None, fail_on: str, output: str, skip_secrets: bool) -> int:
    """Report every problem of the file at once. FILE is the same as `--config FILE`."""
    from brokernat.config.checks import check_schema_files
    from brokernat.config.lint import lint_config
    from brokernat.config.load import read_document

    if named_file is not None:
        if click.get_current_context().get_parameter_source("config_file") is ParameterSource.COMMANDLINE:
            raise click.UsageError("give the file once: as FILE or with `--config`")
        config_file = named_file
    try:
        loaded = load_config(config_file, resolve_secrets=not skip_secrets)
        document = read_document(config_file)
        if problems := list(check_schema_files(loaded.pipelines, document)):
            raise ConfigError(*problems)
    except ConfigError as error:
        problems = [*error.problems]
        with suppress(ConfigError):
            problems += lint_config({}, read_document(config_file))
        if output == "json":
            console.json_data(_config_json(config_file, problems))
            return error.exit_code
        raise ConfigError(*problems) from None
    found = list(lint_config(loaded.clusters, document))
    if output == "json":
        console.json_data(_config_json(config_file, found))
    for finding in found if output == "text" else ():
        console.report(finding.report() + "\n")
    console.note(_summary(config_file, loaded, len(found)))
    return exit_codes.findings_code(found, fail_on)


@config.command()
def schema() -> None:
    """Print the JSON Schema of brokernat.yaml, for editors."""
    from brokernat.config.model import json_schema

    console.data(json_schema().removesuffix("\n"))


def _summary(path: Path, loaded: Config, found: int) -> str:
    return f"{path}: {counted(len(loaded.clusters), 'cluster')}, {counted(len(loaded.pipelines), 'pipeline')}, " + (
        counted(found, "finding") if found else "nothing found"
    )


def _config_json(path: Path, found: Iterable[Finding]) -> dict[str, Any]:
    return {
        "version": 1,
        "file": str(path),
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity.value,
                "message": finding.message,
                "details": list(finding.details),
                "line": finding.location.line,
                "column": finding.location.column,
                "path": finding.location.path,
                "hint": finding.hint,
            }
            for finding in found
        ],
    }
