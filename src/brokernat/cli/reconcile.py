"""`brokernat pipeline reconcile`: read back what was written and say what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.options import config_option, format_option
from brokernat.cli.spark_options import SparkOptions, with_spark

if TYPE_CHECKING:
    from pathlib import Path

    from brokernat.config import Cluster
    from brokernat.pipelines.reconcile import Account
    from brokernat.pipelines.shipped import Shipped

_HEADINGS = ("source", "first", "last", "records", "duplicates", "missing", "missing ranges")
_RANGES_IN_TEXT = 5


@click.command(short_help="Report gaps and duplicates of what was written.")
@click.option("--cluster", metavar="NAME", required=True, help="The cluster that holds the topic.")
@click.option("--topic", required=True, help="A topic that brokernat has shipped to.")
@click.option("--from-first", is_flag=True, help="Begin at each source's first record: retention removed those before.")
@click.option("--reached", multiple=True, metavar="SOURCE/SEQUENCE", help="How far a source got; repeatable.")
@config_option
@format_option
@with_spark
def reconcile(
    cluster: str,
    topic: str,
    from_first: bool,
    reached: tuple[str, ...],
    config_file: Path,
    output: str,
    **options: Any,
) -> int:
    """Read a shipped topic with Spark and report gaps and duplicates of each source; 6 where records are missing."""
    from brokernat.config import load

    wanted, expected = SparkOptions(**options), dict(map(_reached, reached))
    read = _read(load(config_file).cluster(cluster), topic, wanted, expected, from_first=from_first)
    if output == "json":
        console.json_data({"version": 1, "cluster": cluster, "topic": topic, **_as_data(read)})
    else:
        console.data(console.table(_HEADINGS, map(_line, read.sources)))
    for count, what in ((read.without_header, "without a sequence"), (read.unreadable, "with an unreadable sequence")):
        if count:
            console.note(f"{count} records {what}")
    if not read.missing:
        return 0
    console.report(f"error: {read.missing} records are missing{_advice(read, from_first=from_first)}")
    return exit_codes.INCOMPLETE


def _read(cluster: Cluster, topic: str, wanted: SparkOptions, reached: dict[str, int], *, from_first: bool) -> Shipped:
    from brokernat.clients.spark import Loader, prove
    from brokernat.pipelines.session import SPARK_LOG, start_session
    from brokernat.pipelines.shipped import reconcile_topic
    from brokernat.pipelines.state import user_folder

    name = f"reconcile-{cluster.name}-{topic}"
    folder = user_folder(name)
    console.note(f"starting Spark; its log is {folder / SPARK_LOG}")
    spark = start_session(
        name,
        [cluster],
        folder,
        master=wanted.master,
        settings=wanted.settings,
        loader=Loader(wanted.loader),
        agent_path=wanted.agent_path,
    )
    try:
        prove(spark, [cluster], topics={cluster.name: (topic,)}, timeout=wanted.proof_timeout).raise_for_failures()
        return reconcile_topic(spark, cluster, topic, reached=reached, from_first=from_first)
    finally:
        spark.stop()


def _reached(text: str) -> tuple[str, int]:
    source, slash, sequence = text.rpartition("/")
    if not (source and slash and sequence.isdecimal()):
        raise click.UsageError(f"--reached {text}: write SOURCE/SEQUENCE, as the header `brokernat-seq` has it")
    return source, int(sequence)


def _line(account: Account) -> tuple[object, ...]:
    shown = [str(span) for span in account.missing_ranges[:_RANGES_IN_TEXT]]
    if sum(map(len, account.missing_ranges[:_RANGES_IN_TEXT])) < account.missing:
        shown.append("…")
    first, last = ("-" if number is None else number for number in (account.first, account.last))
    return (account.source, first, last, account.records, account.duplicates, account.missing, " ".join(shown))


def _as_data(read: Shipped) -> dict[str, object]:
    sources = [
        asdict(account) | {"missing_ranges": [[span.first, span.last] for span in account.missing_ranges]}
        for account in read.sources
    ]
    return {"missing": read.missing, "without_header": read.without_header, "unreadable": read.unreadable} | {
        "sources": sources
    }


def _advice(read: Shipped, *, from_first: bool) -> str:
    headless = [account.source for account in read.sources if account.first is not None and account.first > 1]
    if from_first or not headless:
        return ""
    return "\n\nhint: where the topic's retention has removed its beginning, `--from-first` judges what is left"
