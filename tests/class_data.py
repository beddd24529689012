"""Makes the archives of class data from which the tests' brokers and Sparks start: half the CPU of each start.

`make test` and its like run it; what is there already is left as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.integration.spark.standalone import C1, CLASS_DATA, SMALL

from brokernat.jvm import find_java, spark_java_home
from brokernat.jvm.java import class_data_archive, writing_class_data
from brokernat.testbed import ClusterOptions, LoopbackWorld, Record
from brokernat.testbed.broker import BrokerVersion

_SPARK_TIMEOUT = 300
_SPARK_JOB = """
import json, sys
from pyspark.sql import SparkSession, functions as F
folder, settings = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").config(map=json.loads(settings)).getOrCreate()
names = spark.createDataFrame([(n, str(n)) for n in range(7)], "k long, name string")
names.write.json(f"{folder}/names")
numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
joined = numbers.withColumn("k", F.col("value") % 7).join(spark.read.json(f"{folder}/names"), "k", "left")
(
    joined.writeStream.format("json").option("path", f"{folder}/out")
    .option("checkpointLocation", f"{folder}/state").trigger(availableNow=True).start().awaitTermination()
)
spark.read.json(f"{folder}/out").groupBy("name").agg(F.collect_list(F.struct("k", "value"))).collect()
process = spark.sparkContext._gateway.proc
spark.stop()
# The JVM goes when its stdin does, and would write the archive while nobody waits for it.
process.stdin.close()
process.wait()
"""


def main() -> int:
    """An archive that cannot be made costs time and nothing else, so it is said, and the tests go on."""
    jars = BrokerVersion(ClusterOptions().version).jars()[0].parent
    for what, archive, make in (
        ("brokers", class_data_archive(find_java(17), jars), _brokers),
        ("Spark", CLASS_DATA, _spark),
    ):
        if not archive.is_file():
            print(f"class data of {what}, once", flush=True)
            archive.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
                made = Path(folder) / archive.name
                make(made)
                if made.is_file():
                    made.replace(archive)
                else:
                    print(f"no class data of {what}: each start takes twice the time", file=sys.stderr)
    return 0


def _brokers(archive: Path) -> None:
    """From a broker that has taken a record and given it back."""
    options = ClusterOptions(brokers=1, jvm_options=writing_class_data(archive))
    with LoopbackWorld(hq=options, local=None) as world:
        world.hq.create_topic("classes")
        world.hq.write("classes", [Record(b"")])
        world.hq.read("classes")
        world.hq.stop(1)


def _spark(archive: Path) -> None:
    """From a driver that has read, joined and written streams and batches."""
    here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    # As long as there is no archive, C1 is without one.
    settings = {**SMALL, **here, "spark.driver.extraJavaOptions": " ".join((C1, *writing_class_data(archive)))}
    environ = {**os.environ, "JAVA_HOME": str(spark_java_home(find_java(17))), "SPARK_LOCAL_IP": "127.0.0.1"}
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [sys.executable, "-c", _SPARK_JOB, str(archive.parent), json.dumps(settings)],
            env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_SPARK_TIMEOUT, check=False,
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
