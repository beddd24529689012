"""`brokernat ship` and `brokernat ship status`, with options or a `shipping:` section."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from fcntl import F_GETFL, fcntl
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import load_config, through_tunnel
from brokernat.cli.options import (
    CLUSTER,
    PATH,
    TOPIC,
    NameOf,
    Seconds,
    Size,
    config_option,
    format_option,
    help_option,
    names_completed,
)
from brokernat.cli.signals import stop_at_signals
from brokernat.errors import ConfigError, Finding
from brokernat.shipping.shipment import Shipment

_ONCE = click.option("--once", is_flag=True, help="Send the present content, then exit.")
_REDIRECT = click.option("--redirect", is_flag=True, help="Send the records in the spool to this topic, although "
                         "they were accepted for another.")  # fmt: skip
_PATIENCE = click.option("--patience", type=Seconds(min=0), default=30.0, show_default=True, help="Seconds to wait for "
                         "acknowledgements at the end.")  # fmt: skip


class _ShipGroup(click.Group):
    """Treats an unknown command as the name of a shipment in the file."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or _named(cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [*names_completed(ctx, "shipping", incomplete), *super().shell_complete(ctx, incomplete)]


@click.group(cls=_ShipGroup, invoke_without_command=True, subcommand_metavar="[NAME | status]")
@config_option
@click.option("--cluster", "cluster_name", metavar="NAME", type=CLUSTER, help="The cluster to ship to.")
@click.option("--topic", type=TOPIC, help="The topic to ship to.")
@click.option("--spool", metavar="DIR", type=PATH, help="The folder on a local disk where records wait.")
@click.option(
    "--max-spool",
    type=Size("512M or 2G", least="1M"),
    default="1G",
    show_default=True,
    help="The largest size of the spool.",
)
@click.option("--file", "files", metavar="PATTERN", multiple=True, help="A file, a folder or a pattern; repeatable.")
@click.option("--stdin", is_flag=True, help="Send the lines of standard input.")
@click.option(
    "--from-beginning", is_flag=True, help="On the first start, read files from their beginning, as --once does."
)
@_ONCE
@_REDIRECT
@click.option("--durable", is_flag=True, help="Accepted records survive a power cut; costs an fsync per block.")
@_PATIENCE
@click.pass_context
def ship(ctx: click.Context, /, **options: Any) -> int | None:
    """Send lines of files or of standard input to a topic; no accepted line is lost.

    Each line becomes a JSON record with a sequence number. Records wait in a spool on disk until the brokers have
    acknowledged them. Files are followed through rotation; a restart continues where the last run ended. Without --file
    and --stdin only the records in the spool are sent. The exit code is 6 when records are left in the spool, when
    lines of standard input had no room in it, and when a file cannot be read with --once.

    With NAME the options come from `shipping:` in the file.
    """
    if ctx.invoked_subcommand is not None:
        return None
    if missing := [name for name in ("cluster_name", "topic", "spool") if not options[name]]:
        raise click.UsageError(f"`--{missing[0].removesuffix('_name')}` is missing", ctx)
    return run_shipment(**options)


def _named(name: str) -> click.Command:
    @click.command(name, short_help="Send what `shipping:` in the file has under this name.")
    @config_option
    @click.option("--stdin", is_flag=True, help="Send the lines of standard input as well.")
    @_ONCE
    @_REDIRECT
    @_PATIENCE
    @help_option
    @click.pass_context
    def shipment(ctx: click.Context, /, config_file: Path, **options: Any) -> int:
        """Send what `shipping:` in the file has under this name."""
        file = _file(ctx, config_file)
        section = load_config(file).shipment(name)
        return run_shipment(
            config_file=file,
            cluster_name=section.cluster,
            topic=section.topic,
            spool=Path(section.spool),
            max_spool=section.max_spool,
            files=section.files,
            from_beginning=section.from_beginning,
            durable=section.durable,
            **options,
        )

    return shipment


def _file(command: click.Context, config_file: Path) -> Path:
    """The file: `--config` before the name of the command, where no other option may stand, or else its own."""
    group = command.parent
    assert group is not None  # noqa: S101
    given = {name for name in group.params if group.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if others := sorted(given - {"config_file"}):
        option = others[0].removesuffix("_name").removesuffix("s").replace("_", "-")
        raise click.UsageError(f"`--{option}` cannot be combined with a name: the file has it", group)
    return Path(group.params["config_file"]) if given else config_file


@ship.command()
@click.argument("name", type=NameOf("shipping"), required=False)
@config_option
@click.option("--spool", metavar="DIR", type=PATH, help="The spool's folder, instead of a NAME.")
@format_option
@click.pass_context
def status(ctx: click.Context, name: str | None, config_file: Path, spool: Path | None, output: str) -> None:
    """Print what a spool has accepted, what waits in it, and why.

    NAME is one under `shipping:` in the file. The spool may be in use by another process.
    """
    from brokernat.shipping import Destination, read_status

    if (name is None) == (spool is None):
        raise click.UsageError("give either a NAME of `shipping:` in the file, or `--spool`", ctx)
    if name is not None:
        spool = Path(load_config(_file(ctx, config_file)).shipment(name).spool)
    assert spool is not None  # noqa: S101
    found = read_status(spool)
    if output == "json":
        rows = [asdict(one) | {"directory": str(one.directory)} for one in found]
        console.json_data({"version": 1, "spools": rows})
        return
    for one in found:
        console.data(f"{one.directory}  source {one.source}, {'in use' if one.in_use else 'not in use'}")
        if one.topic:
            console.data(f"  for           {Destination(one.cluster, one.topic)}")
        console.data(f"  accepted      {one.accepted}")
        console.data(f"  acknowledged  {one.acknowledged}")
        console.data(f"  waiting       {one.pending}" + (f"  ({one.trouble})" if one.trouble else ""))
        console.data(f"  rejected      {one.rejected}")
        console.data(f"  refused       {one.refused}")
        console.data(f"  holds         {one.held} bytes of {one.limit}")


def run_shipment(
    config_file: Path,
    cluster_name: str,
    topic: str,
    spool: Path,
    max_spool: int,
    files: tuple[str, ...],
    stdin: bool,
    from_beginning: bool,
    once: bool,
    redirect: bool,
    durable: bool,
    patience: float,
) -> int:
    """Ship, and print the results.

    Returns:
        The exit code: 6 if records are left in the spool or a part of the input is not in it, 128 plus the signal's
        number after a signal.

    Raises:
        BrokernatError: an error of the input, the file, the spool or the producer.
    """
    from brokernat.shipping.block import Destination
    from brokernat.shipping.lines import Pipe
    from brokernat.shipping.producer import find_delay, open_admin, open_producer
    from brokernat.shipping.sender import Sender
    from brokernat.shipping.spool import Spool
    from brokernat.shipping.tail import Tail, missing_files
    from brokernat.text import counted

    if once and (missing := missing_files(files)):
        rest = f"`brokernat ship --once --cluster {cluster_name} --topic {topic} --spool {spool}`"
        hint = f"`--once` does not wait for files; {rest} sends only the records in the spool"
        raise ConfigError(*(Finding("no-file", f"there is no file `{each}`", hint) for each in missing))
    pipe = Pipe(_standard_input()) if stdin else None
    cluster = through_tunnel(load_config(config_file).cluster(cluster_name))
    with console.log_to_stderr():
        destination = Destination(cluster.name, topic)
        opened = Spool(spool, max_spool, durable=durable, destination=destination, redirect=redirect)
        sources = [*files, *(["standard input"] if stdin else [])] or ["what the spool holds"]
        brokers = ", ".join(map(str, cluster.bootstrap_servers))
        console.note(f"shipping {', '.join(sources)} to {destination} ({brokers})")
        console.note(f"spool {spool}: {counted(opened.pending, 'record')} held")
        before = opened.totals()
        tail = Tail(files, opened.positions(), from_beginning=from_beginning or once) if files else None
        delays = partial(find_delay, cluster, partial(open_admin, cluster))
        sender = Sender(opened, topic, partial(open_producer, cluster), find_delay=delays)
        shipment = Shipment(opened, sender, tail=tail, pipe=pipe)
        received = stop_at_signals(shipment.stop, shipment.abort)
        pending = shipment.run(once=once or not (files or stdin), patience=patience)
    after, reason = opened.totals(), f" ({opened.trouble})" if pending and opened.trouble else ""
    answered = f"{after.acknowledged - before.acknowledged} acknowledged, {after.rejected - before.rejected} rejected"
    console.note(f"{answered}, {pending} left in {spool}{reason}")
    if pending or shipment.lost or (once and tail is not None and tail.is_incomplete):
        return exit_codes.INCOMPLETE
    return 128 + received[0] if received else 0


def _standard_input() -> int:
    """The descriptor of standard input.

    Raises:
        ConfigError: it is not open for reading.
    """
    if sys.stdin is None or fcntl(sys.stdin, F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
        hint = "write `program | brokernat ship --stdin …`, or leave out `--stdin`"
        raise ConfigError(Finding("no-stdin", "`--stdin`: standard input is not open for reading", hint))
    return sys.stdin.fileno()
