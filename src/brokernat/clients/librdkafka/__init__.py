"""The librdkafka plug-in: paths of its libraries, and a cluster in librdkafka's property names.

`properties` returns plug-in, map and login for any program with `name=value` properties. The plug-in is first and the
map after it: kcat and many bindings set properties in order, and `brokernat.map` is unknown until the plug-in is
loaded.
"""

from __future__ import annotations

import importlib.resources
import sys
from collections.abc import Container, Mapping
from pathlib import Path

from brokernat.address import canonical_text
from brokernat.clients.translation import As, Table, Without, choice, integer, same, translated
from brokernat.config import Cluster
from brokernat.config.cluster import require_cluster
from brokernat.errors import MissingToolError

PLUGIN = "libbrokernat-rdkafka.so"
PRELOAD = "libbrokernat-preload.so"
_SOURCES = Path(__file__).parents[4] / "native" / "librdkafka-plugin"


def plugin_library() -> Path:
    """The absolute path of the plug-in, for `plugin.library.paths`.

    Raises:
        MissingToolError: this installation has none.
    """
    return _library(PLUGIN)


def preload_library() -> Path:
    """The absolute path of the library for `LD_PRELOAD`, for programs that cannot be configured.

    It reads two variables: `BROKERNAT_MAP` (rules or `file:/path`) and `BROKERNAT_UNMAPPED` (`fail`, or by default
    `pass`). It does not change clients that name the plug-in themselves.

    Raises:
        MissingToolError: this installation has none.
    """
    return _library(PRELOAD)


def _library(name: str) -> Path:
    library = Path(str(importlib.resources.files("brokernat.clients.librdkafka") / "_native" / name))
    if not library.is_file():
        raise MissingToolError(f"this installation has no librdkafka plug-in: no {library}", hint=_install_hint())
    return library.absolute()


def _install_hint() -> str:
    if not sys.platform.startswith("linux"):
        return "the plug-in is for Linux; on other systems use a Java client, kafka-python or aiokafka"
    if _SOURCES.is_dir():
        return "make plugin"
    return (
        "the wheels for Linux on x86_64 and aarch64 have it; elsewhere build it with a C compiler: "
        "pip install --force-reinstall --no-deps --no-binary brokernat brokernat"
    )


_JAVA_CLASS = "it names a Java class"
_OPENSSL = "Java and OpenSSL name them differently"
_OIDC = {
    f"org.apache.kafka.common.security.oauthbearer.{package}OAuthBearerLoginCallbackHandler": "oidc"
    for package in ("", "secured.")
}


def _buffer(text: str) -> str:
    # Kafka's -1 means the default of the operating system; in librdkafka that is 0.
    return str(max(0, integer(text)))


def _kilobytes(text: str) -> str:
    return str(max(1, integer(text) // 1024))


ENTRIES: Mapping[str, As | Without] = {
    # All clients.
    **same("security.protocol", "client.id", "client.rack", "client.dns.lookup", "allow.auto.create.topics"),
    **same("connections.max.idle.ms", "max.in.flight.requests.per.connection", "metadata.max.age.ms"),
    **same("metadata.recovery.strategy", "metadata.recovery.rebootstrap.trigger.ms", "enable.metrics.push"),
    **same("reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms"),
    **same("request.timeout.ms", "socket.connection.setup.timeout.ms"),
    "send.buffer.bytes": As("socket.send.buffer.bytes", _buffer),
    "receive.buffer.bytes": As("socket.receive.buffer.bytes", _buffer),
    # Login and TLS.
    **same("sasl.mechanism", "sasl.username", "sasl.password"),
    **same("sasl.kerberos.service.name", "sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin"),
    **same("sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.scope"),
    "sasl.oauthbearer.client.credentials.client.id": As("sasl.oauthbearer.client.id"),
    "sasl.oauthbearer.client.credentials.client.secret": As("sasl.oauthbearer.client.secret"),
    "sasl.login.callback.handler.class": As("sasl.oauthbearer.method", choice(_OIDC)),
    **same("ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem"),
    **same("ssl.key.location", "ssl.key.pem", "ssl.key.password", "ssl.keystore.location", "ssl.keystore.password"),
    "ssl.endpoint.identification.algorithm": As(
        "ssl.endpoint.identification.algorithm", choice({"https": "https", "": "none"})
    ),
    # Producers.
    **same("acks", "batch.size", "compression.type", "delivery.timeout.ms", "enable.idempotence", "linger.ms"),
    **same("retries", "transaction.timeout.ms", "transactional.id"),
    "max.request.size": As("message.max.bytes"),
    "buffer.memory": As("queue.buffering.max.kbytes", _kilobytes),
    # Consumers.
    **same("auto.commit.interval.ms", "check.crcs", "enable.auto.commit", "fetch.max.bytes", "fetch.min.bytes"),
    **same("group.id", "group.instance.id", "group.protocol", "group.remote.assignor", "heartbeat.interval.ms"),
    **same("isolation.level", "max.partition.fetch.bytes", "max.poll.interval.ms", "session.timeout.ms"),
    "fetch.max.wait.ms": As("fetch.wait.max.ms"),
    "auto.offset.reset": As("auto.offset.reset", choice({"earliest": "earliest", "latest": "latest", "none": "error"})),
    # Properties that it has in another form, or not at all.
    "partition.assignment.strategy": Without(_JAVA_CLASS, "partition.assignment.strategy"),
    "partitioner.class": Without(_JAVA_CLASS, "partitioner"),
    "key.serializer": Without(_JAVA_CLASS),
    "value.serializer": Without(_JAVA_CLASS),
    "key.deserializer": Without(_JAVA_CLASS),
    "value.deserializer": Without(_JAVA_CLASS),
    "metric.reporters": Without(_JAVA_CLASS),
    "interceptor.classes": Without(_JAVA_CLASS),
    "max.block.ms": Without("its producers never block"),
    "max.poll.records": Without("the program says how many it takes at each call"),
    "ssl.cipher.suites": Without(_OPENSSL, "ssl.cipher.suites"),
    "ssl.enabled.protocols": Without(_OPENSSL),
    "ssl.protocol": Without(_OPENSSL),
}
TABLE = Table("librdkafka", ENTRIES)


def properties(cluster: Cluster, given: Container[str] = ()) -> dict[str, str]:
    """The properties of a client for a cluster, in librdkafka's names and in the order to set them. They contain
    revealed secrets: never log them. Without a map the plug-in is omitted.

    Args:
        cluster: the cluster, from the file or made in the program.
        given: librdkafka's names that the program sets itself.

    Raises:
        ConfigError: librdkafka does not have a property of the cluster, or a client cannot apply a rule.
        MissingToolError: the plug-in was not built.
    """
    require_cluster(cluster)
    result = {}
    if cluster.address_map is not None:
        result["plugin.library.paths"] = str(plugin_library())
        result["brokernat.map"] = canonical_text(cluster.address_map)
        result["brokernat.unmapped"] = cluster.address_map.unmapped.value
    result["bootstrap.servers"] = ",".join(map(str, cluster.bootstrap_servers))
    return result | translated(cluster, TABLE, given)
