"""What every command that starts Spark may be told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

_LOADERS = click.Choice(["auto", "javaagent", "reporter"])
_OPTIONS = [
    click.option("--master", help="Spark's master; else what spark-defaults say, else this machine."),
    click.option("--conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark; repeatable."),
    click.option("--loader", type=_LOADERS, default="auto", show_default=True, help="What brings the agent into JVMs."),
    click.option("--agent-path", metavar="JAR", help="The agent jar's absolute path on every host with an executor."),
    click.option("--proof-timeout", type=float, default=60.0, show_default=True, help="Seconds for all executors."),
]


@dataclass(frozen=True)
class SparkOptions:
    """The values of `with_spark`'s options, by the same names."""

    master: str | None
    conf: tuple[str, ...]
    loader: str
    agent_path: str | None
    proof_timeout: float

    @property
    def settings(self) -> dict[str, str]:
        """`--conf` by name.

        Raises:
            click.UsageError: one of them is not NAME=VALUE.
        """
        if bad := [setting for setting in self.conf if "=" not in setting]:
            raise click.UsageError(f"--conf {bad[0]}: write NAME=VALUE")
        return dict(setting.split("=", 1) for setting in self.conf)


def with_spark(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--master`, `--conf`, `--loader`, `--agent-path`, `--proof-timeout`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
