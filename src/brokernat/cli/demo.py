"""`brokernat demo`: its events on a terminal.

Events go to stdout; progress goes to stderr, as an animated line on a terminal and as a plain one elsewhere.
"""

from __future__ import annotations

import textwrap
from contextlib import closing

import click
from rich.console import Console
from rich.status import Status
from rich.table import Table as RichTable
from rich.text import Text

from brokernat.address import Endpoint
from brokernat.cli.options import LISTEN_ENDPOINT
from brokernat.demo import EventTable, Heading, Quote, Say, Working

_WIDTH = 110
_MARGIN = "  "


@click.command()
@click.option("--orders", default=5_000, show_default=True, type=click.IntRange(1), help="Number of valid orders.")
@click.option(
    "--status",
    metavar="[HOST:]PORT",
    type=LISTEN_ENDPOINT,
    help="Serve the status page of the pipeline, which then runs until Ctrl-C.",
)
def demo(orders: int, status: Endpoint | None) -> None:
    """Run a demonstration with real brokers and Spark. It needs no root and leaves nothing behind."""
    from brokernat.demo.script import run_demo

    output, waiting = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False)
    if not output.is_terminal:
        output.width = _WIDTH
    with closing(run_demo(good_orders=orders, status=status)) as events, waiting.status("starting") as line:
        for event in events:
            if isinstance(event, Working):
                _wait(event, waiting, line)
            else:
                line.stop()
                output.print(_drawn(event, output))


def _wait(event: Working, waiting: Console, status: Status) -> None:
    if waiting.is_terminal:
        status.update(Text(f"{event.text} …"))
        status.start()
    else:
        waiting.print(f"  … {event.text}", markup=False, soft_wrap=True)


def _drawn(event: Heading | Say | Quote | EventTable, output: Console) -> Text:
    width = min(output.width, _WIDTH)
    match event:
        case Heading(text):
            return Text(f"\n{text}\n", style="bold")
        case Say(text):
            return Text(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  "))
        case Quote(origin, lines):
            # Long lines are folded on a terminal and stay whole elsewhere, for grep.
            whole = [line for each in lines for line in (_folded(each, width) if output.is_terminal else [each])]
            return Text("\n".join((f"  {origin}:", *(f"  | {line}" for line in whole), "")))
        case EventTable(columns, rows):
            table = RichTable(*columns, box=None, pad_edge=False, header_style="dim")
            for row in rows:
                table.add_row(*map(Text, row))
            with output.capture() as captured:
                # Leaves room for the margin, or the terminal would wrap each line again.
                output.print(table, width=width - len(_MARGIN))
            drawn = "\n".join(line.rstrip() for line in captured.get().splitlines())
            return Text.from_ansi(textwrap.indent(drawn, _MARGIN) + "\n")


def _folded(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width - 4, subsequent_indent="    ") or [""]
