"""The common parts of commands that start Spark: options, session, and the doctor's findings about the proof.

A session uses the clusters' maps, which are not proved yet. Its log is in the pipeline's folder, or in the user's
folder for a command without a pipeline.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from brokernat.cli import console
from brokernat.cli.options import Seconds
from brokernat.clients.spark import Proof
from brokernat.config import Cluster
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding
from brokernat.pipelines.prepared import Prepared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOADERS = click.Choice(["auto", "javaagent", "reporter"])
_SPARK_OPTIONS = [
    click.option("--master", help="Spark's master; default: spark-defaults.conf, else this machine."),
    click.option("--conf", multiple=True, metavar="NAME=VALUE", help="A Spark setting; repeatable."),
    click.option(
        "--loader", type=_LOADERS, default="auto", show_default=True, help="How the agent gets into the JVMs."
    ),
    click.option("--agent-path", metavar="JAR", help="The agent jar's absolute path on every host with an executor."),
    click.option(
        "--proof-timeout",
        type=Seconds(0, min_open=True),
        default=60.0,
        show_default=True,
        help="Seconds that all executors have to answer.",
    ),
]


@dataclass(frozen=True)
class SparkOptions:
    """The values of `with_spark`'s options, by the same names."""

    master: str | None
    conf: tuple[str, ...]
    loader: str
    agent_path: str | None
    proof_timeout: float

    @property
    def settings(self) -> dict[str, str]:
        """`--conf` by name.

        Raises:
            click.UsageError: a value is not NAME=VALUE.
        """
        if bad := [setting for setting in self.conf if "=" not in setting]:
            raise click.UsageError(f"--conf {bad[0]}: write NAME=VALUE")
        return dict(setting.split("=", 1) for setting in self.conf)


def with_spark(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--master`, `--conf`, `--loader`, `--agent-path`, `--proof-timeout`."""
    for option in reversed(_SPARK_OPTIONS):
        command = option(command)
    return command


@contextmanager
def user_session(
    name: str, clusters: Sequence[Cluster], wanted: SparkOptions, jars: Sequence[Path] = ()
) -> Iterator[SparkSession]:
    """The session of a command without a pipeline; `jars` are added to the connector's.

    Raises:
        MissingToolError: no PySpark, no Java, no agent, no connector.
        ConfigError: see `clients.spark.configure`.
    """
    from brokernat.pipelines.checkpoint.state import user_folder

    with _session(name, clusters, user_folder(name), wanted, jars) as spark:
        yield spark


@contextmanager
def proved_session(
    name: str,
    clusters: Sequence[Cluster],
    topics: Mapping[str, Sequence[str]],
    wanted: SparkOptions,
    jars: Sequence[Path] = (),
) -> Iterator[SparkSession]:
    """The session of a command that may run beside a pipeline; the maps of its clusters are proved.

    Raises:
        ProofFailedError: a JVM does not reach a broker, or has another map.
        ConfigError, MissingToolError: see `pipeline_session`.
    """
    from brokernat.clients.spark import prove
    from brokernat.pipelines.session import require_spark

    require_spark()
    with user_session(name, clusters, wanted, jars) as spark:
        prove(spark, clusters, topics=topics, timeout=wanted.proof_timeout).raise_for_failures()
        yield spark


@contextmanager
def pipeline_session(prepared: Prepared, wanted: SparkOptions) -> Iterator[SparkSession]:
    """The session of a pipeline, with a lock against a second run; brokernat's log is beside Spark's.

    Raises:
        ConfigError: another process runs it, or a path that Spark would not find; see also `clients.spark.configure`.
        MissingToolError: no PySpark, no Java, no agent, no connector.
    """
    from brokernat.pipelines.checkpoint.files import Files
    from brokernat.pipelines.checkpoint.state import locked
    from brokernat.pipelines.session import require_spark

    require_spark(prepared.pipeline.mode)
    name = prepared.pipeline.name
    folder = prepared.state.local_folder(name)
    with (
        locked(folder),
        _log_to_file(folder / "pipeline.log"),
        _session(name, prepared.clusters, folder, wanted, prepared.driver_jars()) as spark,
    ):
        Files(spark).require_named(prepared.paths)
        yield spark


@contextmanager
def _session(
    name: str, clusters: Sequence[Cluster], folder: Path, wanted: SparkOptions, jars: Sequence[Path] = ()
) -> Iterator[SparkSession]:
    from brokernat.clients.spark import Loader
    from brokernat.clients.spark.environment import installed_spark
    from brokernat.pipelines.session import SPARK_LOG, start_session

    settings = wanted.settings
    installed_spark()
    console.note(f"starting Spark; its log is {folder / SPARK_LOG}")
    spark = start_session(
        name,
        clusters,
        folder,
        master=wanted.master,
        settings=settings,
        loader=Loader(wanted.loader),
        agent_path=wanted.agent_path,
        jars=jars,
    )
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _log_to_file(file: Path) -> Iterator[None]:
    """Writes brokernat's log to a file, and warnings also to the terminal."""
    everything = logging.FileHandler(file)
    everything.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    with closing(everything), console.log_to(everything, _ConsoleHandler(logging.WARNING)):
        yield


class _ConsoleHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        console.note(f"{record.levelname.lower()}: {record.getMessage()}")


def executor_options(options: Mapping[str, Any], *, on_executors: bool) -> SparkOptions | None:
    """Spark's options of a command that starts Spark optionally; None if it does not.

    Raises:
        click.UsageError: one of them is given but Spark is not started.
    """
    if on_executors:
        # Before the probes of the brokers, which take a while.
        from brokernat.clients.spark.environment import installed_spark

        installed_spark()
        return SparkOptions(**options)
    context = click.get_current_context()
    for name in options:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"`--{name.replace('_', '-')}` needs `--on-executors`")
    return None


def with_executors(evidence: Evidence, cluster: Cluster, wanted: SparkOptions) -> Evidence:
    """The evidence, with the results of each JVM of a Spark application added."""
    from brokernat.clients.spark import prove
    from brokernat.doctor.in_spark import executors_seen

    with user_session(f"doctor-{cluster.name}", [cluster], wanted) as spark:
        console.note("connecting from the driver and every executor to every broker")
        proof = prove(spark, [cluster], timeout=wanted.proof_timeout)
    return replace(evidence, executors=executors_seen(proof, cluster.name))


def executor_findings(proof: Proof, clusters: Iterable[Cluster]) -> list[tuple[str, CheckFinding]]:
    """The findings of a proof, each with the name of its cluster."""
    from brokernat.doctor.in_spark import findings

    return [(cluster.name, finding) for cluster in clusters for finding in findings(proof, cluster)]


def report_findings(found: Iterable[tuple[str, CheckFinding]]) -> None:
    """Print findings and their fixes to stderr."""
    for cluster, finding in found:
        hint = f"\nhint: {finding.hint}" if finding.hint else ""
        console.report(
            f"{finding.severity}: cluster {cluster}: {finding.subject} {finding.message} [{finding.code}]{hint}"
        )
