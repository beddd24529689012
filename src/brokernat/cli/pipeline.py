"""`brokernat pipeline check` and `pipeline run`.

A running pipeline shows one live line on a terminal, otherwise a line per batch (or per few seconds), and JSON lines
with `--format json`. With `--log-format json` stderr has JSON lines, with all details of a batch.
"""

from __future__ import annotations

import json
import math
import queue
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brokernat.address import Endpoint
from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import load_config, through_tunnel
from brokernat.cli.options import LISTEN_ENDPOINT, PIPELINE, Group, config_option, format_option
from brokernat.cli.reconcile import reconcile
from brokernat.cli.replay import replay
from brokernat.cli.signals import FINISHING, StopSignals
from brokernat.cli.spark import SparkOptions, executor_findings, pipeline_session, report_findings, with_spark
from brokernat.clients.spark import Proof
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.check_result import CheckResult, Level, Preflight, as_rows
from brokernat.pipelines.kafka.group_offsets import GroupOffsets, group_offsets
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.status.board import StatusBoard
from brokernat.pipelines.status.json_v1 import batch_v1, progress_v1, proof_v1
from brokernat.pipelines.status.server import serving
from brokernat.pipelines.supervised import SupervisedRun
from brokernat.text import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Show = Callable[[Progress, BatchReport | None], None]


@click.group(cls=Group)
def pipeline() -> None:
    """Check, run, replay and reconcile the pipelines of brokernat.yaml on Spark."""


pipeline.add_command(reconcile)
pipeline.add_command(replay)


@pipeline.command()
@click.argument("name", type=PIPELINE)
@config_option
@format_option
@with_spark
def check(name: str, config_file: Path, output: str, **options: Any) -> int:
    """Check everything that a run needs, and change nothing.

    The checks cover the map on the driver and every executor, topics, ACLs, record sizes, the checkpoint, references
    and the transform.
    """
    from brokernat.doctor.reports.json_v1 import finding_v1

    prepared, wanted = _prepare(config_file, name), SparkOptions(**options)
    with pipeline_session(prepared, wanted) as spark:
        found, proof = _preflight(spark, prepared, prepared.references(), wanted)
    findings = executor_findings(proof, prepared.clusters)
    headings, lines = proof.table()
    if output == "json":
        rows = [dict(zip(headings, line, strict=True)) for line in lines]
        silent = {"missing": proof.missing, "unregistered": proof.unregistered}
        judged = [{"cluster": cluster} | finding_v1(finding) for cluster, finding in findings]
        answer = {"proof": rows, **silent, "findings": judged, "checks": as_rows(found.results)}
        console.json_data({"version": 1, "pipeline": name, **answer})
    else:
        console.data(console.table(headings, lines))
        console.data("")
        console.data(
            console.table(("check", "", "found"), [(r.subject, r.level.value, r.message) for r in found.results])
        )
        _report_results(result for result in found.results if result.hint)
        report_findings(findings)
        if not proof.ok:
            hint = f"\nhint: {proof.hint}" if proof.hint else ""
            console.report(f"error: {proof.verdict}{hint}")
    return found.exit_code or (0 if proof.ok else exit_codes.FINDINGS)


@pipeline.command()
@click.argument("name", type=PIPELINE)
@config_option
@format_option
@click.option("--once", is_flag=True, help="Process the present records, then exit.")
@click.option(
    "--status",
    "listen",
    metavar="[HOST:]PORT",
    type=LISTEN_ENDPOINT,
    help="Serve the status page, /metrics and /health; a port alone is one of 127.0.0.1.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the log on stderr.",
)
@with_spark
def run(
    name: str,
    config_file: Path,
    output: str,
    once: bool,
    listen: Endpoint | None,
    log_format: str,
    **options: Any,
) -> int:
    """Run a pipeline until it is stopped.

    SIGTERM or Ctrl-C lets the batch finish; a second one ends the run at once. A run does not start where `check`
    reports an error.
    """
    from brokernat.clients.spark import watch
    from brokernat.pipelines.pipeline import check_once

    console.log_as_json(log_format == "json")
    prepared, wanted = _prepare(config_file, name), SparkOptions(**options)
    check_once(prepared, once=once)
    board = StatusBoard(prepared.pipeline)
    reports: queue.SimpleQueue[BatchReport] = queue.SimpleQueue()
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        if endpoint := listen or prepared.pipeline.status:
            stack.enter_context(serving(endpoint, board))
            console.note(f"status page: http://{endpoint}/")
        spark = stack.enter_context(pipeline_session(prepared, wanted))
        signals.reinstall()
        references = prepared.references()
        found, proof = _preflight(spark, prepared, references, wanted)
        proof.raise_for_failures()
        _report_results(result for result in found.results if result.level != "ok")
        if found.exit_code:
            return found.exit_code
        board.prove(proof)
        proved = f"proved: {counted(len(proof.rows), 'endpoint')} from {counted(len(proof.executors), 'JVM')}"
        console.event(proved, proof_v1(board.status))
        running = SupervisedRun(
            spark, prepared.with_profiles(found.profiles), reports.put, references=references, once=once
        )
        signals.call_on_first(running.stop)
        board.begin(spark, prepared)
        unproved: list[Proof] = []

        def stop_for(newcomer: Proof) -> None:
            unproved.append(newcomer)
            running.stop()

        newcomers = watch(
            spark,
            prepared.clusters,
            proof,
            stop_for,
            on_success=board.prove,
            topics=prepared.topics,
            timeout=wanted.proof_timeout,
        )
        with newcomers, board.until_the_end(), group_offsets(spark, prepared) as group:
            progress = _show_until_end(running, reports, display(output, log_format), signals, board, group)
        for newcomer in unproved:
            newcomer.raise_for_failures()
    console.note(f"{name}: {progress.counts} in {counted(progress.batches, 'batch', 'batches')}")
    return 128 + signals.received if signals.received else 0


def _prepare(config_file: Path, name: str) -> Prepared:
    return Prepared.of(load_config(config_file), name).with_clusters(through_tunnel)


def _preflight(
    spark: SparkSession, prepared: Prepared, references: Sequence[ReferenceTable], wanted: SparkOptions
) -> tuple[Preflight, Proof]:
    """All checks before a run. If an executor does not answer, the steps are not checked, because they would wait.

    If the driver is the only executor, steps and brokers are checked concurrently.
    """
    from concurrent.futures import ThreadPoolExecutor

    from brokernat.clients.spark import prove
    from brokernat.clients.spark.session import ClassicSession
    from brokernat.pipelines.preflight import check_clusters, not_provable, task_slots, try_steps

    console.note("connecting from the driver and every executor to every broker")
    with ThreadPoolExecutor(1) as pool:
        tried = pool.submit(try_steps, spark, prepared, references) if ClassicSession(spark).is_local else None
        found = check_clusters(spark, prepared)
        proof = prove(spark, prepared.clusters, topics=found.topics, timeout=wanted.proof_timeout)
        found = found.and_then(not_provable(proof, prepared.clusters))
        if tried or proof.complete:
            found = found.and_then(task_slots(spark, prepared, found.partitions, wanted.proof_timeout))
            steps = tried.result() if tried else try_steps(spark, prepared, references)
            return found.and_then(steps), proof
    skipped = CheckResult("steps", Level.WARNING, "not checked: an executor has not answered")
    return found.and_then([skipped]), proof


def _report_results(results: Iterable[CheckResult]) -> None:
    for result in results:
        hint = f"\nhint: {result.hint}" if result.hint else ""
        console.report(f"{result.level.value}: {result.subject}: {result.message}{hint}")


def _show_until_end(
    running: SupervisedRun,
    reports: queue.SimpleQueue[BatchReport],
    shown: AbstractContextManager[Show],
    signals: StopSignals,
    board: StatusBoard,
    group: GroupOffsets | None,
) -> Progress:
    progress = Progress()
    trouble: str | None = None
    with shown as show:
        alive, announced = True, False
        while alive:
            alive = running.poll()
            if alive and signals.received and not announced:
                announced = True
                console.note(FINISHING)
                board.finish()
            progress = progress.with_reports(running.reports(progress.committed))
            while not reports.empty():
                report = reports.get()
                progress = progress.after(report)
                show(progress, report)
            show(progress, None)
            board.follow(progress, running.activity(), running.failures)
            if group:
                group.follow(progress)
            if alive and bool(found := board.trouble()) != bool(trouble):
                trouble = found
                console.report(f"warning: {trouble}" if trouble else "the run is making progress again")
    if group:
        group.end(progress)
    return progress


@contextmanager
def display(output: str, log_format: str = "text") -> Iterator[Show]:
    """The function to call after each batch with its report, and periodically without one."""
    if output == "json":
        yield _show_json
    elif log_format == "json":
        yield from _log_batches()
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(Text(WAITING), console=Console(stderr=True), refresh_per_second=4) as live:
            yield lambda progress, _: live.update(Text(summary(progress)))
    else:
        yield from _lines()


WAITING = "waiting for the first batch"
_LINE_SECONDS = 5.0


def summary(progress: Progress) -> str:
    """A run in one line."""
    if not progress.batches:
        return WAITING
    return f"batch {progress.last_batch}: {progress.counts}; {_pace(progress)}"


def _pace(progress: Progress) -> str:
    behind = "" if progress.lag is None else f", lag {progress.lag}"
    return f"{progress.rate:.0f} records/s{behind}"


def _line(progress: Progress, reports: Sequence[BatchReport]) -> str:
    first, last = reports[0], reports[-1]
    if first is last:
        return f"batch {last.batch_id}: {last.counts}; {_pace(progress)}"
    together = reduce(Progress.after, reports, Progress())
    rate = together.counts.received / together.seconds if together.seconds else 0.0
    return f"batches {first.batch_id} to {last.batch_id}: {together.counts}; {_pace(replace(progress, rate=rate))}"


def _show_json(progress: Progress, report: BatchReport | None) -> None:
    if report:
        console.data(json.dumps({"version": 1, **batch_v1(progress, report)}))


def _lines() -> Iterator[Show]:
    """Prints a line for a batch, or for all batches of the last seconds if they are fast."""
    waiting: list[BatchReport] = []
    latest, printed = Progress(), -math.inf

    def show(progress: Progress, report: BatchReport | None) -> None:
        nonlocal latest, printed
        latest = progress
        if report:
            waiting.append(report)
        if waiting and time.monotonic() - printed >= _LINE_SECONDS:
            tell()
            printed = time.monotonic()

    def tell() -> None:
        console.note(_line(latest, waiting))
        waiting.clear()

    try:
        yield show
    finally:
        if waiting:
            tell()


def _log_batches() -> Iterator[Show]:
    """Logs each batch after Spark's report, with its offsets and the time of each step."""
    written: deque[BatchReport] = deque()

    def show(progress: Progress, report: BatchReport | None) -> None:
        written.extend([report] if report else [])
        while written and progress.committed is not None and written[0].batch_id <= progress.committed:
            one = written.popleft()
            console.event(_line(progress, [one]), {**batch_v1(progress, one), **progress_v1(progress, time.time())})

    yield show
