"""`brokernat pipeline check` and `pipeline run`.

A running pipeline shows one live line on a terminal, a line per batch elsewhere, and JSON lines with `--format json`.
"""

from __future__ import annotations

import json
import queue
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import load_config, through_tunnel
from brokernat.cli.options import Group, config_option, format_option
from brokernat.cli.reconcile import reconcile
from brokernat.cli.signals import FINISHING, StopSignals
from brokernat.cli.spark import SparkOptions, executor_findings, pipeline_session, report_findings, with_spark
from brokernat.clients.spark import Proof
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.check_result import CheckResult, Level, Preflight, as_rows
from brokernat.pipelines.pipeline import Run
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.realtime import EpochRun
from brokernat.plurals import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    Show = Callable[[Progress, BatchReport | None], None]


@click.group(cls=Group)
def pipeline() -> None:
    """Check, run and verify the pipelines of brokernat.yaml on Spark."""


pipeline.add_command(reconcile)


@pipeline.command()
@click.argument("name")
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
        found, proof = _preflight(spark, prepared, wanted)
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
@click.argument("name")
@config_option
@format_option
@click.option("--once", is_flag=True, help="Process the records that are there now, then end.")
@with_spark
def run(name: str, config_file: Path, output: str, once: bool, **options: Any) -> int:
    """Run a pipeline until it is stopped.

    SIGTERM or Ctrl-C lets the batch finish; a second one ends the run at once. A run does not start where `check`
    reports an error.
    """
    from brokernat.clients.spark import watch
    from brokernat.pipelines.pipeline import check_once, start

    prepared, wanted = _prepare(config_file, name), SparkOptions(**options)
    check_once(prepared, once=once)
    reports: queue.SimpleQueue[BatchReport] = queue.SimpleQueue()
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        spark = stack.enter_context(pipeline_session(prepared, wanted))
        signals.reinstall()
        found, proof = _preflight(spark, prepared, wanted)
        proof.raise_for_failures()
        _report_results(result for result in found.results if result.level != "ok")
        if found.exit_code:
            return found.exit_code
        console.note(f"proved: {counted(len(proof.rows), 'endpoint')} from {counted(len(proof.executors), 'JVM')}")
        running = start(spark, prepared.with_profiles(found.profiles), reports.put, once=once)
        signals.call_on_first(running.stop)
        unproved: list[Proof] = []

        def stop_for(newcomer: Proof) -> None:
            unproved.append(newcomer)
            running.stop()

        with watch(spark, prepared.clusters, proof, stop_for, topics=prepared.topics, timeout=wanted.proof_timeout):
            progress = _show_until_end(running, reports, output, signals)
        for newcomer in unproved:
            newcomer.raise_for_failures()
    console.note(f"{name}: {progress.counts} in {counted(progress.batches, 'batch', 'batches')}")
    return 128 + signals.received if signals.received else 0


def _prepare(config_file: Path, name: str) -> Prepared:
    return Prepared.of(load_config(config_file), name).with_clusters(through_tunnel)


def _preflight(spark: SparkSession, prepared: Prepared, wanted: SparkOptions) -> tuple[Preflight, Proof]:
    """What can be known before the start. An executor that does not answer would keep the steps waiting for ever.

    Where the driver is the only executor, the steps are tried meanwhile: brokers are waited for, references are read.
    """
    from concurrent.futures import ThreadPoolExecutor

    from brokernat.clients.spark import prove
    from brokernat.clients.spark.session import ClassicSession
    from brokernat.pipelines.preflight import look_at_clusters, not_provable, task_slots, try_steps

    console.note("connecting from the driver and every executor to every broker")
    with ThreadPoolExecutor(1) as pool:
        tried = pool.submit(try_steps, spark, prepared) if ClassicSession(spark).is_local else None
        found = look_at_clusters(spark, prepared)
        proof = prove(spark, prepared.clusters, topics=found.topics, timeout=wanted.proof_timeout)
        found = found.and_then(not_provable(proof, prepared.clusters))
        if tried or proof.complete:
            found = found.and_then(task_slots(spark, prepared, found.partitions))
            return found.and_then(tried.result() if tried else try_steps(spark, prepared)), proof
    skipped = CheckResult("steps", Level.WARNING, "not checked: an executor has not answered")
    return found.and_then([skipped]), proof


def _report_results(results: Iterable[CheckResult]) -> None:
    for result in results:
        hint = f"\nhint: {result.hint}" if result.hint else ""
        console.report(f"{result.level.value}: {result.subject}: {result.message}{hint}")


def _show_until_end(
    running: Run | EpochRun, reports: queue.SimpleQueue[BatchReport], output: str, signals: StopSignals
) -> Progress:
    progress = Progress()
    with display(output) as show:
        alive, announced = True, False
        while alive:
            alive = running.poll()
            if alive and signals.received and not announced:
                announced = True
                console.note(FINISHING)
            progress = progress.with_lag(running.progress())
            while not reports.empty():
                report = reports.get()
                progress = progress.after(report)
                show(progress, report)
            show(progress, None)
    return progress


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
