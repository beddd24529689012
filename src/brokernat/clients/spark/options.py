"""The options of Spark's Kafka source and sink for one cluster.

Spark passes every option `kafka.NAME` to the Kafka client as `NAME`, on the driver and on the executors. There are
three layers, of which the later wins: the settings of the cluster's profile (`profiles.py`), the loader of the agent,
the cluster's own properties. Spark refuses some properties of a plain client
(`KafkaSourceProvider.validateGeneralOptions`): they are left out, with a log line.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from brokernat.clients.spark.profiles import SETTINGS, Role
from brokernat.clients.spark.settings import LOADER_KEY, REPORTER_CLASS, Loader
from brokernat.config import Cluster

log = logging.getLogger(__name__)

MAP_PROPERTY = "brokernat.map"


REFUSED_BY_SPARK: Mapping[Role, frozenset[str]] = {
    Role.SOURCE: frozenset(
        {"auto.offset.reset", "enable.auto.commit", "interceptor.classes", "key.deserializer", "value.deserializer"}
    ),
    Role.SINK: frozenset({"key.serializer", "value.serializer"}),
}

# A class that the user's own list leaves out on purpose is not put back.
KAFKA_DEFAULT_REPORTERS = "org.apache.kafka.common.metrics.JmxReporter"


def kafka_options(cluster: Cluster, *, role: Role | None = None, loader: Loader | None = None) -> dict[str, str]:
    """The options for `.format("kafka").options(**...)` of a source or a sink.

    Args:
        cluster: the cluster, from the file or made in the program.
        role: adds the defaults of that end and leaves out the properties that Spark refuses there. None works for
            both ends.
        loader: what loads the agent; by default the loader of the running session.

    Returns:
        Options with the prefix `kafka.`. They hold revealed secrets: never log them.

    Raises:
        ConfigError: code `needs-node-id`: the map holds a rule that a client cannot apply.
    """
    return {f"kafka.{name}": value for name, value in client_properties(cluster, role=role, loader=loader).items()}


def client_properties(cluster: Cluster, *, role: Role | None = None, loader: Loader | None = None) -> dict[str, str]:
    """The same as `kafka_options` without the prefix: the properties of the query's Kafka clients."""
    own = dict(cluster.kafka_properties())
    refused = REFUSED_BY_SPARK[role] if role else REFUSED_BY_SPARK[Role.SOURCE] | REFUSED_BY_SPARK[Role.SINK]
    for name in sorted(refused & own.keys()):
        log.warning("cluster %s: %s is left out, Spark sets it itself", cluster.name, name)
        del own[name]
    defaults = {setting.name: setting.value(cluster.profile) for setting in SETTINGS[role]}
    properties = {**defaults, **own}
    if own.get(MAP_PROPERTY) and (loader or session_loader()) is not Loader.JAVAAGENT:
        # From Kafka 4.0 on the property's default is this class, before it was added anyway.
        reporters = own.get("metric.reporters", KAFKA_DEFAULT_REPORTERS)
        properties["metric.reporters"] = ",".join(filter(None, (reporters, REPORTER_CLASS)))
    return properties


def session_loader() -> Loader | None:
    """The loader of the running session; None without a session, or if `configure` did not configure it.

    The caller treats None as REPORTER: a reporter beside a loaded agent has no effect, but without both nothing would
    apply the map.
    """
    sql: Any = sys.modules.get("pyspark.sql")
    session = sql.SparkSession.getActiveSession() if sql else None
    known = session.conf.get(LOADER_KEY, None) if session else None
    return Loader(known) if known else None
