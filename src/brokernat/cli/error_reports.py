"""How errors that are no BrokernatError are reported: usage mistakes, bugs of ours, extras that are not installed."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import click

import brokernat
from brokernat.errors import MissingToolError


def usage_report(error: click.UsageError) -> str:
    """What was wrong with a command line, and which help shows what there is."""
    path = error.ctx.command_path if error.ctx else "brokernat"
    return f"error: {error.format_message()}\n\nhint: `{path} --help` shows what there is"


def internal_report(error: Exception) -> str:
    """Type and places of a bug, and what to do with them.

    Its message and values may hold a secret, so they are left out.
    """
    places = [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return "\n".join(
        (
            f"error: internal error, {type(error).__name__} in brokernat {brokernat.__version__}: this is a bug",
            *places,
            "",
            "hint: report these lines, which hold no secrets, and what you did, to brokernat's issue tracker",
        )
    )


@contextmanager
def kio_required(who: str) -> Iterator[None]:
    """Put around imports of the doctor's probes; `who` begins the message. Another missing module stays a bug."""
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("kio"):
            raise
        raise MissingToolError(f"{who} needs kio", hint="pip install 'brokernat[doctor]'") from None
