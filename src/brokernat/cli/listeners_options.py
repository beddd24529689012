"""What `render listeners` and `render compose` are told: options, the plan that they ask for, the command line anew."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import click

from brokernat.cli.options import DEFAULT_FILE
from brokernat.render.listeners_plan import ListenersPlan

_NAMES = {"advertised": "--listener", "bound": "--bind", "protocols": "--protocol"}
_DEFAULTS = {"config": DEFAULT_FILE, "brokers": 1, "first_id": 1, "quorum": "combined"}


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that both commands have; `wanted_plan` takes them."""
    for option in reversed(
        (
            click.option(
                "--listener",
                "advertised",
                metavar="NAME=HOST:PORT",
                multiple=True,
                help="What is advertised; `{id}` and `{9092+id}` stand for the node. Repeatable.",
            ),
            click.option("--brokers", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many."),
            click.option(
                "--first-id",
                type=click.IntRange(0, 2**31 - 1001),
                default=1,
                show_default=True,
                help="The first node id.",
            ),
            click.option(
                "--protocol", "protocols", metavar="NAME=PROTOCOL", multiple=True, help="PLAINTEXT unless given."
            ),
            click.option(
                "--bind",
                "bound",
                metavar="NAME=[HOST:]PORT",
                multiple=True,
                help="What is bound, where it is not the advertised port.",
            ),
            click.option("--inter-broker", metavar="NAME", help="The brokers' own listener; the first unless given."),
            click.option("--controller", metavar="HOST:PORT", help="Where controllers find each other."),
        )
    ):
        command = option(command)
    return command


def wanted_plan(
    advertised: tuple[str, ...],
    bound: tuple[str, ...],
    protocols: tuple[str, ...],
    brokers: int,
    first_id: int,
    inter_broker: str | None,
    controller: str | None,
    quorum: str = "combined",
) -> ListenersPlan:
    """The listeners that were asked for.

    Raises:
        ConfigError: with every reason why there is no such plan.
    """
    from brokernat.render.listeners_plan import Quorum
    from brokernat.render.listeners_wanted import Wanted, named, plan_listeners

    wanted = Wanted(
        named(advertised, "--listener"),
        named(bound, "--bind"),
        named(protocols, "--protocol"),
        inter_broker.upper() if inter_broker else None,
        controller,
        Quorum(quorum),
    )
    return plan_listeners(wanted, range(first_id, first_id + brokers))


def command_line(target: str, said: dict[str, Any]) -> str:
    """The command line that makes the text again."""
    words = ["brokernat", "render", target]
    for name, value in said.items():
        if value not in (None, (), _DEFAULTS.get(name)):
            option = _NAMES.get(name, f"--{name.replace('_', '-')}")
            words += [
                word for each in (value if isinstance(value, tuple) else (value,)) for word in (option, str(each))
            ]
    return shlex.join(words)
