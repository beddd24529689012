"""`brokernat agent`: the jar for people who wire their own Java program."""

from __future__ import annotations

from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.copying import copy_into
from brokernat.cli.options import format_option


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
