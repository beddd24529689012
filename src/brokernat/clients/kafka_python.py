"""kafka-python 2 and 3: keyword arguments for its producer, consumer and admin client, with the map::

    KafkaProducer(**configure({}, hq))
    KafkaConsumer("orders", **configure({"group_id": "tags"}, hq))

The map is passed by the library's documented argument `kafka_client=`. No module is patched, and each client has its
own map. The three classes refuse unknown arguments. If the `client:` section has properties of one kind of client
(`acks`), pass the class: `configure({}, hq, KafkaConsumer)` omits the others, as Java clients do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokernat.address import canonical_text
from brokernat.clients.translation import (
    JAVA_CLASS,
    PYTHON_NAMES,
    As,
    Table,
    Without,
    boolean,
    integer,
    translated,
    underscored,
)
from brokernat.config import Cluster
from brokernat.config.cluster import require_cluster
from brokernat.errors import MissingToolError


class Veiled(str):
    """A text with a hidden repr, because the library logs its whole configuration at DEBUG."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def _buffer(text: str) -> int | None:
    size = integer(text)
    # In Kafka -1 means the default of the operating system.
    return None if size == -1 else size


ENTRIES: Mapping[str, As | Without] = {
    **PYTHON_NAMES,
    # All clients.
    **underscored("client.rack", "client.dns.lookup"),
    **underscored(
        "max.in.flight.requests.per.connection", "reconnect.backoff.max.ms", "reconnect.backoff.ms", convert=integer
    ),
    **underscored("receive.buffer.bytes", "send.buffer.bytes", convert=_buffer),
    **underscored("allow.auto.create.topics", convert=boolean),
    "sasl.password": As("sasl_plain_password", Veiled),
    "ssl.key.password": As("ssl_password", Veiled),
    # Producers.
    **underscored("batch.size", "delivery.timeout.ms", "max.block.ms", "retries", convert=integer),
    # Properties that it has in another form, or not at all.
    "metric.reporters": Without(JAVA_CLASS, "metric_reporters"),
    "ssl.ca.pem": Without("it reads certificates from a file", "ssl_cafile"),
    "ssl.certificate.pem": Without("it reads certificates from a file", "ssl_certfile"),
    "ssl.key.pem": Without("it reads keys from a file", "ssl_keyfile"),
}


def configure(conf: Mapping[str, Any], cluster: Cluster, client: type[Any] | None = None) -> dict[str, Any]:
    """Keyword arguments for KafkaProducer, KafkaConsumer or KafkaAdminClient.

    They contain revealed secrets: never log them.

    Args:
        conf: the program's own arguments; they override the cluster's.
        cluster: the cluster, from the file or made in the program.
        client: the class that the arguments are for; properties that it does not accept are left out. Without a class
            all properties are kept.

    Returns:
        kafka-python's names: `bootstrap_servers`, `kafka_client` with the map, the cluster's `client`, and `conf`.

    Raises:
        ConfigError: this release has no argument for a property of the cluster, or a client cannot apply a rule of the
            map.
        MissingToolError: kafka-python is not installed.
    """
    require_cluster(cluster)
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
    """The entries for which this release has an argument."""
    known = {name for client in network.clients(network.kafka) for name in client.DEFAULT_CONFIG}
    return Table(
        network.LIBRARY,
        {name: entry for name, entry in ENTRIES.items() if isinstance(entry, Without) or entry.name in known},
    )
