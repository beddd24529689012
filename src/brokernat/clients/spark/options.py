"""The options of Spark's Kafka source and sink for one cluster.

Spark passes every option `kafka.NAME` to the Kafka client as `NAME`, on the driver and on the executors. There are
three layers, and a later one overrides the earlier ones: the settings of the cluster's profile, the loader of the
agent, the cluster's own properties. Spark refuses some properties of a plain client
(`KafkaSourceProvider.validateGeneralOptions`); they are left out, with a log line.

A profile is chosen by the round-trip time. `auto` means `lan` until the time is measured: `brokernat pipeline check`
and `run` measure it. Settings without a cost in a LAN are in both profiles; `wan` adds larger requests, because each
request waits for a round trip.
"""

from __future__ import annotations

import enum
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokernat.clients.spark.settings import LOADER_KEY, REPORTER_CLASS, Loader
from brokernat.config import Cluster
from brokernat.config.cluster import require_cluster
from brokernat.config.fields import Profile

LONG_LINE_MS = 10.0
"""The round-trip time from which `wan` is chosen, in milliseconds; a poll of Spark waits for three round trips."""


class Role(enum.StrEnum):
    """The end of a query that the options are for."""

    SOURCE = "source"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class Setting:
    """A property of Kafka's client, with the reason for its value."""

    name: str
    lan: str
    wan: str
    reason: str

    def value(self, profile: Profile) -> str:
        """The value in a profile."""
        return self.wan if profile == "wan" else self.lan


_BOTH_ENDS = (
    Setting(
        "receive.buffer.bytes",
        "-1",
        "-1",
        "Spark sets 64 KiB, which switches the kernel's tuning off: 1.6 instead of 53 MB/s at 50 ms",
    ),
    Setting(
        "metadata.recovery.strategy",
        "rebootstrap",
        "rebootstrap",
        "when every known broker is gone (the gateway moved), the client contacts the bootstrap servers again "
        "(KIP-899)",
    ),
    Setting("reconnect.backoff.max.ms", "10000", "10000", "a gateway that is down is not dialled once a second"),
)
SETTINGS: dict[Role | None, tuple[Setting, ...]] = {
    None: _BOTH_ENDS,
    Role.SOURCE: (
        *_BOTH_ENDS,
        Setting(
            "max.poll.records",
            "10000",
            "50000",
            "Spark requests the beginning and the end of the partition after each poll: two round trips",
        ),
        Setting(
            "max.partition.fetch.bytes", str(4 << 20), str(16 << 20), "one response of the broker fills such a poll"
        ),
        Setting(
            "fetch.max.wait.ms",
            "50",
            "50",
            "after a poll the client already asks for more, and the broker answers Spark's requests only after that: "
            "with Kafka's 500 ms, a batch that reads to the end of a partition waits half a second",
        ),
    ),
    Role.SINK: (
        *_BOTH_ENDS,
        Setting("send.buffer.bytes", "-1", "-1", "Kafka sets 128 KiB, which switches the kernel's tuning off"),
        Setting(
            "batch.size",
            str(128 << 10),
            str(512 << 10),
            "five requests are on the line at most, so each should carry much",
        ),
        Setting("linger.ms", "10", "20", "a request waits for records to fill it"),
        Setting("compression.type", "lz4", "lz4", "fewer bytes for little CPU"),
    ),
}


def profile_of(round_trip_ms: float) -> Profile:
    """The profile for a measured round trip."""
    return "wan" if round_trip_ms >= LONG_LINE_MS else "lan"


log = logging.getLogger(__name__)

MAP_PROPERTY = "brokernat.map"


REFUSED_BY_SPARK: Mapping[Role, frozenset[str]] = {
    Role.SOURCE: frozenset(
        {"auto.offset.reset", "enable.auto.commit", "interceptor.classes", "key.deserializer", "value.deserializer"}
    ),
    Role.SINK: frozenset({"key.serializer", "value.serializer"}),
}

# Only the default for a missing list: if the user's list omits this class, it is not added.
KAFKA_DEFAULT_REPORTERS = "org.apache.kafka.common.metrics.JmxReporter"


def kafka_options(cluster: Cluster, *, role: Role | None = None, loader: Loader | None = None) -> dict[str, str]:
    """The options for `.format("kafka").options(**...)` of a source or a sink.

    Args:
        cluster: the cluster, from the file or made in the program.
        role: adds the defaults of that end and leaves out the properties that Spark refuses there. None works for
            both ends.
        loader: the loader of the agent; by default that of the running session.

    Returns:
        Options with the prefix `kafka.`. They contain revealed secrets: never log them.

    Raises:
        ConfigError: code `needs-node-id`: the map has a rule that a client cannot apply.
    """
    return {f"kafka.{name}": value for name, value in client_properties(cluster, role=role, loader=loader).items()}


def client_properties(cluster: Cluster, *, role: Role | None = None, loader: Loader | None = None) -> dict[str, str]:
    """The same as `kafka_options` without the prefix: the properties of the query's Kafka clients."""
    require_cluster(cluster)
    own = dict(cluster.kafka_properties())
    refused = REFUSED_BY_SPARK[role] if role else REFUSED_BY_SPARK[Role.SOURCE] | REFUSED_BY_SPARK[Role.SINK]
    for name in sorted(refused & own.keys()):
        log.warning("cluster %s: %s is ignored, Spark sets it itself", cluster.name, name)
        del own[name]
    defaults = {setting.name: setting.value(cluster.profile) for setting in SETTINGS[role]}
    properties = {**defaults, **own}
    if own.get(MAP_PROPERTY) and (loader or session_loader()) is not Loader.JAVAAGENT:
        # Since Kafka 4.0 this class is the property's default; before, Kafka always added it.
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
