"""kafka-python 2 and 3: keyword arguments for its producer, consumer and admin client, the map among them.

    KafkaProducer(**configure({}, hq))
    KafkaConsumer("orders", **configure({"group_id": "tags"}, hq))

The map travels as `kafka_client=`, which the library documents; no module is patched and each client has its own. The
three classes refuse arguments that they do not take, so where the `client:` section holds properties of one kind of
client (`acks`), name the class: `configure({}, hq, KafkaConsumer)` leaves out what is not for it, as Java clients do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokernat.address import canonical_text
from brokernat.clients.translation import (
    As,
    Table,
    Without,
    boolean,
    choice,
    integer,
    translated,
    underscored,
)
from brokernat.errors import MissingToolError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brokernat.config import Cluster

_JAVA_CLASS = "it names a Java class"
_TOKENS = "the library asks an object for its tokens"
_CONTEXT = "Java and OpenSSL name them differently"


class Veiled(str):
    """A text whose repr is hidden: the library logs its whole configuration at DEBUG."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def _buffer(text: str) -> int | None:
    size = integer(text)
    # Kafka's word for "as the operating system does".
    return None if size == -1 else size


ENTRIES: Mapping[str, As | Without] = {
    # All clients.
    **underscored("security.protocol", "client.id", "client.rack", "client.dns.lookup", "sasl.mechanism"),
    **underscored("sasl.kerberos.service.name"),
    **underscored(
        "connections.max.idle.ms",
        "max.in.flight.requests.per.connection",
        "metadata.max.age.ms",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.ms",
        convert=integer,
    ),
    **underscored("receive.buffer.bytes", "send.buffer.bytes", convert=_buffer),
    **underscored("allow.auto.create.topics", convert=boolean),
    "sasl.username": As("sasl_plain_username"),
    "sasl.password": As("sasl_plain_password", Veiled),
    "ssl.ca.location": As("ssl_cafile"),
    "ssl.certificate.location": As("ssl_certfile"),
    "ssl.key.location": As("ssl_keyfile"),
    "ssl.key.password": As("ssl_password", Veiled),
    "ssl.endpoint.identification.algorithm": As("ssl_check_hostname", choice({"https": True, "": False})),
    # Producers.
    **underscored("transactional.id"),
    **underscored(
        "batch.size",
        "delivery.timeout.ms",
        "linger.ms",
        "max.block.ms",
        "max.request.size",
        "retries",
        "transaction.timeout.ms",
        convert=integer,
    ),
    **underscored("enable.idempotence", convert=boolean),
    "acks": As("acks", choice({"all": "all", "-1": "all", "0": 0, "1": 1})),
    "compression.type": As(
        "compression_type",
        choice({"none": None, "gzip": "gzip", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}),
    ),
    # Consumers.
    **underscored("auto.offset.reset", "group.id", "group.instance.id", "isolation.level"),
    **underscored(
        "auto.commit.interval.ms",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "heartbeat.interval.ms",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "max.poll.records",
        "session.timeout.ms",
        convert=integer,
    ),
    **underscored("check.crcs", "enable.auto.commit", "exclude.internal.topics", convert=boolean),
    # What it has in another form, or not at all.
    "key.serializer": Without(_JAVA_CLASS, "key_serializer"),
    "value.serializer": Without(_JAVA_CLASS, "value_serializer"),
    "key.deserializer": Without(_JAVA_CLASS, "key_deserializer"),
    "value.deserializer": Without(_JAVA_CLASS, "value_deserializer"),
    "partitioner.class": Without(_JAVA_CLASS, "partitioner"),
    "partition.assignment.strategy": Without(_JAVA_CLASS, "partition_assignment_strategy"),
    "metric.reporters": Without(_JAVA_CLASS, "metric_reporters"),
    "sasl.login.callback.handler.class": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.token.endpoint.url": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.client.credentials.client.id": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.client.credentials.client.secret": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.scope": Without(_TOKENS, "sasl_oauth_token_provider"),
    "ssl.ca.pem": Without("it reads certificates from a file", "ssl_cafile"),
    "ssl.certificate.pem": Without("it reads certificates from a file", "ssl_certfile"),
    "ssl.key.pem": Without("it reads keys from a file", "ssl_keyfile"),
    "ssl.cipher.suites": Without(_CONTEXT, "ssl_context"),
    "ssl.enabled.protocols": Without(_CONTEXT, "ssl_context"),
    "ssl.protocol": Without(_CONTEXT, "ssl_context"),
}


def configure(conf: Mapping[str, Any], cluster: Cluster, client: type[Any] | None = None) -> dict[str, Any]:
    """Keyword arguments for KafkaProducer, KafkaConsumer or KafkaAdminClient: never log them.

    Args:
        conf: the program's own arguments; they win over the cluster's.
        cluster: the cluster, from the file or made in the program.
        client: the class that the arguments are for; what it does not take is left out. Without it nothing is.

    Raises:
        ConfigError: a property of the cluster that this release has no argument for, or a rule of the map that
            a client cannot decide.
        MissingToolError: kafka-python is not installed.
    """
    network = _network()
    result = {
        "bootstrap_servers": [str(endpoint) for endpoint in cluster.bootstrap_servers],
        **translated(cluster, _table(network), given=conf),
    }
    if cluster.address_map is not None:
        canonical_text(cluster.address_map)
        result["kafka_client"] = network.MappedClient(cluster.address_map, f"cluster {cluster.name}")
    if client is not None:
        result = {name: value for name, value in result.items() if name in client.DEFAULT_CONFIG}
    return {**result, **conf}


def _network() -> Any:
    try:
        from brokernat.clients import kafka_python_network
    except ImportError as error:
        raise MissingToolError("kafka-python is not installed", hint="pip install 'brokernat[kafka-python]'") from error
    return kafka_python_network


def _table(network: Any) -> Table:
    """The entries that this release has an argument for."""
    known = {name for client in network.clients(network.kafka) for name in client.DEFAULT_CONFIG}
    return Table(
        network.LIBRARY,
        {name: entry for name, entry in ENTRIES.items() if isinstance(entry, Without) or entry.name in known},
    )
