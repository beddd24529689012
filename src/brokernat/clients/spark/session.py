"""A running classic session: its registered executors, and Java functions that run on each of them.

A job with many tasks may not reach every executor: if one is busy, Spark runs all tasks on the others. So each executor
gets its own job with one task that prefers its location, and the caller checks which executors answered and retries.
Jobs run asynchronously, because a busy executor would otherwise delay all other answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.environment import connect_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER = "driver"


@dataclass(frozen=True)
class ClassicSession:
    """The JVM side of a `SparkSession`."""

    spark: SparkSession

    def __post_init__(self) -> None:
        if type(self.spark).__module__.startswith("pyspark.sql.connect"):
            raise connect_error("this session is a remote one")

    @property
    def jvm(self) -> Any:
        """The gateway's view of the driver's JVM."""
        return self.spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to py4j

    @property
    def gateway(self) -> Any:
        """py4j's gateway to the driver's JVM."""
        return self.spark.sparkContext._gateway  # noqa: SLF001

    @property
    def is_local(self) -> bool:
        """Whether the driver is the only executor."""
        return bool(self.spark.sparkContext._jsc.isLocal())  # noqa: SLF001

    @property
    def executor_memory(self) -> int:
        """The configured heap of each executor, in bytes."""
        return int(self._scala_context().executorMemory()) << 20

    def executors(self) -> dict[str, str]:
        """The host of each registered executor by id, "" while unknown; empty in local mode."""
        if self.is_local:
            return {}
        context = self._scala_context()
        ids = _elements(context.getExecutorIds())
        # The status store gets a new executor later than the scheduler; until then its host is unknown.
        summaries = _elements(context.statusStore().executorList(True))
        hosts = {summary.id(): summary.hostPort().rpartition(":")[0] for summary in summaries}
        return {name: hosts.get(name, "") for name in ids}

    def run_on(self, executor: str, host: str, function: Any) -> Any:
        """Start `function(executor)`, a UDF1 that returns text, on the executor if it is free; returns Spark's
        JavaFutureAction."""
        preferred = self._seq([f"executor_{host}_{executor}"])
        cells = self._array(self.jvm.java.lang.Object, [executor])
        row = self.jvm.scala.Tuple2(self.jvm.org.apache.spark.sql.RowFactory.create(cells), preferred)
        tag = self.spark.sparkContext._jsc.emptyRDD().classTag()  # noqa: SLF001
        rdd = self.jvm.org.apache.spark.api.java.JavaRDD(self._scala_context().makeRDD(self._seq([row]), tag), tag)
        schema = self.jvm.org.apache.spark.sql.types.StructType.fromDDL("executor STRING")
        frame = self.spark._jsparkSession.createDataFrame(rdd, schema)  # noqa: SLF001
        answer = self._udf(function).apply(self._seq([frame.col("executor")]))
        return frame.select(self._seq([answer])).javaRDD().collectAsync()

    def _udf(self, function: Any) -> Any:
        # Called by reflection, because py4j may choose the overload of `functions.udf` for Scala, which fails.
        java = self.jvm.java.lang
        types = ["org.apache.spark.sql.api.java.UDF1", "org.apache.spark.sql.types.DataType"]
        udf = java.Class.forName("org.apache.spark.sql.functions").getMethod(
            "udf", self._array(java.Class, [java.Class.forName(name) for name in types])
        )
        text = self.jvm.org.apache.spark.sql.types.DataTypes.StringType
        return udf.invoke(None, self._array(java.Object, [function, text]))

    def _array(self, kind: Any, values: list[Any]) -> Any:
        array = self.gateway.new_array(kind, len(values))
        for index, value in enumerate(values):
            array[index] = value
        return array

    def java_class_visible(self, name: str) -> bool:
        """Whether the driver's class path, spark.jars included, has the class."""
        return class_visible(self.jvm, name)

    def _scala_context(self) -> Any:
        return self.spark.sparkContext._jsc.sc()  # noqa: SLF001

    def _seq(self, values: list[Any]) -> Any:
        entries = self.jvm.java.util.ArrayList()
        for value in values:
            entries.add(value)
        return self.jvm.PythonUtils.toSeq(entries)


def class_visible(jvm: Any, name: str) -> bool:
    """Whether the context class loader of `jvm`'s gateway thread finds the class."""
    from py4j.protocol import Py4JJavaError

    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)
    except Py4JJavaError:
        return False
    return True


def _elements(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]
