"""A Spark session for a command that belongs to no pipeline; its log goes where logs without a folder go."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from brokernat.cli import console
from brokernat.errors import MissingToolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from brokernat.cli.spark_options import SparkOptions
    from brokernat.config import Cluster


@contextmanager
def user_session(name: str, clusters: Sequence[Cluster], wanted: SparkOptions) -> Iterator[SparkSession]:
    """A session that reaches the clusters through their maps, which nobody has proved yet.

    Raises:
        MissingToolError: no PySpark, no Java, no agent, no connector.
        ConfigError: see `clients.spark.configure`.
    """
    from brokernat.clients.spark import Loader
    from brokernat.pipelines.session import SPARK_LOG, start_session
    from brokernat.pipelines.state import user_folder

    folder = user_folder(name)
    console.note(f"starting Spark; its log is {folder / SPARK_LOG}")
    try:
        spark = start_session(
            name,
            clusters,
            folder,
            master=wanted.master,
            settings=wanted.settings,
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
