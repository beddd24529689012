"""`brokernat plugin`: the libraries for people who wire their own librdkafka program."""

from __future__ import annotations

from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.copying import copy_into
from brokernat.cli.options import format_option


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
