"""kafka-python's network client with a map, for both of its generations.

`kafka_client=` is the library's own way in: a callable that makes the network client. In 2.x that is a blocking one
whose `BrokerConnection` looks up names itself; 3.x was rewritten around `create_connection`. In both, the connections
of one producer, consumer or admin client get another socket and nothing else: they still know the broker by its
advertised name, so TLS verifies that.

Imports kafka-python, so it is itself imported when a client is configured, and nothing that brokernat depends on:
`brokernat exec` uses it in interpreters that have kafka-python alone. Which generation is installed is decided
here and nowhere else, by what there is to rebind and not by the version, which says little between minor releases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType, ModuleType
from typing import Any

import kafka
from kafka.errors import KafkaConnectionError

from brokernat.address import AddressMap
from brokernat.clients.dialling import Dialler, RefusedEndpointError, bootstrap_endpoints, looks_up, rebound
from brokernat.errors import ConfigError, MissingToolError, Problem

LIBRARY = f"kafka-python {kafka.__version__}"

_TESTED = "pip install 'brokernat[kafka-python]' installs a release that was tested"


class RefusedConnectionError(RefusedEndpointError, KafkaConnectionError):  # type: ignore[misc]
    """A refusal as kafka-python's own kind of error, so that it backs off and goes on with the other brokers."""


@dataclass(frozen=True, slots=True)
class MappedClient:
    """What `kafka_client=` takes: called with the client's configuration, it makes a network client with the map.

    Raises (when called):
        MissingToolError: this release of kafka-python dials in a way that is not known here.
        ConfigError: `socks5_proxy` of 2.x, which resolves names past the map.
    """

    address_map: AddressMap
    owner: str

    def __call__(self, **configs: Any) -> Any:
        """The library's network client; its arguments are kafka-python's."""
        make = _generation()
        bootstrap = bootstrap_endpoints(configs["bootstrap_servers"])
        return make(Dialler(self.address_map, bootstrap, self.owner, RefusedConnectionError), configs)


def wrap_classes(module: ModuleType, address_map: AddressMap) -> None:
    """Give every client made afterwards in this process the map, unless it brings a `kafka_client` of its own.

    For `brokernat exec` only, which runs programs that cannot be changed.

    Args:
        module: the imported package `kafka`.
        address_map: the map in force.

    Raises:
        MissingToolError: this release has no `kafka_client`, and would dial past the map.
    """
    mapped = MappedClient(address_map, "brokernat exec")
    for client in clients(module):
        if "kafka_client" not in client.DEFAULT_CONFIG:
            raise MissingToolError(f"{LIBRARY} has no argument `kafka_client`", hint=_TESTED)
        client.DEFAULT_CONFIG["kafka_client"] = mapped


def clients(module: ModuleType) -> tuple[Any, ...]:
    """The classes that take `kafka_client`."""
    return module.KafkaProducer, module.KafkaConsumer, module.KafkaAdminClient


def _generation() -> Callable[[Dialler, dict[str, Any]], Any]:
    """How this release is redirected."""
    try:
        from kafka.net.manager import KafkaConnectionManager

        if looks_up(getattr(KafkaConnectionManager, "_build_transport", None), "create_connection"):
            return _third
    except ImportError:
        from kafka.client_async import KafkaClient

        if looks_up(getattr(KafkaClient, "_init_connect", None), "BrokerConnection"):
            return _second
    raise MissingToolError(
        f"{LIBRARY} opens connections in a way that brokernat does not know",
        hint=_TESTED,
    )


def _third(dialler: Dialler, configs: dict[str, Any]) -> Any:
    from kafka.net.compat import KafkaNetClient
    from kafka.net.inet import create_connection

    async def dialled(net: Any, host: str, port: int, *arguments: Any, **options: Any) -> Any:
        return await create_connection(net, *dialler.dial(host, port), *arguments, **options)

    client = KafkaNetClient(**configs)
    manager = client._manager  # noqa: SLF001 - see dialling.py
    manager._build_transport = MethodType(  # noqa: SLF001
        rebound(type(manager)._build_transport, create_connection=dialled),  # noqa: SLF001
        manager,
    )
    return client


def _second(dialler: Dialler, configs: dict[str, Any]) -> Any:
    from kafka.client_async import KafkaClient
    from kafka.conn import BrokerConnection, dns_lookup

    if configs.get("socks5_proxy"):
        message = f"`socks5_proxy` of {LIBRARY} resolves names past the address map"
        raise ConfigError(Problem("no-counterpart", message, "use kafka-python 3, or a map without the proxy"))

    class DialledConnection(BrokerConnection):  # type: ignore[misc]
        """A connection that looks up the endpoint to dial; its own host and port stay the advertised ones."""

        refused: Exception | None = None

        def _dns_lookup(self) -> bool:
            try:
                self.refused = None
                self._gai = dns_lookup(*dialler.dial(self.host, self.port))
            except RefusedConnectionError as error:
                self.refused, self._gai = error, []
            return bool(self._gai)

        def close(self, error: Exception | None = None) -> None:
            # Kafka-python takes a look-up without a result for a failure of DNS.
            super().close(self.refused if error is not None and self.refused is not None else error)

    class DialledClient(KafkaClient):  # type: ignore[misc]
        """The network client connects while it is made, so the method is rebound in a class and not afterwards."""

        _init_connect = rebound(KafkaClient._init_connect, BrokerConnection=DialledConnection)  # noqa: SLF001

        def await_ready(self, node_id: Any, *arguments: Any, **options: Any) -> Any:
            try:
                return super().await_ready(node_id, *arguments, **options)
            except KafkaConnectionError:
                # Its own words are "Connection to 3 failed".
                refused = getattr(self._conns.get(node_id), "refused", None)
                if refused is not None:
                    raise refused from None
                raise

    return DialledClient(**configs)
