"""`brokernat exec`: runs an unchanged Kafka program with the address map.

Messages go to stderr before the child starts; stdin and stdout belong to the child. brokernat's own failures have the
exit codes 125, 126 or 127, as with `env` and `timeout`, so that a caller can distinguish them from the program's.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import load_or_hint, the_only_cluster, through_tunnel, unnamed_cluster
from brokernat.cli.error_reports import internal_report, usage_report
from brokernat.cli.options import CLUSTER, config_option, format_option
from brokernat.clients.launch import Launch
from brokernat.config import Cluster
from brokernat.errors import BrokernatError, NotExecutableError, ProgramNotFoundError


class ProgramCommand(click.Command):
    """Returns 125 instead of the exit codes 1 to 5 of other commands, which the child may use.

    Without a program (if it is optional) the exit codes are those of other commands.
    """

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **options: Any) -> click.Context:
        runs_program = "--" in args or any(each.name == "command" and each.required for each in self.params)
        try:
            return super().make_context(info_name, args, *others, **options)
        except click.UsageError as error:
            if not runs_program:
                raise
            console.report(usage_report(error))
            raise click.exceptions.Exit(exit_codes.EXEC_FAILED) from None

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx.params["command"]:
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except (ProgramNotFoundError, NotExecutableError) as error:
            console.report(error.report())
            return error.exit_code
        except BrokernatError as error:
            console.report(error.report())
        except click.UsageError as error:
            console.report(usage_report(error))
        except (click.exceptions.Exit, click.Abort, console.ReaderGoneError):
            raise
        except Exception as error:  # noqa: BLE001 - the last resort, as in `main`
            console.report(internal_report(error))
        return exit_codes.EXEC_FAILED


@click.command(
    name="exec",
    cls=ProgramCommand,
    # The first word that is not an option of brokernat starts the command, with or without `--`.
    context_settings={"allow_interspersed_args": False},
)
@config_option
@click.option(
    "--cluster", "names", metavar="NAME", type=CLUSTER, multiple=True,
    help="A cluster that the program connects to; repeatable; required when the file has several.",
)  # fmt: skip
@click.option("--map", "rules", metavar="RULES", help="Address map instead of a cluster's, or `file:/path`.")
@click.option("--unmapped", type=click.Choice(["fail", "pass"]), help="Override the clusters' `unmapped`.")
@click.option(
    "--with-client-properties", is_flag=True,
    help="Pass the first cluster's servers and login to a console tool (Kafka's, kcat) in a memory file.",
)  # fmt: skip
@click.option("--agent-path", metavar="JAR", help="Spark: the jar's absolute path on every host with an executor.")
@click.option("--dry-run", is_flag=True, help="Print what would be injected, and start nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print only warnings.")
@format_option
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(
    config_file: Path,
    names: tuple[str, ...],
    rules: str | None,
    unmapped: str | None,
    with_client_properties: bool,
    agent_path: str | None,
    dry_run: bool,
    quiet: bool,
    output: str,
    command: tuple[str, ...],
) -> int | None:
    """Run a Kafka client program (JVM, librdkafka, Python) with the address map applied."""
    from brokernat.address import Unmapped
    from brokernat.clients.launch import plan, replace_process, run_process

    if output == "json" and not dry_run:
        raise click.UsageError("`--format json` needs `--dry-run`: stdout belongs to the program")
    if rules is not None and (names or with_client_properties):
        raise click.UsageError("`--map` cannot be combined with `--cluster` and `--with-client-properties`")
    secrets = with_client_properties and not dry_run
    clusters = [unnamed_cluster(rules)] if rules is not None else _clusters(config_file, names, secrets=secrets)
    tunnelled = [cluster.name for cluster in clusters if cluster.tunnel is not None]
    if tunnelled and dry_run:
        raise click.UsageError(f"`--dry-run` cannot show the map of {', '.join(tunnelled)}: its tunnel creates it")
    launch = plan(
        command,
        [through_tunnel(cluster) for cluster in clusters],
        os.environ,
        unmapped=Unmapped(unmapped) if unmapped else None,
        agent_path=agent_path,
        with_client_properties=with_client_properties,
    )
    if dry_run:
        _show(launch, output)
        return None
    report_notes(launch, quiet=quiet)
    # A tunnel exists as long as this process.
    return run_process(launch) if tunnelled else replace_process(launch)


def report_notes(launch: Launch, *, quiet: bool) -> None:
    """Print the injections and their reasons before the program starts."""
    for note in launch.notes:
        if note.warning or not quiet:
            console.note(f"[brokernat] {note}")


def _clusters(config_file: Path, names: tuple[str, ...], *, secrets: bool) -> list[Cluster]:
    config = load_or_hint(config_file, "--map RULES", resolve_secrets=secrets)
    return [config.cluster(name) for name in dict.fromkeys(names)] or [the_only_cluster(config)]


def _show(launch: Launch, output: str) -> None:
    """Print only brokernat's part of a variable: the user's part may contain a password."""
    shown = {change.name: change.added for change in launch.changes}
    if output == "json":
        console.json_data(
            {
                "version": 1,
                "program": str(launch.program),
                "kind": launch.kind.value,
                "command": launch.command,
                "environment": [{"name": name, "added": added} for name, added in shown.items()],
                "files": [{"path": file.path, "about": file.about} for file in launch.files],
                "notes": [{"text": note.text, "warning": note.warning} for note in launch.notes],
            }
        )
        return
    for note in launch.notes:
        console.data(f"# {note}")
    for change in launch.changes:
        kept = f"${change.name} with " if change.added and change.value != change.added else ""
        console.data(f"{change.name}={kept}{change.added}" if change.added else f"unset {change.name}")
    console.data(shlex.join([str(launch.program), *launch.command[1:]]))
