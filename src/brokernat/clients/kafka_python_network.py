"""kafka-python's network client with a map, for kafka-python 2 and 3.

The argument `kafka_client=` is a callable that creates the network client. In 2.x the network client is blocking, and
its `BrokerConnection` resolves names itself; 3.x was rewritten around `create_connection`. In both, only the sockets of
one producer, consumer or admin client connect to other endpoints: the connections keep the advertised name, which TLS
verifies.

This module imports kafka-python, so it is imported only when a client is configured. It imports no dependency of
brokernat, because `brokernat exec` uses it in interpreters that lack them. Only this module distinguishes 2.x and 3.x,
by the functions to rebind, because version numbers are not reliable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import unwrap
from types import MethodType, ModuleType
from typing import Any

import kafka
from kafka.errors import KafkaConnectionError

from brokernat.address import AddressMap
from brokernat.clients.dialling import Dialler, RefusedEndpointError, bootstrap_endpoints, looks_up, rebound
from brokernat.errors import ConfigError, Finding, MissingToolError

LIBRARY = f"kafka-python {kafka.__version__}"

_TESTED = "pip install 'brokernat[kafka-python]' installs a release that was tested"


class RefusedConnectionError(RefusedEndpointError, KafkaConnectionError):  # type: ignore[misc]
    """A refusal as an error class of kafka-python, so that it backs off and continues with other brokers."""


@dataclass(frozen=True, slots=True)
class MappedClient:
    """The value of `kafka_client=`: called with the client's configuration, it creates a network client with the map.

    Raises (when called):
        MissingToolError: this release of kafka-python connects in an unknown way.
        ConfigError: `socks5_proxy` of 2.x, which resolves names without the map.
    """

    address_map: AddressMap
    owner: str

    def __call__(self, **configs: Any) -> Any:
        """The library's network client; its arguments are kafka-python's."""
        bootstrap = bootstrap_endpoints(configs["bootstrap_servers"])
        return _hooks().make(Dialler(self.address_map, bootstrap, self.owner, RefusedConnectionError), configs)


def wrap_classes(module: ModuleType, address_map: AddressMap) -> None:
    """Apply the map to all clients that this process creates later, except those with their own `kafka_client`.

    Network clients and connections that the program creates directly have the map, too. Only for `brokernat exec`,
    which runs unchanged programs.

    Args:
        module: the imported package `kafka`.
        address_map: the map to apply.

    Raises:
        MissingToolError: this release connects in an unknown way, without the map.
    """
    for client in clients(module):
        if "kafka_client" not in client.DEFAULT_CONFIG:
            raise MissingToolError(f"{LIBRARY} has no argument `kafka_client`", hint=_TESTED)
        client.DEFAULT_CONFIG["kafka_client"] = MappedClient(address_map, "brokernat exec")
    hooks = _hooks()

    def dialler_of(client: Any) -> Dialler:
        dialler: Dialler | None = client.__dict__.get(_DIALLER)
        if dialler is None:
            servers = getattr(client, "config", {}).get("bootstrap_servers", ())
            dialler = Dialler(address_map, bootstrap_endpoints(servers), "brokernat exec", RefusedConnectionError)
            client.__dict__[_DIALLER] = dialler
        return dialler

    hooks.wrap(dialler_of)


def clients(module: ModuleType) -> tuple[Any, ...]:
    """The classes with the argument `kafka_client`."""
    return module.KafkaProducer, module.KafkaConsumer, module.KafkaAdminClient


_DIALLER = "_brokernat_dialler"


def _hooks() -> Any:
    """The hooks for this release: `make` for one network client, `wrap` for the whole process."""
    try:
        from kafka.net.manager import KafkaConnectionManager

        if looks_up(_original(KafkaConnectionManager, "_build_transport"), "create_connection"):
            return _KafkaPython3
    except ImportError:
        from kafka.client_async import KafkaClient

        if looks_up(_original(KafkaClient, "_init_connect"), "BrokerConnection"):
            return _KafkaPython2
    raise MissingToolError(
        f"{LIBRARY} opens connections in an unknown way",
        hint=_TESTED,
    )


def _original(owner: type, name: str) -> Any:
    """The library's own method, even if `wrap_classes` has wrapped it."""
    method = getattr(owner, name, None)
    return unwrap(method) if method else None


class _KafkaPython3:
    """kafka-python 3: a connection manager builds each transport with `create_connection`."""

    @staticmethod
    def make(dialler: Dialler, configs: dict[str, Any]) -> Any:
        from kafka.net.compat import KafkaNetClient

        client = KafkaNetClient(**configs)
        # See dialling.py.
        client._manager._build_transport = MethodType(_KafkaPython3._dialling(dialler), client._manager)  # noqa: SLF001
        return client

    @staticmethod
    def wrap(dialler_of: Callable[[Any], Dialler]) -> None:
        from kafka.net.manager import KafkaConnectionManager

        @wraps(KafkaConnectionManager._build_transport)  # noqa: SLF001
        async def build_transport(self: Any, *arguments: Any, **options: Any) -> Any:
            return await _KafkaPython3._dialling(dialler_of(self))(self, *arguments, **options)

        KafkaConnectionManager._build_transport = build_transport  # noqa: SLF001

    @staticmethod
    def _dialling(dialler: Dialler) -> Callable[..., Any]:
        from kafka.net.inet import create_connection
        from kafka.net.manager import KafkaConnectionManager

        async def dialled(net: Any, host: str, port: int, *arguments: Any, **options: Any) -> Any:
            return await create_connection(net, *dialler.dial(host, port), *arguments, **options)

        return rebound(_original(KafkaConnectionManager, "_build_transport"), create_connection=dialled)


class _KafkaPython2:
    """kafka-python 2: a network client creates a `BrokerConnection`, which resolves the endpoint to dial.

    The connection's own host and port stay the advertised ones.
    """

    @staticmethod
    def make(dialler: Dialler, configs: dict[str, Any]) -> Any:
        from kafka.client_async import KafkaClient

        _refuse_proxy(configs)
        # A subclass and not a patched instance, because the network client connects in its constructor.
        return type("DialledClient", (KafkaClient,), _KafkaPython2._methods(lambda _: dialler))(**configs)

    @staticmethod
    def wrap(dialler_of: Callable[[Any], Dialler]) -> None:
        from kafka.client_async import KafkaClient
        from kafka.conn import BrokerConnection

        original_init = BrokerConnection.__init__

        @wraps(original_init)
        def init_without_proxy(self: Any, *arguments: Any, **configs: Any) -> None:
            _refuse_proxy(configs)
            original_init(self, *arguments, **configs)

        BrokerConnection.__init__ = init_without_proxy
        for owner, methods in (
            (KafkaClient, _KafkaPython2._methods(dialler_of)),
            (BrokerConnection, _connection_methods(dialler_of)),
        ):
            for name, method in methods.items():
                setattr(owner, name, wraps(getattr(owner, name))(method))

    @staticmethod
    def _methods(dialler_of: Callable[[Any], Dialler]) -> dict[str, Callable[..., Any]]:
        from kafka.client_async import KafkaClient
        from kafka.conn import BrokerConnection

        original_init_connect, original_await_ready = (
            _original(KafkaClient, "_init_connect"),
            _original(KafkaClient, "await_ready"),
        )

        def connect(self: Any, node_id: Any) -> Any:
            dialler = dialler_of(self)
            connection = type("DialledConnection", (BrokerConnection,), _connection_methods(lambda _: dialler))
            return rebound(original_init_connect, BrokerConnection=connection)(self, node_id)

        def await_ready(self: Any, node_id: Any, *arguments: Any, **options: Any) -> Any:
            try:
                return original_await_ready(self, node_id, *arguments, **options)
            except KafkaConnectionError:
                # The library's own message is "Connection to 3 failed".
                refused = getattr(self._conns.get(node_id), _REFUSED, None)
                if refused is not None:
                    raise refused from None
                raise

        return {"_init_connect": connect, "await_ready": await_ready}


_REFUSED = "_brokernat_refused"


def _connection_methods(dialler_of: Callable[[Any], Dialler]) -> dict[str, Callable[..., Any]]:
    """The methods of a `BrokerConnection` of kafka-python 2 that uses a Dialler."""
    from kafka.conn import BrokerConnection, dns_lookup

    original_close = _original(BrokerConnection, "close")

    def look_up(self: Any) -> bool:
        try:
            setattr(self, _REFUSED, None)
            self._gai = dns_lookup(*dialler_of(self).dial(self.host, self.port))
        except RefusedConnectionError as error:
            setattr(self, _REFUSED, error)
            self._gai = []
        return bool(self._gai)

    def close(self: Any, error: Exception | None = None) -> None:
        # kafka-python treats an empty result as a DNS failure.
        refused = getattr(self, _REFUSED, None)
        original_close(self, refused if error is not None and refused is not None else error)

    return {"_dns_lookup": look_up, "close": close}


def _refuse_proxy(configs: dict[str, Any]) -> None:
    if configs.get("socks5_proxy"):
        message = f"`socks5_proxy` of {LIBRARY} resolves names without the address map"
        raise ConfigError(Finding("no-counterpart", message, "use kafka-python 3, or a map without the proxy"))
