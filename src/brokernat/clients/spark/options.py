"""The options of Spark's Kafka source and sink for one cluster.

Spark hands every option `kafka.NAME` to the Kafka client as `NAME`, on the driver and on the executors. Three
layers, the later wins: defaults for lines that are long, the loader of the agent, the cluster's own properties. Some
properties that are right for a plain client make Spark refuse the query
(`KafkaSourceProvider.validateGeneralOptions`): they are left out, with a log line.
"""

from __future__ import annotations

import enum
import logging
import sys
from collections.abc import Mapping
from typing import Any

from brokernat.clients.spark.settings import LOADER_KEY, REPORTER_CLASS, Loader
from brokernat.config import Cluster

log = logging.getLogger(__name__)


MAP_PROPERTY = "brokernat.map"


class Role(enum.StrEnum):
    """Which end of a query the options are for."""

    SOURCE = "source"
    SINK = "sink"


# Spark sets 64 KiB, which switches the kernel's tuning off: measured at 50 ms, 1.6 MB/s where -1 gives 53 MB/s.
_AUTO_BUFFER = "-1"

BOTH_ENDS: Mapping[str, str] = {
    "receive.buffer.bytes": _AUTO_BUFFER,
    # KIP-899, clients from 3.8 on: when every known broker is gone (the gateway moved) start again from the
    # bootstrap servers.
    "metadata.recovery.strategy": "rebootstrap",
    # A gateway that is down is asked less often than Kafka's once a second.
    "reconnect.backoff.max.ms": "10000",
}
DEFAULTS: Mapping[Role | None, Mapping[str, str]] = {
    None: BOTH_ENDS,
    Role.SOURCE: {
        **BOTH_ENDS,
        # Spark asks for the beginning and the end after each poll: two round trips per 500 records with Kafka's
        # default.
        "max.poll.records": "10000",
        "max.partition.fetch.bytes": str(4 << 20),
    },
    Role.SINK: {
        **BOTH_ENDS,
        "send.buffer.bytes": _AUTO_BUFFER,
        "batch.size": str(128 << 10),
        "linger.ms": "10",
        "compression.type": "lz4",
    },
}

REFUSED_BY_SPARK: Mapping[Role, frozenset[str]] = {
    Role.SOURCE: frozenset(
        {"auto.offset.reset", "enable.auto.commit", "interceptor.classes", "key.deserializer", "value.deserializer"}
    ),
    Role.SINK: frozenset({"key.serializer", "value.serializer"}),
}

# A class that the user's own list leaves out on purpose is not put back.
KAFKA_DEFAULT_REPORTERS = "org.apache.kafka.common.metrics.JmxReporter"


def kafka_options(cluster: Cluster, *, role: Role | None = None, loader: Loader | None = None) -> dict[str, str]:
    """The options for `.format("kafka").options(**...)`, reading or writing.

    Args:
        cluster: the cluster, from the file or made in the program.
        role: adds the defaults of that end and leaves out what Spark refuses there; None is safe for both.
        loader: what brings the agent in; by default what the running session was configured with.

    Returns:
        `kafka.`-prefixed options. The values hold the credentials: pass them on, do not print them.
    """
    return {f"kafka.{name}": value for name, value in client_properties(cluster, role=role, loader=loader).items()}


def client_properties(cluster: Cluster, *, role: Role | None = None, loader: Loader | None = None) -> dict[str, str]:
    """`kafka_options` in Kafka's own names: what the query's clients are made from."""
    own = dict(cluster.kafka_properties())
    refused = REFUSED_BY_SPARK[role] if role else REFUSED_BY_SPARK[Role.SOURCE] | REFUSED_BY_SPARK[Role.SINK]
    for name in sorted(refused & own.keys()):
        log.warning("cluster %s: %s is left out, Spark sets it itself", cluster.name, name)
        del own[name]
    properties = {**DEFAULTS[role], **own}
    if own.get(MAP_PROPERTY) and (loader or session_loader()) is not Loader.JAVAAGENT:
        # From Kafka 4.0 on the property's default is this class, before it was added anyway.
        reporters = own.get("metric.reporters", KAFKA_DEFAULT_REPORTERS)
        properties["metric.reporters"] = ",".join(filter(None, (reporters, REPORTER_CLASS)))
    return properties


def session_loader() -> Loader | None:
    """What `configure` chose for the running session; None where no session runs or it was not configured by us.

    The reporter does no harm where the agent is there already, and its absence leaves a map that nobody applies: so
    not knowing means REPORTER to the caller.
    """
    sql: Any = sys.modules.get("pyspark.sql")
    session = sql.SparkSession.getActiveSession() if sql else None
    known = session.conf.get(LOADER_KEY, None) if session else None
    return Loader(known) if known else None
