"""The Spark session of a command, and where its logs go: into a pipeline's own folder, or where logs without one go.

A session reaches the clusters through their maps, which nobody has proved yet.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from brokernat.cli import console
from brokernat.cli.spark_options import SparkOptions
from brokernat.config import Cluster
from brokernat.errors import MissingToolError
from brokernat.pipelines.prepared import Prepared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def user_session(name: str, clusters: Sequence[Cluster], wanted: SparkOptions) -> Iterator[SparkSession]:
    """For a command that belongs to no pipeline.

    Raises:
        MissingToolError: no PySpark, no Java, no agent, no connector.
        ConfigError: see `clients.spark.configure`.
    """
    from brokernat.pipelines.state import user_folder

    with _session(name, clusters, user_folder(name), wanted) as spark:
        yield spark


@contextmanager
def pipeline_session(prepared: Prepared, wanted: SparkOptions) -> Iterator[SparkSession]:
    """For a pipeline, which nobody else may run meanwhile; our own log goes beside Spark's.

    Raises:
        ConfigError: another process runs it; or see `clients.spark.configure`.
        MissingToolError: no PySpark, no Java, no agent, no connector.
    """
    from brokernat.pipelines.state import locked

    name = prepared.pipeline.name
    folder = prepared.state.local_folder(name)
    with (
        locked(folder),
        _logging(folder / "pipeline.log"),
        _session(name, prepared.clusters, folder, wanted) as spark,
    ):
        yield spark


@contextmanager
def _session(name: str, clusters: Sequence[Cluster], folder: Path, wanted: SparkOptions) -> Iterator[SparkSession]:
    from brokernat.clients.spark import Loader
    from brokernat.pipelines.session import SPARK_LOG, start_session

    settings = wanted.settings
    console.note(f"starting Spark; its log is {folder / SPARK_LOG}")
    try:
        spark = start_session(
            name,
            clusters,
            folder,
            master=wanted.master,
            settings=settings,
            loader=Loader(wanted.loader),
            agent_path=wanted.agent_path,
        )
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        raise MissingToolError("PySpark is not installed", hint="pip install 'brokernat[spark]'") from None
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _logging(file: Path) -> Iterator[None]:
    """Our own log: everything into a file, warnings to the terminal as well."""
    logger = logging.getLogger("brokernat")
    everything = logging.FileHandler(file)
    everything.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    warnings = _ConsoleHandler(logging.WARNING)
    logger.setLevel(logging.INFO)
    logger.addHandler(everything)
    logger.addHandler(warnings)
    try:
        yield
    finally:
        logger.removeHandler(everything)
        logger.removeHandler(warnings)
        everything.close()


class _ConsoleHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        console.note(f"{record.levelname.lower()}: {record.getMessage()}")
