"""The steps of a pipeline on one small Spark without Kafka, and records made by hand."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.spark.standalone import C1

from brokernat.jvm import find_java, resolve, spark_functions_jar, spark_java_home
from brokernat.pipelines.references.database import DRIVERS
from brokernat.pipelines.steps.envelope import envelop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)
AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("JAVA_HOME", str(spark_java_home(find_java(17))))
        (postgresql,) = resolve([DRIVERS["postgresql"].coordinate], transitive=False)
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            # Each of these hundreds of small queries would be compiled first; those of whole pipelines are.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.driver.extraJavaOptions", C1)
            .config("spark.jars", f"{spark_functions_jar()},{postgresql}")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        _limit_variants(session)
        yield session
        session.stop()


def _limit_variants(session: SparkSession) -> None:
    """Spark's own tests have a limit of 16 MiB in place of 128, which is read once."""
    java: Any = session._jvm.java.lang  # type: ignore[union-attr]
    java.System.setProperty("spark.testing", "1")
    loader = java.Thread.currentThread().getContextClassLoader()
    java.Class.forName("org.apache.spark.types.variant.VariantUtil", True, loader)
    java.System.clearProperty("spark.testing")


@pytest.fixture
def records(spark: SparkSession) -> Callable[..., DataFrame]:
    """`records(values, key=..., headers=...)`: what Spark's Kafka source gives, offsets from 0 on."""

    def make(
        values: Sequence[bytes | str | None],
        key: bytes | None = b"k",
        headers: list[tuple[str, bytes | None]] | None = None,
    ) -> DataFrame:
        rows = [
            (key, value.encode() if isinstance(value, str) else value, "orders", 0, offset, AT, headers)
            for offset, value in enumerate(values)
        ]
        return spark.createDataFrame(rows, RECORDS)

    return make


@pytest.fixture
def envelopes(records: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """`records`, in their envelope, of the cluster `cid`."""

    def make(*args: object, **kwargs: object) -> DataFrame:
        return envelop(records(*args, **kwargs), "cid")

    return make
