"""`brokernat init`: a commented file to start from, never over an existing one."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from brokernat.cli import console
from brokernat.cli.options import config_option
from brokernat.errors import ConfigError, Problem


@click.command()
@config_option
def init(config_file: Path) -> None:
    """Write a commented brokernat.yaml, never over an existing one."""
    text = files("brokernat.config").joinpath("starter.yaml").read_text("utf-8")
    try:
        with config_file.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        hint = "name another file with `--config FILE`, or move this one away"
        raise ConfigError(Problem("file-exists", f"`{config_file}` exists and is left as it is", hint)) from None
    except OSError as error:
        message = f"`{config_file}` cannot be written: {error.strerror}"
        raise ConfigError(Problem("file-unwritable", message)) from None
    console.data(str(config_file))
    console.note("edit it, then run `brokernat config check`")
