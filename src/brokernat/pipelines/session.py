"""A Spark session for a pipeline, with its output in log files.

Spark's launcher and JVM inherit the log file as stdout and stderr. They also ignore SIGTERM, as PySpark does with
SIGINT: a service manager signals every process of the group, and without the JVM the current batch could not finish.
The JVM exits with this process, when its standard input closes.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from brokernat.clients.spark import Loader, configure, environment
from brokernat.clients.spark.releases import numbers
from brokernat.clients.spark.settings import JARS, joined
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, MissingToolError
from brokernat.pipelines.checkpoint.state import log_folder
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_LOG = "spark.log"
LAUNCH_LOG = "launch.log"
LOG4J = "log4j2.properties"
_DRIVER_OPTIONS = "spark.driver.defaultJavaOptions"

_LOG4J = """\
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
# While no broker answers, it writes thousands of lines a second.
logger.admin.name = org.apache.kafka.clients.admin.internals.AdminMetadataManager
logger.admin.level = warn
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {folder}/{file}
appender.file.filePattern = {folder}/{file}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 32MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
"""

SETTINGS: Mapping[str, str] = {
    "spark.ui.showConsoleProgress": "false",
    # A timestamp without a zone means the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    # PySpark's launcher would raise the threshold to WARN, regardless of the log configuration.
    "spark.log.level": "INFO",
    # Only queries of which no batch has to finish are stopped.
    "spark.sql.streaming.stopTimeout": "5s",
    # With it PySpark requests the origin of each step from the JVM: 60 of 150 ms for the steps of a batch.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # HotSpot does not compile longer methods; with Spark's default a projection of many columns runs interpreted.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # Small partitions of a cached frame are joined, too: else a small reconcile takes four stages of 200 tasks.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}


OLDEST_REALTIME = "4.1"
"""The first Spark version with Real-Time Mode."""


def require_spark(mode: str = "micro-batch") -> None:
    """Check that the installed Spark supports this mode.

    Raises:
        MissingToolError: PySpark is not installed.
        ConfigError: the version is not supported, or too old for the mode.
    """
    version = environment.installed_spark().version
    if mode == "realtime" and numbers(version) < numbers(OLDEST_REALTIME):
        message = f"`mode: realtime` needs PySpark {OLDEST_REALTIME} or newer, and PySpark {version} is installed"
        hint = f"pip install 'pyspark>={OLDEST_REALTIME}', or set `mode: micro-batch`"
        raise ConfigError(Finding("pyspark-too-old", message, hint))


def start_session(
    name: str,
    clusters: Sequence[Cluster],
    folder: Path,
    *,
    master: str | None = None,
    settings: Mapping[str, str],
    loader: Loader = Loader.AUTO,
    agent_path: str | None = None,
    jars: Sequence[Path] = (),
) -> SparkSession:
    """A Spark session with the clusters' maps.

    Args:
        name: the name of the pipeline.
        folder: the folder of Spark's log.
        master: Spark's master; None for the master of spark-defaults or spark-submit, or this machine if neither has
            one.
        settings: Spark settings that override ours.
        loader, agent_path: see `clients.spark.configure`.
        jars: further jars of the pipeline.

    Raises:
        ConfigError: see `clients.spark.configure`.
        MissingToolError: no PySpark, no Java, no agent, no connector, or a Spark that does not start.
    """
    environment.installed_spark()
    # Check this first: a builder with a master and Spark Connect raises an error of PySpark's.
    environment.refuse_connect(settings, os.environ)
    from pyspark.sql import SparkSession

    # PySpark logs a JSON object for each rejected plan, and then raises an exception with the same content.
    for frames_or_text in ("DataFrame", "SQL"):
        logging.getLogger(f"{frames_or_text}QueryContextLogger").setLevel(logging.CRITICAL + 1)
    log4j = folder / LOG4J
    with log_folder(folder):
        log4j.write_text(_LOG4J.format(folder=folder, file=SPARK_LOG))
        (folder / LAUNCH_LOG).touch()
    builder = SparkSession.builder.appName(f"brokernat {name}")
    present = environment.launch_settings(environment.builder_options(builder), os.environ, environment.spark_home())
    if master or "spark.master" not in present:
        # Four attempts per task, as on a cluster: with plain `local[*]` the first failure of a task ends the query.
        builder.master(master or "local[*,4]")
    if (master or present.get("spark.master", "local")).startswith("local"):
        # Else Spark runs Python functions of a transform with `python3` of PATH, outside this environment.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = f'{present.get(_DRIVER_OPTIONS, "")} "-Dlog4j2.configurationFile={log4j}"'.strip()
    if jars:
        shipped = joined(settings.get(JARS, present.get(JARS, "")), map(str, jars), ",")
        settings = {**settings, JARS: shipped}
    for key, value in {**SETTINGS, **_without_arrow(), _DRIVER_OPTIONS: options, **settings}.items():
        builder.config(key, value)
    # Before the redirection, because its warnings are for the terminal.
    configure(builder, clusters, loader=loader, agent_path=agent_path)
    with _redirected_to(folder / LAUNCH_LOG), _inherits_ignored(signal.SIGTERM):
        return _started(builder, folder)


def _started(builder: SparkSession.Builder, folder: Path) -> SparkSession:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkRuntimeError

    try:
        return builder.getOrCreate()
    except PySparkRuntimeError:
        # The launcher or its JVM has exited; its output is in the log.
        output = [line for line in (folder / LAUNCH_LOG).read_text("utf-8", "replace").splitlines() if line.strip()]
        java = os.environ.get("JAVA_HOME", "not set")
        raise MissingToolError(
            f"Spark's JVM exited at its start: {output[0] if output else 'it printed nothing'}",
            hint=f"its output is in {folder / LAUNCH_LOG}; JAVA_HOME is {java}",
        ) from None
    except Py4JJavaError as error:
        raise MissingToolError(f"Spark did not start: {root_cause(error)}", hint=f"see {folder / SPARK_LOG}") from None


def _without_arrow() -> dict[str, str]:
    """Settings without PyArrow, so that Spark does not warn at each Python function."""
    if find_spec("pyarrow") is not None:
        return {}
    return {"spark.sql.execution.pythonUDF.arrow.enabled": "false"}


@contextmanager
def _redirected_to(file: Path) -> Iterator[None]:
    """Processes started in the block inherit `file` as stdout and stderr."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = {number: os.dup(number) for number in (1, 2)}
    try:
        with file.open("ab", buffering=0) as target:
            target.truncate(0)
            for number in saved:
                os.dup2(target.fileno(), number)
        yield
    finally:
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)


@contextmanager
def _inherits_ignored(number: signal.Signals) -> Iterator[None]:
    """Processes started in the block ignore the signal; this process gets it after the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Linux keeps a blocked signal pending even while it is ignored.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    handler = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
