"""aiokafka: keyword arguments for its producer, consumer and admin client, and the map for one client instance::

    producer = attach(AIOKafkaProducer(**configure({}, hq)), hq)
    await producer.start()

aiokafka has no hook for connections, so `attach` patches one instance (`aiokafka_network.py`). This depends on private
parts of the library, so every minor release is tested and other releases are refused.
"""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Mapping
from typing import Any, TypeVar

from brokernat.address import AddressMap, canonical_text
from brokernat.clients.translation import PYTHON_NAMES, As, Table, Without, integer, translated
from brokernat.config import Cluster
from brokernat.config.cluster import require_cluster
from brokernat.errors import MissingToolError

TESTED = ("0.14",)
"""The tested minor releases."""

Client = TypeVar("Client")

_INSTALL = "pip install 'brokernat[aiokafka]'"

ENTRIES: Mapping[str, As | Without] = {
    **PYTHON_NAMES,
    "sasl.password": As("sasl_plain_password"),
    # With the files above, arguments for creating the SSL context.
    "ssl.ca.pem": As("ssl_cadata"),
    "ssl.key.password": As("ssl_password"),
    "batch.size": As("max_batch_size", integer),
    # Properties that it has in another form, or not at all.
    "delivery.timeout.ms": Without("a batch expires after `request_timeout_ms`", "request_timeout_ms"),
    "retries": Without("it retries until `request_timeout_ms` has passed", "request_timeout_ms"),
    "ssl.certificate.pem": Without("Python reads certificates of a client from a file", "ssl_context"),
    "ssl.key.pem": Without("Python reads keys from a file", "ssl_context"),
}


def configure(conf: Mapping[str, Any], cluster: Cluster, client: type[Any] | None = None) -> dict[str, Any]:
    """Keyword arguments for AIOKafkaProducer, AIOKafkaConsumer or AIOKafkaAdminClient.

    They contain revealed secrets: never log them. They do not contain the map; call `attach` for it.

    Args:
        conf: the program's own arguments; they override the cluster's.
        cluster: the cluster, from the file or made in the program.
        client: the class that the arguments are for; properties that it does not accept are left out. Without a class
            all properties are kept.

    Returns:
        aiokafka's names: `bootstrap_servers`, the cluster's `client` with an `ssl_context` for TLS, and `conf`.

    Raises:
        ConfigError: aiokafka has no argument for a property of the cluster, or a client cannot apply a rule of the map.
        MissingToolError: aiokafka is not installed, or its minor release is not tested.
    """
    require_cluster(cluster)
    arguments = translated(cluster, Table(_network().LIBRARY, ENTRIES), given=conf)
    tls = {name: arguments.pop(name) for name in list(arguments) if name.startswith("ssl_")}
    result = {"bootstrap_servers": [str(endpoint) for endpoint in cluster.bootstrap_servers], **arguments, **conf}
    if str(result.get("security_protocol", "")).endswith("SSL") and "ssl_context" not in conf:
        result["ssl_context"] = _ssl_context(tls)
    if cluster.address_map is not None:
        canonical_text(cluster.address_map)
    if client is not None:
        parameters = inspect.signature(client).parameters
        result = {name: value for name, value in result.items() if name in parameters or name in conf}
    return result


def attach(client: Client, cluster: Cluster | AddressMap) -> Client:
    """Gives the map to one client. Call it before `start()`.

    Args:
        client: an AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient or AIOKafkaClient.
        cluster: the cluster, or a map. A cluster without a map changes nothing.

    Returns:
        The same client.

    Raises:
        MissingToolError: aiokafka is not installed, or its minor release is not tested.
    """
    network = _network()
    if isinstance(cluster, AddressMap):
        network.redirect(client, cluster, "a map of its own")
        return client
    require_cluster(cluster)
    if cluster.address_map is not None:
        network.redirect(client, cluster.address_map, f"cluster {cluster.name}")
    return client


def _network() -> Any:
    try:
        import aiokafka

        from brokernat.clients import aiokafka_network
    except ImportError as error:
        raise MissingToolError("aiokafka is not installed", hint=_INSTALL) from error
    minor = ".".join(aiokafka.__version__.split(".")[:2])
    if minor not in TESTED:
        message = f"aiokafka {aiokafka.__version__} is not tested with brokernat; tested: {', '.join(TESTED)}"
        raise MissingToolError(message, hint=_INSTALL)
    return aiokafka_network


def _ssl_context(tls: Mapping[str, Any]) -> ssl.SSLContext:
    arguments = {name.removeprefix("ssl_"): value for name, value in tls.items()}
    check_hostname = arguments.pop("check_hostname", True)
    context = ssl.create_default_context(**{name: arguments.pop(name, None) for name in ("cafile", "cadata")})
    context.check_hostname = check_hostname
    if "certfile" in arguments:
        context.load_cert_chain(**arguments)
    return context
