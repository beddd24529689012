"""How a running pipeline is shown: a line that is kept up to date on a terminal, a line per batch elsewhere, JSON lines
where asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from brokernat.cli import console
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.progress import Progress

if TYPE_CHECKING:
    Show = Callable[[Progress, BatchReport | None], None]


@contextmanager
def display(output: str) -> Iterator[Show]:
    """What to call after each batch, with its report, and now and then without one."""
    if output == "json":
        yield _show_json
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(Text(WAITING), console=Console(stderr=True), refresh_per_second=4) as live:
            yield lambda progress, _: live.update(Text(summary(progress)))
    else:
        yield _show_line


WAITING = "waiting for the first batch"


def summary(progress: Progress) -> str:
    """A run in one line."""
    if not progress.batches:
        return WAITING
    return f"batch {progress.last_batch}: {progress.counts}; {_pace(progress)}"


def _pace(progress: Progress) -> str:
    behind = "" if progress.lag is None else f", {progress.lag} behind"
    return f"{progress.rate:.0f} records/s{behind}"


def _show_json(progress: Progress, report: BatchReport | None) -> None:
    if report:
        line = {"version": 1, "batch": report.batch_id, **asdict(report.counts), "seconds": round(report.seconds, 3)}
        console.data(json.dumps(line | {"references": dict(report.versions), "lag": progress.lag}))


def _show_line(progress: Progress, report: BatchReport | None) -> None:
    if report:
        console.note(f"batch {report.batch_id}: {report.counts}; {_pace(progress)}")
