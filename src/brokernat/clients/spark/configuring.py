"""`configure`: sets everything on the session builder that must be known before Spark's JVM starts.

It first refuses what cannot work (Spark Connect, a JVM that runs without brokernat's jars, a relative path), then
chooses loader and connector, then prepares Java. It changes the builder last, so an error leaves it unchanged.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from brokernat.address import canonical_text
from brokernat.clients.spark import environment
from brokernat.clients.spark.connector import connector_jars
from brokernat.clients.spark.session import class_visible
from brokernat.clients.spark.settings import (
    AGENT_CLASS,
    CATALOG_KEY,
    DRIVER_OPTIONS,
    FUNCTIONS_CLASS,
    LOADER_KEY,
    Loader,
    LoaderChoice,
    choose_loader,
    executors_elsewhere,
    java_option,
    joined,
    runs_on_this_machine,
    settings,
)
from brokernat.config import Cluster
from brokernat.config.cluster import require_cluster
from brokernat.errors import ConfigError, Finding
from brokernat.jvm import agent_jar, spark_functions_jar
from brokernat.jvm.java import reading_class_data

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

Clusters = Mapping[str, Cluster] | Iterable[Cluster]
"""The clusters of a `Config`, or any others."""

_CONNECTOR_CLASS = "org.apache.spark.sql.kafka010.KafkaSourceProvider"


def configure(
    builder: SparkSession.Builder,
    clusters: Clusters,
    *,
    loader: Loader = Loader.AUTO,
    agent_path: str | None = None,
    connector_version: str | None = None,
) -> SparkSession.Builder:
    """Configure the session of `builder` to read and write `clusters` through their address maps.

    Call it before the first session of the process. Existing settings of the builder, `PYSPARK_SUBMIT_ARGS` or
    `spark-defaults.conf` are kept and extended. Sets JAVA_HOME of this process if PySpark would not start otherwise.

    Args:
        builder: `SparkSession.builder...`, with the master set.
        clusters: the clusters of the job.
        loader: how the JVMs load the agent; the choice and its reason are logged and stored in the session's setting
            `spark.brokernat.loader`.
        agent_path: the absolute path of the agent jar on every host that runs an executor.
        connector_version: the Kafka connector's version if it must differ from PySpark's.

    Returns:
        The same builder.

    Raises:
        ConfigError: Spark Connect, an unsupported PySpark, a JVM that already runs without the jars, a path that cannot
            work, a rule that a client cannot apply, a tunnel that executors on other hosts cannot reach.
        MissingToolError: no suitable Java, no agent jar, or no available connector.
        AlteredFileError: the SHA-256 of a connector's jar is not the expected one.
    """
    mapped = as_clusters(clusters)
    options = environment.builder_options(builder)
    environment.refuse_connect(options, os.environ)
    release = environment.installed_spark()
    for cluster in mapped:
        if cluster.address_map is not None:
            canonical_text(cluster.address_map)
    jvm = environment.running_jvm()
    present = environment.launch_settings(options, os.environ, environment.spark_home())
    if jvm is not None:
        # Under spark-submit only the JVM knows the arguments, including the master.
        present = {**present, **environment.submitted_settings(jvm), **options}
    master = present.get("spark.master", "local[*]")
    if not runs_on_this_machine(master) and any(cluster.tunnel is not None for cluster in mapped):
        raise executors_elsewhere(master)
    too_late = jvm is not None and not _has_agent(jvm)
    choice = choose_loader(master, loader, agent_jar(), agent_path, too_late=too_late)
    jars = () if brings_connector(present) else connector_jars(release, connector_version).jars
    needed = settings(present, choice, (*jars, spark_functions_jar())) | {CATALOG_KEY: FUNCTIONS_CLASS}
    environment.refuse_overridden(needed, os.environ)
    if jvm is None:
        start_faster = reading_class_data(environment.class_data(environment.prepare_java(release)))
        needed[DRIVER_OPTIONS] = joined(needed[DRIVER_OPTIONS], map(java_option, start_faster), " ")
    else:
        _refuse_unprepared(jvm, choice)
    log.info("loader %s: %s", choice.loader, choice.reason)
    for name, value in needed.items():
        builder.config(name, value)
    return builder


def as_clusters(clusters: Clusters) -> tuple[Cluster, ...]:
    """The clusters as a tuple, from a mapping or an iterable.

    Raises:
        TypeError: it is another value.
    """
    if isinstance(clusters, (str, Cluster)) or not isinstance(clusters, Iterable):
        given = type(clusters).__name__
        raise TypeError(f'several clusters are needed, not {given}: [cluster], or load("brokernat.yaml").clusters')
    found = tuple(clusters.values() if isinstance(clusters, Mapping) else clusters)
    for each in found:
        require_cluster(each)
    return found


def brings_connector(present: Mapping[str, str]) -> bool:
    """Whether the user's settings already name a Kafka connector."""
    # On YARN `--jars` of spark-submit is stored in `spark.yarn.dist.jars`.
    names = ("spark.jars", "spark.jars.packages", "spark.yarn.dist.jars")
    found = any("spark-sql-kafka-0-10" in present.get(name, "") for name in names)
    if found:
        log.info("using the Kafka connector that the settings name")
    return found


def _refuse_unprepared(jvm: Any, choice: LoaderChoice) -> None:
    from pyspark import SparkContext

    active = SparkContext._active_spark_context  # noqa: SLF001 - PySpark has no public access to it
    if active is not None and active.getConf().get(LOADER_KEY) != choice.loader.value:
        raise _too_late(
            "a Spark session is running in this process already, and its executors have started without the agent",
            "call configure(builder, clusters) before the first session of a new process; where a platform starts the "
            "session, its settings bring the agent (docs/guides/spark-notebooks.md) and configure is not needed",
        )
    absent = [name for name in (_CONNECTOR_CLASS, AGENT_CLASS, FUNCTIONS_CLASS) if not class_visible(jvm, name)]
    if absent:
        raise _too_late(
            f"Spark's JVM has started already, without {' and '.join(absent)}; "
            "it cannot load jars and options any more",
            "call configure(builder, clusters) before the first session of the process; under spark-submit pass "
            f'--jars "$(brokernat spark-packages)" and, with the javaagent loader, '
            f"--driver-java-options -javaagent:{choice.driver_agent}",
        )
    if choice.loader is Loader.JAVAAGENT and not _has_agent(jvm):
        raise _too_late(
            "Spark's JVM has started already, without the agent",
            f"pass --driver-java-options -javaagent:{choice.driver_agent}, or use the reporter loader",
        )


def _has_agent(jvm: Any) -> bool:
    return jvm.java.lang.System.getProperty("brokernat.agent.version") is not None


def _too_late(message: str, hint: str) -> ConfigError:
    return ConfigError(Finding("jvm-already-started", message, hint))
