"""What is said where a command ends by a mistake: the user's words to it, or a bug of ours.

An exception that nobody expected may hold a secret in its message or values, so only its type and places are shown.
"""

from __future__ import annotations

import traceback

import click

import brokernat


def usage_report(error: click.UsageError) -> str:
    """What was wrong with a command line, and which help shows what there is."""
    path = error.ctx.command_path if error.ctx else "brokernat"
    return f"error: {error.format_message()}\n\nhint: `{path} --help` shows what there is"


def internal_report(error: Exception) -> str:
    """Type and places of a bug, and what to do with them."""
    places = [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return "\n".join(
        (
            f"error: internal error, {type(error).__name__} in brokernat {brokernat.__version__}: this is a bug",
            *places,
            "",
            "hint: report these lines, which hold no secrets, and what you did, to brokernat's issue tracker",
        )
    )
