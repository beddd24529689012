"""The functions of `native/spark-functions` as columns.

They are functions of a catalog (SPARK-27658), so PySpark reaches them by name and no value is converted on its way. A
function's settings are parts of its name, because Spark binds a function to the types of its arguments alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.clients.spark.session import class_visible
from brokernat.clients.spark.settings import CATALOG, CATALOG_KEY, FUNCTIONS_CLASS
from brokernat.errors import MissingToolError

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


def call(spark: SparkSession, function: str, settings: tuple[str, ...], *arguments: Column) -> Column:
    """A function of `brokernat-spark.jar`, applied.

    Raises:
        MissingToolError: the session has started without the jar.
    """
    from pyspark.sql import functions as F  # noqa: N812

    if spark.conf.get(CATALOG_KEY, None) != FUNCTIONS_CLASS:
        _require_functions(spark, function)
        spark.conf.set(CATALOG_KEY, FUNCTIONS_CLASS)
    return F.call_function(".".join((CATALOG, function, *map(_quoted, settings))), *arguments)


def time_zone(spark: SparkSession) -> str:
    """The session's, for functions that read or write times."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None  # noqa: S101 - it has a default
    return zone


def _require_functions(spark: SparkSession, function: str) -> None:
    """A Connect client sees no classes: there, Spark's own error names the one that is missing."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is not None and not class_visible(jvm, FUNCTIONS_CLASS):
        raise MissingToolError(
            f"this Spark session has no `{function}`: its JVM has started without brokernat-spark.jar",
            hint="call configure(builder, clusters) before the session starts, or name the jar in `spark.jars`: "
            "`brokernat spark-packages` prints its path",
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
