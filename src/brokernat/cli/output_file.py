"""`--output FILE`: what a command made, to a file instead of stdout, never over something else without being told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from brokernat.cli.whole_file import is_ordinary, require_place, write_whole
from brokernat.errors import ConfigError, Problem


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--output FILE` and `--replace`, as the arguments `file` and `replace`."""
    command = click.option("--replace", is_flag=True, help="Let --output write over a file that holds something else.")(
        command
    )
    return click.option(
        "--output",
        "file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        callback=_none_for_stdout,
        help="Write here, not to stdout (`-`).",
    )(command)


def require_writable(file: Path, *, replace: bool) -> None:
    """For what takes long to make: says beforehand what `write_file` would say in the end.

    Raises:
        ConfigError: there is such a file and `replace` was not said, or none can be written there.
    """
    require_place(file)
    if file.exists() and not replace:
        raise _exists(file)


def write_file(file: Path, text: str, *, replace: bool) -> None:
    """Write the file in one step; one that holds the text already is left alone.

    Raises:
        ConfigError: it holds something else and `replace` was not said, or it cannot be written.
    """
    require_place(file)
    if not replace and is_ordinary(file) and file.exists() and not _holds(file, text):
        raise _exists(file)
    write_whole(file, text)


def _holds(file: Path, text: str) -> bool:
    try:
        return file.read_bytes() == text.encode(errors="surrogateescape")
    except OSError:
        return False


def _none_for_stdout(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    return None if file == Path("-") else file


def _exists(file: Path) -> ConfigError:
    hint = "name another file, or say `--replace`"
    return ConfigError(Problem("file-exists", f"`{file}` exists and is left as it is", hint))
