"""`brokernat agent` and `brokernat plugin`: the libraries for a program that a user configures."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.options import format_option
from brokernat.errors import ConfigError, Problem


@click.command()
@click.option("--path", "show_path", is_flag=True, help="Print where the jar is (the default).")
@click.option("--copy-to", metavar="DIR", type=click.Path(path_type=Path), help="Copy the jar into a folder.")
@format_option
def agent(show_path: bool, copy_to: Path | None, output: str) -> None:
    """Show or copy the agent jar: java -javaagent:brokernat-agent.jar=RULES ..."""
    from brokernat.jvm import agent_jar

    if show_path and copy_to is not None:
        raise click.UsageError("`--path` and `--copy-to` exclude each other")
    jar = agent_jar()
    if copy_to is not None:
        jar = copy_into(copy_to, jar)
    if output == "json":
        console.json_data({"version": 1, "path": str(jar)})
    else:
        console.data(str(jar))


@click.command()
@click.option("--path", "show_path", is_flag=True, help="Print where the library is (the default).")
@click.option("--copy-to", metavar="DIR", type=click.Path(path_type=Path), help="Copy the library into a folder.")
@click.option("--preload", is_flag=True, help="The library for LD_PRELOAD instead of the plug-in.")
@format_option
def plugin(show_path: bool, copy_to: Path | None, preload: bool, output: str) -> None:
    """Show or copy the librdkafka plug-in: kcat -X plugin.library.paths=... -X brokernat.map=RULES ..."""
    from brokernat.clients import librdkafka

    if show_path and copy_to is not None:
        raise click.UsageError("`--path` and `--copy-to` exclude each other")
    library = librdkafka.preload_library() if preload else librdkafka.plugin_library()
    if copy_to is not None:
        library = copy_into(copy_to, library)
    if output == "json":
        console.json_data({"version": 1, "path": str(library)})
    else:
        console.data(str(library))


def copy_into(folder: Path, file: Path) -> Path:
    """Copy through a temporary name, so that a program that starts meanwhile sees the old file or the new one.

    Raises:
        ConfigError: of kind `file-unwritable`.
    """
    target = folder / file.name
    partial = target.with_name(f"{file.name}.partial")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, partial)
        partial.replace(target)
    except OSError as error:
        raise ConfigError(Problem("file-unwritable", f"`{target}` cannot be written: {error.strerror}")) from None
    return target
