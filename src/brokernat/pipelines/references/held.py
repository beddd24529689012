"""References in the memory of every executor, for as long as a version is current.

For each batch of a stream, Spark builds the table of a broadcast join again: it reads the reference and sends it to
executors while tasks wait. Here Spark plans one broadcast join per version, only the table of it is built, and a
function looks up keys in that (`LookupFunction.java`). Spark joins references that are too large or have a key of
another type.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.functions import call
from brokernat.clients.spark.session import ClassicSession
from brokernat.config.record_schema import quoted
from brokernat.pipelines.steps.enrich import by_key

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SHARE = 10
"""A held reference takes at most this fraction (1/n) of the memory of the driver or of an executor."""


@dataclass(frozen=True, slots=True)
class HeldReference:
    """A function from a key to the row of a version. Executors keep its table while this object or a query uses it."""

    version: str
    name: str
    key_type: str
    unique: bool
    """Whether no key has two rows; otherwise the table must not be used."""
    spark: SparkSession = field(repr=False)
    table: object = field(repr=False)
    """The object in the JVM that keeps the table."""

    def __call__(self, key: Column) -> Column:
        return call(self.spark, "lookup", (self.name,), key.cast(self.key_type))


def hold(spark: SparkSession, frame: DataFrame, key: str, *, version: str, rows: int) -> HeldReference | None:
    """Builds the table of a version.

    Args:
        frame: the rows of the version.
        key: the key column of `frame`.
        version: `Snapshot.id`.
        rows: the number of rows.

    Returns:
        None if Spark must join the reference.
    """
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import ByteType, IntegerType, LongType, ShortType, StringType

    declared = frame.schema[key].dataType
    if declared == StringType():
        kind = "string"
    elif isinstance(declared, ByteType | ShortType | IntegerType | LongType):
        kind = "bigint"
    else:
        return None
    session = ClassicSession(spark)
    table = by_key(frame.withColumn(key, F.col(quoted(key)).cast(kind)), key)
    java: Any = table._jdf  # noqa: SLF001 - Python has no size of a row
    if rows * java.schema().defaultSize() > _memory(session) / _SHARE:
        return None
    one_row = spark.range(1).select(F.col("id").cast(kind).alias("id"))
    joined = one_row.join(F.broadcast(table), one_row["id"] == table[table.columns[0]], "left")
    relation = _broadcast(_prepared(session, joined))
    if relation is None:
        return None
    name = f"{version}-{uuid.uuid4().hex[:8]}"
    columns = java.schema().apply(1).dataType().json()
    held = session.jvm.io.brokernat.spark.LookupFunction.hold(name, relation, columns)
    return HeldReference(version, name, kind, bool(relation.value().keyIsUnique()), spark, held)


def _memory(session: ClassicSession) -> int:
    """The memory of the driver or of an executor, whichever is less; bytes."""
    driver = int(session.jvm.java.lang.Runtime.getRuntime().maxMemory())
    return driver if session.is_local else min(driver, session.executor_memory)


def _prepared(session: ClassicSession, frame: DataFrame) -> Any:
    """The plan of a frame without adaptive execution, which would plan while it runs: as Spark prepares a subquery."""
    executions: Any = session.jvm.org.apache.spark.sql.execution
    java: Any = frame._jdf  # noqa: SLF001 - Python has no access to plans
    return executions.QueryExecution.prepareExecutedPlan(java.sparkSession(), java.queryExecution().sparkPlan())


def _broadcast(plan: Any) -> Any:
    """The table of a plan's broadcast join; None if Spark planned another join."""
    if plan.getClass().getSimpleName() == "BroadcastExchangeExec":
        return plan.executeBroadcast()
    children = plan.children()
    tables = (_broadcast(children.apply(index)) for index in range(children.size()))
    return next((table for table in tables if table is not None), None)
