"""`brokernat pipeline replay`: processes dead letters again, after the cause is fixed."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console
from brokernat.cli.clusters import load_config, through_tunnel
from brokernat.cli.options import PIPELINE, config_option, format_option
from brokernat.cli.spark import SparkOptions, proved_session, with_spark
from brokernat.pipelines.reading_back.replay import Replayed, Selection, SourceRange
from brokernat.pipelines.steps.envelope import FaultKind
from brokernat.text import counted

_RANGE = re.compile(r"(?P<topic>[^/]+)/(?P<partition>\d+)/(?P<first>\d+)(?:-(?P<last>\d+))?", re.ASCII)


class _Time(click.ParamType[datetime]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return self.fail(f"`{value}` is not a time such as 2026-01-05 or 2026-01-05T08:30:00+01:00", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Range(click.ParamType[SourceRange]):
    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> SourceRange:
        found = _RANGE.fullmatch(value)
        if not found:
            return self.fail(f"`{value}` is not TOPIC/PARTITION/OFFSET or TOPIC/PARTITION/FIRST-LAST", param, ctx)
        first = int(found["first"])
        return SourceRange(found["topic"], int(found["partition"]), first, int(found["last"] or first))


@click.command(short_help="Send dead letters through the pipeline again.")
@click.argument("name", type=PIPELINE)
@click.option(
    "--cause",
    "causes",
    multiple=True,
    type=click.Choice([kind.value for kind in FaultKind]),
    metavar="CAUSE",
    help=f"Dead letters of this cause: {', '.join(kind.value for kind in FaultKind)}. Repeatable. Default: all.",
)
@click.option("--since", type=_Time(), metavar="TIME", help="Dead letters that were written at this time or later.")
@click.option("--until", type=_Time(), metavar="TIME", help="Dead letters that were written before this time.")
@click.option(
    "--record",
    "ranges",
    multiple=True,
    type=_Range(),
    metavar="TOPIC/PARTITION/FIRST[-LAST]",
    help="Records of the source at these offsets; repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing, and report what a replay would do.")
@config_option
@format_option
@with_spark
def replay(
    name: str,
    causes: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    ranges: tuple[SourceRange, ...],
    dry_run: bool,
    config_file: Path,
    output: str,
    **options: Any,
) -> int:
    """Process dead letters with their pipeline again, after the cause is fixed.

    Valid records become tags with the coordinates of the source record. Each is written once, even if a replay is
    killed and started again; a record that still fails stays a dead letter. The pipeline may run at the same time.
    """
    from brokernat.pipelines.checkpoint.state import locked
    from brokernat.pipelines.prepared import Prepared
    from brokernat.pipelines.reading_back.replay import replay_pipeline

    wanted = SparkOptions(**options)
    prepared = Prepared.of(load_config(config_file), name).with_clusters(through_tunnel)
    selection = Selection(tuple(FaultKind(cause) for cause in causes), since, until, ranges)
    with ExitStack() as stack:
        stack.enter_context(locked(prepared.state.local_folder(name) / "replaying"))
        jars = prepared.driver_jars()
        spark = stack.enter_context(proved_session(f"replay-{name}", prepared.clusters, prepared.topics, wanted, jars))
        found = replay_pipeline(spark, prepared, selection, _show_chunk, dry_run=dry_run)
    if output == "json":
        console.json_data({"version": 1, "pipeline": name, "dry_run": dry_run, **asdict(found)})
    else:
        console.data(console.table(("dead letters", "records"), _lines(found)))
    return 0


def _show_chunk(total: Replayed) -> None:
    console.note(f"{counted(total.selected, 'record')} selected, {counted(total.tags, 'tag')}")


def _lines(found: Replayed) -> list[tuple[str, int]]:
    return [
        ("selected", found.selected),
        ("replayed before", found.before),
        ("now tags", found.tags),
        ("now filtered", found.filtered),
        *((f"still {cause}", number) for cause, number in sorted(found.still.items())),
    ]
