"""`--output FILE`: what a command made, to a file instead of stdout, never over something else without being told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brokernat.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--output FILE` and `--replace`, as the arguments `file` and `replace`."""
    command = click.option("--replace", is_flag=True, help="Let --output write over a file that holds something else.")(
        command
    )
    return click.option(
        "--output", "file", metavar="FILE", type=click.Path(path_type=Path), help="Write here, not to stdout."
    )(command)


def write_file(file: Path, text: str, *, replace: bool) -> None:
    """Write the file; one that holds the text already is left alone.

    Raises:
        ConfigError: it holds something else and `replace` was not said, or it cannot be written.
    """
    try:
        if not replace and file.exists() and file.read_bytes() != text.encode():
            hint = "name another file, or say `--replace`"
            raise ConfigError([Problem("file-exists", f"`{file}` exists and is left as it is", hint)])
        file.write_bytes(text.encode())
    except OSError as error:
        message = f"`{file}` cannot be written: {error.strerror}"
        raise ConfigError([Problem("file-unwritable", message)]) from None
