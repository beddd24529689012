"""`brokernat`: the table of commands, and the handling of errors and exit codes.

Commands are imported when they are called, so that `brokernat --help` does not wait for pydantic or Spark. A command is
a function that returns its exit code (None is 0) and raises BrokernatError; only `main` converts errors to messages and
exit codes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

import brokernat
from brokernat.cli import console, exit_codes
from brokernat.cli.error_reports import internal_report, usage_report
from brokernat.cli.examples import with_examples
from brokernat.cli.options import OTHER_WORDS, Group, help_option
from brokernat.errors import BrokernatError
from brokernat.paths import refused_path

_ENDPOINTS = re.compile(r"[^\s=/]+:\d+(?:,[^\s=/]+:\d+)*")
_COMPLETION = """\b
Completion of commands and options, by a line in the shell's start-up file:
  bash  eval "$(_BROKERNAT_COMPLETE=bash_source brokernat)"
  zsh   eval "$(_BROKERNAT_COMPLETE=zsh_source brokernat)"
  fish  _BROKERNAT_COMPLETE=fish_source brokernat | source
"""

# name: (module and function, one line of help)
COMMANDS = {
    "init": ("brokernat.cli.config:init", "Write a commented brokernat.yaml."),
    "config": ("brokernat.cli.config:config", "Check brokernat.yaml; print its JSON Schema."),
    "map": ("brokernat.cli.map:map_", "Check, try and export an address map."),
    "doctor": ("brokernat.cli.doctor:doctor", "Report why clients cannot reach the brokers, and what to change."),
    "explain": ("brokernat.cli.explain:explain", "Explain a log line, a log file or a code of the doctor."),
    "discover": (
        "brokernat.cli.discover:discover",
        "Find the endpoint that leads to each broker, and write the map.",
    ),
    "demo": ("brokernat.cli.demo:demo", "Run a demonstration with real brokers and Spark, without root."),
    "testbed": ("brokernat.cli.testbed:testbed", "Start real brokers with unreachable addresses, for experiments."),
    "pipeline": ("brokernat.cli.pipeline:pipeline", "Check, run, replay and reconcile a pipeline on Spark."),
    "exec": ("brokernat.cli.exec:exec_", "Run any JVM, librdkafka or Python program with an address map."),
    "tunnel": ("brokernat.cli.tunnel:tunnel", "Reach all brokers through SSH, kubectl or any command that forwards."),
    "proxy": ("brokernat.cli.proxy:proxy", "Serve a cluster on this machine to clients that cannot load a map."),
    "render": ("brokernat.cli.render:render", "Write configuration for nginx, hosts files, Spark ... from a map."),
    "ship": ("brokernat.cli.ship:ship", "Send log files or standard input to a topic without losing a line."),
    "agent": ("brokernat.cli.libraries:agent", "Print the path of the Java agent, or copy it."),
    "spark-packages": (
        "brokernat.cli.libraries:spark_packages",
        "Print the jars that fit the installed PySpark, and the agent's.",
    ),
    "plugin": ("brokernat.cli.libraries:plugin", "Print the path of the librdkafka plug-in, or copy it."),
    "bundle": ("brokernat.cli.libraries:bundle", "Collect all packages and jars for a network without registries."),
}


class _LazyGroup(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command), f"{COMMANDS[cmd_name][0]} is not a command"  # noqa: S101
        return with_examples(command, cmd_name)

    def near(self, ctx: click.Context, word: str) -> list[str]:
        if _ENDPOINTS.fullmatch(word):
            return [f"doctor {word}"]
        groups = {name: command for name in COMMANDS if isinstance(command := self.get_command(ctx, name), click.Group)}
        meant = OTHER_WORDS.get(word, word)
        below = [f"{name} {meant}" for name, group in groups.items() if meant in group.commands]
        return below or super().near(ctx, word)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        console.data(f"brokernat {brokernat.__version__}")
        ctx.exit()


@click.command(cls=_LazyGroup, epilog=_COMPLETION)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@help_option
def cli() -> None:
    """Let Kafka clients reach brokers whose advertised addresses they cannot dial."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (by default that of the process); returns the exit code."""
    console.log_as_json(False)
    try:
        result: Any = cli.main(None if arguments is None else list(arguments), "brokernat", standalone_mode=False)
    except BrokernatError as error:
        console.report(error.report())
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        console.report(error.format_message())
        return exit_codes.USAGE
    except click.UsageError as error:
        console.report(usage_report(error))
        return exit_codes.USAGE
    except click.ClickException as error:
        console.report(f"error: {error.format_message()}")
        return exit_codes.USAGE
    except (KeyboardInterrupt, click.Abort):
        console.report("stopped")
        return exit_codes.INTERRUPTED
    except console.ReaderGoneError:
        return exit_codes.READER_GONE
    except OSError as error:
        refusal = refused_path(error)
        console.report(internal_report(error) if refusal is None else refusal.report())
        return exit_codes.INTERNAL if refusal is None else refusal.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort of the program
        console.report(internal_report(error))
        return exit_codes.INTERNAL
    return result if isinstance(result, int) else 0
