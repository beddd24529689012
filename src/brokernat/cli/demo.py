"""`brokernat demo`: the story, told on a terminal.

The story goes to stdout as it happens; what is being waited for goes to stderr, as a moving line on a terminal and as a
plain one elsewhere.
"""

from __future__ import annotations

import textwrap
from contextlib import closing
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from brokernat.demo.scene import Heading, Quote, Say, Scene, Table, Working
from brokernat.demo.story import tell

if TYPE_CHECKING:
    from rich.status import Status

_WIDTH = 110


@click.command()
@click.option("--orders", default=5_000, show_default=True, type=click.IntRange(1), help="Orders that become tags.")
def demo(orders: int) -> None:
    """Show the main job on this machine, with real brokers and Spark. Needs no root, leaves nothing behind."""
    output, waiting = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False)
    if not output.is_terminal:
        output.width = _WIDTH
    with closing(tell(good_orders=orders)) as scenes:
        status = waiting.status("starting")
        status.start()
        try:
            for scene in scenes:
                _show(scene, output, waiting, status)
        finally:
            status.stop()


def _show(scene: Scene, output: Console, waiting: Console, status: Status) -> None:
    match scene:
        case Working(text):
            status.update(Text(f"{text} …"))
            status.start()
            if not waiting.is_terminal:
                waiting.print(f"  … {text}", markup=False, soft_wrap=True)
            return
        case Heading(text):
            status.stop()
            output.print(Text(f"\n{text}\n", style="bold"))
        case Say(text):
            status.stop()
            output.print(Text(textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")))
        case Quote(origin, lines):
            status.stop()
            output.print(Text(f"  {origin}:", style="dim"))
            output.print(*(Text(f"  | {line}") for line in lines), sep="\n")
            output.print()
        case Table(columns, rows):
            status.stop()
            table = RichTable(*columns, box=None, pad_edge=False, header_style="dim")
            for row in rows:
                table.add_row(*map(Text, row))
            output.print(_indented(table, output))
            output.print()


def _indented(table: RichTable, output: Console) -> Text:
    with output.capture() as captured:
        output.print(table, soft_wrap=True)
    return Text.from_ansi(textwrap.indent(captured.get().rstrip(), "  "))
