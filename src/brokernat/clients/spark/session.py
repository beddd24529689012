"""A running classic session: which executors are registered, and Java functions run on each of them.

No number of tasks reaches every executor: with one busy, Spark runs all tasks on the other. So each task is aimed at
one executor by its location, each in its own job, and the caller looks at who answered and asks again. Jobs run
asynchronously, because a job whose executor is busy would otherwise hold up the answers of all others.
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
        return self.spark.sparkContext._jvm  # noqa: SLF001 - py4j has no public door

    @property
    def gateway(self) -> Any:
        """Python's door to the driver's JVM."""
        return self.spark.sparkContext._gateway  # noqa: SLF001

    @property
    def is_local(self) -> bool:
        """Whether the driver is the only executor."""
        return bool(self.spark.sparkContext._jsc.isLocal())  # noqa: SLF001

    @property
    def executor_memory(self) -> int:
        """The heap of each executor, as configured; bytes."""
        return int(self._scala_context().executorMemory()) << 20

    def executors(self) -> dict[str, str]:
        """Host by id of every registered executor, "" while not known; empty in local mode, where the driver works."""
        if self.is_local:
            return {}
        context = self._scala_context()
        ids = _elements(context.getExecutorIds())
        # The status store hears of an executor a moment after the scheduler; until then it cannot be aimed at.
        summaries = _elements(context.statusStore().executorList(True))
        hosts = {one.id(): one.hostPort().rpartition(":")[0] for one in summaries}
        return {name: hosts.get(name, "") for name in ids}

    def run_on(self, executor: str, host: str, function: Any) -> Any:
        """Start `function(executor)`, a UDF1 that returns text, there if it is free in time; a JavaFutureAction."""
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
        # Among the overloads of `functions.udf` py4j picks one by chance, also the one for Scala, which refuses.
        java = self.jvm.java.lang
        types = ["org.apache.spark.sql.api.java.UDF1", "org.apache.spark.sql.types.DataType"]
        named = java.Class.forName("org.apache.spark.sql.functions").getMethod(
            "udf", self._array(java.Class, [java.Class.forName(name) for name in types])
        )
        text = self.jvm.org.apache.spark.sql.types.DataTypes.StringType
        return named.invoke(None, self._array(java.Object, [function, text]))

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
