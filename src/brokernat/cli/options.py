"""Options that several commands share, so that they have one name and one meaning."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import click


class _Seconds(click.FloatRange):
    """A number in a range; `nan` is in every range for click, and a deadline that never comes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        return self.fail(f"`{value}` is no number of seconds", param, ctx) if math.isnan(seconds) else seconds


DEFAULT_FILE: Final = "brokernat.yaml"
SECONDS: Final = _Seconds(1, 600)
"""For options that bound a look at the network."""

config_option = click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=DEFAULT_FILE,
    show_default=True,
    help="The file to read.",
)
format_option = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How results are written to stdout.",
)
fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="The least severity that ends with a code other than 0.",
)
token_command_option = click.option(
    "--token-command", metavar="COMMAND", help="Prints a token to log in with, for OAUTHBEARER."
)
