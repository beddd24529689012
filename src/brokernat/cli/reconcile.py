"""`brokernat pipeline reconcile`: reads the written records back and reports missing ones."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console
from brokernat.cli.clusters import load_config, through_tunnel
from brokernat.cli.options import CLUSTER, PIPELINE, TOPIC, config_option, format_option
from brokernat.cli.spark import SparkOptions, proved_session, with_spark
from brokernat.config import Cluster
from brokernat.errors import IncompleteError
from brokernat.pipelines.reading_back.delivered import Delivered
from brokernat.pipelines.reading_back.proposal import Proposal
from brokernat.pipelines.reading_back.reconcile import SourceAccount
from brokernat.pipelines.reading_back.shipped import Shipped
from brokernat.text import counted

_SHIPPED = ("source", "first", "last", "records", "duplicates", "missing", "missing ranges")
_DELIVERED = (
    "partition",
    "first",
    "end",
    "records",
    "delivered",
    "duplicates",
    "filtered",
    "missing",
    "missing ranges",
)
_PROPOSED = ("partition", "first", "held until", "start at", "repeated", "missing", "missing ranges")
_RANGES_IN_TEXT = 5


@click.command(short_help="Report gaps and duplicates in the written records.")
@click.argument("name", metavar="[PIPELINE]", type=PIPELINE, required=False)
@click.option("--cluster", metavar="NAME", type=CLUSTER, help="The cluster that holds a shipped topic.")
@click.option("--topic", type=TOPIC, help="A topic that brokernat has shipped to.")
@click.option("--from-first", is_flag=True, help="Start at each source's first record that retention has kept.")
@click.option(
    "--propose-offsets", is_flag=True, help="Find the offsets at which a pipeline without its checkpoint must start."
)
@click.option("--write", is_flag=True, help="With --propose-offsets: make the next run start there.")
@click.option(
    "--reached",
    multiple=True,
    metavar="SOURCE/SEQUENCE",
    help="The last sequence number that a source has sent; repeatable.",
)
@config_option
@format_option
@with_spark
def reconcile(
    name: str | None,
    cluster: str | None,
    topic: str | None,
    from_first: bool,
    propose_offsets: bool,
    write: bool,
    reached: tuple[str, ...],
    config_file: Path,
    output: str,
    **options: Any,
) -> int:
    """Read the written records back with Spark, and report gaps and duplicates.

    With PIPELINE, the records of the source up to the last commit are compared with tags and dead letters. With
    --cluster and --topic, the sequence numbers of each source that has shipped to the topic are verified. The exit
    code is 6 when records are missing. With PIPELINE and --propose-offsets, the records in the sink determine where
    a run without its checkpoint must start.
    """
    wanted = SparkOptions(**options)
    if write and not propose_offsets:
        raise click.UsageError("--write needs --propose-offsets")
    if propose_offsets:
        if name is None or cluster or topic or reached:
            raise click.UsageError("--propose-offsets needs a PIPELINE, and no --cluster, --topic and --reached")
        return _propose(name, config_file, wanted, output, from_first=from_first, write=write)
    if name is not None:
        if cluster or topic or from_first or reached:
            raise click.UsageError("PIPELINE cannot be combined with --cluster, --topic, --from-first and --reached")
        return _pipeline(name, config_file, wanted, output)
    if not (cluster and topic):
        raise click.UsageError("give a PIPELINE, or --cluster and --topic of a shipped topic")
    return _topic(
        through_tunnel(load_config(config_file).cluster(cluster)),
        topic,
        wanted,
        dict(map(_reached, reached)),
        output,
        from_first=from_first,
    )


def _topic(
    cluster: Cluster, topic: str, wanted: SparkOptions, reached: dict[str, int], output: str, *, from_first: bool
) -> int:
    from brokernat.pipelines.reading_back.shipped import reconcile_topic

    with proved_session(f"reconcile-{cluster.name}-{topic}", [cluster], {cluster.name: (topic,)}, wanted) as spark:
        read = reconcile_topic(spark, cluster, topic, reached=reached, from_first=from_first)
    if output == "json":
        console.json_data({"version": 1, "cluster": cluster.name, "topic": topic, **_shipped_data(read)})
    else:
        console.data(console.table(_SHIPPED, map(_shipped_line, read.sources)))
    for count, what in ((read.without_header, "without a sequence"), (read.unreadable, "with an unreadable sequence")):
        if count:
            console.note(f"{counted(count, 'record')} {what}")
    headless = any(account.first is not None and account.first > 1 for account in read.sources)
    advice = "if retention has removed the first records, add `--from-first` to verify the others"
    return _end(read.missing, advice if headless and not from_first else None)


def _pipeline(name: str, config_file: Path, wanted: SparkOptions, output: str) -> int:
    from brokernat.pipelines.prepared import Prepared
    from brokernat.pipelines.reading_back.delivered import reconcile_pipeline

    prepared = Prepared.of(load_config(config_file), name).with_clusters(through_tunnel)
    jars = prepared.driver_jars()
    with proved_session(f"reconcile-{name}", prepared.clusters, prepared.topics, wanted, jars) as spark:
        found = reconcile_pipeline(spark, prepared)
    if output == "json":
        rows = [asdict(one) | {"missing_ranges": _pairs(one)} for one in found]
        console.json_data({"version": 1, "pipeline": name, "partitions": rows})
    else:
        console.data(console.table(_DELIVERED, map(_delivered_line, found)))
    if not found:
        console.note(f"{name}: no batch is committed yet")
    return _end(sum(one.missing for one in found), None)


def _propose(name: str, config_file: Path, wanted: SparkOptions, output: str, *, from_first: bool, write: bool) -> int:
    from brokernat.pipelines.checkpoint.state import locked
    from brokernat.pipelines.prepared import Prepared
    from brokernat.pipelines.reading_back.proposal import as_offsets, propose_offsets

    prepared = Prepared.of(load_config(config_file), name).with_clusters(through_tunnel)
    with ExitStack() as stack:
        stack.enter_context(locked(prepared.state.local_folder(name)))
        spark = stack.enter_context(proved_session(f"reconcile-{name}", prepared.clusters, prepared.topics, wanted))
        found = propose_offsets(spark, prepared, from_first=from_first, write=write)
    if output == "json":
        rows = [asdict(one) | {"missing_ranges": _pairs(one)} for one in found]
        starting = {"partitions": rows, "starting_offsets": as_offsets(found), "written": write}
        console.json_data({"version": 1, "pipeline": name, **starting})
    else:
        console.data(console.table(_PROPOSED, map(_proposal_line, found)))
    repeated, missing = sum(one.repeated for one in found), sum(one.missing for one in found)
    made_up = f"delivers {counted(missing, 'missing record')} and repeats {counted(repeated, 'record')}"
    console.note(f"{name}: a run that starts at these offsets {made_up}")
    console.note(
        f"{name}: the next run starts there"
        if write
        else "nothing is written: `--write` makes the next run start there"
    )
    removed = sum(one.removed for one in found)
    if not removed:
        return 0
    message = f"the source has removed up to {counted(removed, 'record')} that are not in the sink"
    error = IncompleteError(message, hint="they are lost: no start offset can deliver them")
    console.report(error.report())
    return error.exit_code


def _end(missing: int, hint: str | None) -> int:
    if not missing:
        return 0
    error = IncompleteError(f"{counted(missing, 'record is', 'records are')} missing", hint=hint)
    console.report(error.report())
    return error.exit_code


def _reached(text: str) -> tuple[str, int]:
    source, slash, sequence = text.rpartition("/")
    if not (source and slash and sequence.isdecimal()):
        raise click.UsageError(f"--reached {text}: write SOURCE/SEQUENCE, as in the header `brokernat-seq`")
    return source, int(sequence)


def _shipped_line(account: SourceAccount) -> tuple[object, ...]:
    first, last = _known(account.first), _known(account.last)
    counts = (account.records, account.duplicates, account.missing)
    return (account.source, first, last, *counts, _ranges(account))


def _delivered_line(one: Delivered) -> tuple[object, ...]:
    counts = (one.records, one.delivered, one.duplicates, one.filtered, one.missing)
    return (f"{one.topic}/{one.partition}", _known(one.first), one.end, *counts, _ranges(one))


def _proposal_line(one: Proposal) -> tuple[object, ...]:
    counts = (one.first, _known(one.held_until), one.next, one.repeated, one.missing)
    return (f"{one.topic}/{one.partition}", *counts, _ranges(one))


def _known(number: int | None) -> object:
    return "-" if number is None else number


def _ranges(one: SourceAccount | Delivered | Proposal) -> str:
    shown = one.missing_ranges[:_RANGES_IN_TEXT]
    more = ["…"] if sum(map(len, shown)) < one.missing else []
    return " ".join([*map(str, shown), *more])


def _pairs(one: SourceAccount | Delivered | Proposal) -> list[list[int]]:
    return [[span.first, span.last] for span in one.missing_ranges]


def _shipped_data(read: Shipped) -> dict[str, object]:
    sources = [asdict(account) | {"missing_ranges": _pairs(account)} for account in read.sources]
    counts = {"missing": read.missing, "without_header": read.without_header, "unreadable": read.unreadable}
    return counts | {"sources": sources}
