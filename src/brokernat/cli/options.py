"""Options that several commands share, with the same name and meaning."""

from __future__ import annotations

import math
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal

import click
from click.shell_completion import CompletionItem

from brokernat.address import Endpoint, listen_endpoint
from brokernat.cli import console
from brokernat.cli.error_reports import HintedUsageError
from brokernat.errors import BrokernatError, ConfigError
from brokernat.text import size_in_bytes


class Seconds(click.FloatRange):
    """A number in a range; refuses `nan`, which click accepts in every range, and `inf`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        return seconds if math.isfinite(seconds) else self.fail(f"`{value}` is not a number of seconds", param, ctx)


_LAST_PORT = 65535


class _ListenEndpoint(click.ParamType[Endpoint]):
    name = "endpoint"

    def __init__(self, *, ports_after: bool = False) -> None:
        self._ports_after = ports_after

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Endpoint:
        if isinstance(value, Endpoint):
            return value
        try:
            endpoint = listen_endpoint(value)
        except ConfigError as error:
            return self.fail(error.message, param, ctx)
        if self._ports_after and endpoint.port == _LAST_PORT:
            self.fail(f"`{value}` leaves no port for a broker: node N is at PORT + 1 + N", param, ctx)
        return endpoint


class Size(click.ParamType[int]):
    """Bytes, with K, M or G; the error message shows `examples`."""

    name = "size"

    def __init__(self, examples: str, least: str = "0") -> None:
        self._examples, self._least = examples, least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            size = size_in_bytes(value)
        except ValueError:
            self.fail(f"`{value}` is not a size; write for example {self._examples}", param, ctx)
        if size < size_in_bytes(self._least):
            self.fail(f"`{value}` is less than {self._least}", param, ctx)
        return size


class _Topic(click.ParamType[str]):
    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from brokernat.config.fields import check_topic

        try:
            check_topic(value)
        except ConfigError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)
        return str(value)


class NameOf(click.ParamType[str]):
    """A name from a section of the configuration file, which a shell completes."""

    name = "name"

    def __init__(self, section: Literal["clusters", "pipelines", "shipping"]) -> None:
        self._section = section

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        return names_completed(ctx, self._section, incomplete)


def names_completed(ctx: click.Context, section: str, incomplete: str) -> list[CompletionItem]:
    """The names of a section of the file that begin with `incomplete`; none if the file cannot be used."""
    from brokernat.config import load

    try:
        names = getattr(load(ctx.params["config_file"], resolve_secrets=False), section)
    except BrokernatError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class Code(click.ParamType[str]):
    """The code of a check, which a shell completes."""

    name = "code"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        from brokernat.doctor.checks import CHECKS

        start = incomplete.upper()
        return [CompletionItem(check.code, help=check.title) for check in CHECKS if check.code.startswith(start)]


class CodeOrPath(Code):
    """The same for an argument that may also be a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # All codes would hide the files.
        codes = super().shell_complete(ctx, param, incomplete) if incomplete else []
        return [*codes, CompletionItem(incomplete, type="file")]


PATH: Final = click.Path(path_type=Path, readable=False)
"""Any path; opening it reports errors."""

DEFAULT_FILE: Final = "brokernat.yaml"
LISTEN_ENDPOINT: Final = _ListenEndpoint()
"""`HOST:PORT`, or a port of 127.0.0.1."""
PROXY_ENDPOINT: Final = _ListenEndpoint(ports_after=True)
"""The same for a proxy, whose nodes have the ports after it."""
CLUSTER: Final = NameOf("clusters")
TOPIC: Final = _Topic()
PIPELINE: Final = NameOf("pipelines")
SECONDS: Final = Seconds(1, 600)
"""For options that bound the time of probes."""

OTHER_WORDS: Final = {"verify": "reconcile"}
"""Words that users may type for a command, which are not similar to its name."""

CONFIG_VARIABLE: Final = "BROKERNAT_CONFIG"


def _print_help(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    # click's own callback does not report an error of stdout.
    if asked and not ctx.resilient_parsing:
        console.data(ctx.get_help())
        ctx.exit()


help_option = click.help_option("-h", "--help", callback=_print_help)
config_option = click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=PATH,
    default=DEFAULT_FILE,
    envvar=CONFIG_VARIABLE,
    show_default=True,
    show_envvar=True,
    help="The configuration file.",
)
format_option = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the results on stdout.",
)
fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="Lowest severity that makes the exit code non-zero.",
)
token_command_option = click.option(
    "--token-command", metavar="COMMAND", help="Command that prints a token for the login with OAUTHBEARER."
)


class Group(click.Group):
    """A group that suggests similar commands for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, word) is not None:
            return super().resolve_command(ctx, args)
        near = [f"`{ctx.command_path} {each}`" for each in self.near(ctx, word)]
        hint = f"did you mean {', '.join(near)}?" if near else None
        raise HintedUsageError(f"there is no command `{ctx.command_path} {word}`", ctx, hint)

    def near(self, ctx: click.Context, word: str) -> list[str]:
        """The command names similar to a word, the most similar first."""
        names = self.list_commands(ctx)
        return [OTHER_WORDS[word]] if OTHER_WORDS.get(word) in names else get_close_matches(word.lower(), names)
