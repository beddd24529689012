"""Reports of errors other than BrokernatError: wrong usage, bugs, missing extras."""

from __future__ import annotations

import traceback
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Final

import click

import brokernat
from brokernat.errors import MissingToolError

# Options that other commands or programs have: what this program has for them.
_OTHER_OPTIONS: Final = {
    "json": ("--format json",),
    "output": ("--save", "--html", "--copy-to"),
    "rule": ("--map",),
    "rules": ("--map", "--rule", "--file"),
    "map": ("--rule", "--file"),
    "broker": ("--bootstrap-server",),
    "brokers": ("--bootstrap-server",),
}
# module: (its usual name, the extra that installs it)
_EXTRAS: Final = {"kio": ("kio", "doctor"), "jinja2": ("Jinja2", "doctor")}


class HintedUsageError(click.UsageError):
    """A usage error with a better hint than the command's help."""

    def __init__(self, message: str, ctx: click.Context | None = None, hint: str | None = None) -> None:
        super().__init__(message, ctx)
        self.hint = hint


def usage_report(error: click.UsageError) -> str:
    """The error of a command line, and the help to read."""
    path = error.ctx.command_path if error.ctx else "brokernat"
    command = error.ctx.command if error.ctx else None
    listed = "commands" if isinstance(command, click.Group) and not command.invoke_without_command else "options"
    hint = getattr(error, "hint", None) or f"`{path} --help` lists the {listed}"
    if isinstance(error, click.NoSuchOption):
        near = [f"`{each}`" for each in _near_options(error)]
        return f"error: {error.message}\n\nhint: " + (f"did you mean {' or '.join(near)}? " if near else "") + hint
    return f"error: {error.format_message()}\n\nhint: {hint}"


def _near_options(error: click.NoSuchOption) -> list[str]:
    """The options of the command that the user may have meant.

    click compares the options with their dashes, which makes short ones similar to any other.
    """
    if error.ctx is None:
        return []
    words = [name for each in error.ctx.command.get_params(error.ctx) for name in (*each.opts, *each.secondary_opts)]
    options = {name.removeprefix("--"): name for name in words if name.startswith("--")}
    word = error.option_name.removeprefix("--")
    if found := [each for each in _OTHER_OPTIONS.get(word, ()) if each.split()[0].removeprefix("--") in options]:
        return found
    near = [name for name in options if name.startswith(word)] or get_close_matches(word, options)
    return [options[name] for name in near]


def internal_report(error: Exception) -> str:
    """Type and stack trace of a bug, and how to report it.

    Its message and values may contain a secret, so they are omitted.
    """
    places = [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return "\n".join(
        (
            f"error: internal error, {type(error).__name__} in brokernat {brokernat.__version__}: this is a bug",
            *places,
            "",
            "hint: report these lines (they hold no secrets) and what you did in brokernat's issue tracker",
        )
    )


def require_extra(module: str, who: str) -> None:
    """Check that a module is installed before its import.

    Args:
        who: the start of the message: the feature that needs the module.

    Raises:
        MissingToolError: the module is not installed; the hint names the extra.
    """
    name, extra = _EXTRAS[module]
    if find_spec(module) is None:
        raise MissingToolError(f"{who} needs {name}", hint=f"pip install 'brokernat[{extra}]'")
