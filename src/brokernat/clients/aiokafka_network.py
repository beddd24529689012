"""aiokafka's network client with a map.

Two methods of the network client connect with the function `create_conn` of their module, and a connection gets its
socket from the running loop. This module rebinds the two methods of one instance, so that they create connections of
our class; their loop dials the translated endpoint. The connection keeps the advertised host, and TLS verifies it.

This module imports aiokafka, so it is imported only when a client is configured. It imports no dependency of brokernat,
because `brokernat exec` uses it in interpreters that lack them.
"""

from __future__ import annotations

import functools
from asyncio import AbstractEventLoop
from types import MethodType, ModuleType
from typing import Any

import aiokafka
from aiokafka.client import AIOKafkaClient
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import NodeNotReadyError

from brokernat.address import AddressMap
from brokernat.clients.dialling import Dialler, RefusedEndpointError, bootstrap_endpoints, looks_up, rebound
from brokernat.errors import MissingToolError

LIBRARY = f"aiokafka {aiokafka.__version__}"

_DIALLING = ("bootstrap", "_get_conn")


class RefusedNodeError(RefusedEndpointError, NodeNotReadyError):  # type: ignore[misc]
    """A refusal as an error class of aiokafka: any other class would silently end its background tasks."""


class DialledConnection(AIOKafkaConnection):  # type: ignore[misc]
    """A connection to the translated endpoint; its own host and port stay the advertised ones."""

    def __init__(self, dialler: Dialler, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._loop: Any = DialledLoop(self._loop, dialler)


class DialledLoop:
    """The running loop, but it dials the translated endpoint."""

    def __init__(self, loop: AbstractEventLoop, dialler: Dialler) -> None:
        self._loop = loop
        self._dialler = dialler

    async def create_connection(self, factory: Any, host: str, port: int, *, ssl: Any = None) -> Any:
        """The method that aiokafka calls; TLS verifies the advertised host."""
        dialled = self._dialler.dial(host, port)
        return await self._loop.create_connection(
            factory, *dialled, ssl=ssl, server_hostname=host if ssl is not None else None
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


def redirect(client: Any, address_map: AddressMap, owner: str) -> None:
    """Apply the map to new connections of a client.

    Raises:
        MissingToolError: this release connects in an unknown way.
    """
    network = _network_client(client)
    bootstrap = bootstrap_endpoints(network._bootstrap_servers)  # noqa: SLF001 - see dialling.py
    dialler = Dialler(address_map, bootstrap, owner, RefusedNodeError)

    async def create_conn(host: str, port: int, **options: Any) -> DialledConnection:
        connection = DialledConnection(dialler, host, port, **options)
        await connection.connect()
        return connection

    async def send(node_id: Any, request: Any, **options: Any) -> Any:
        try:
            return await type(network).send(network, node_id, request, **options)
        except NodeNotReadyError:
            # aiokafka's own message "node which is not ready" would become the error of a record.
            broker = network.cluster.broker_metadata(node_id)
            if broker is not None:
                dialler.dial(broker.host, broker.port)
            raise

    for name in _DIALLING:
        method: Any = getattr(type(network), name, None)
        if not looks_up(method, "create_conn"):
            raise MissingToolError(
                f"{LIBRARY} opens connections in an unknown way",
                hint="pip install 'brokernat[aiokafka]' installs a release that was tested",
            )
        setattr(network, name, MethodType(rebound(method, create_conn=create_conn), network))
    network.send = send


def wrap_classes(module: ModuleType, address_map: AddressMap) -> None:
    """Apply the map to all clients that this process creates later; `attach` replaces it for one client.

    Connections that the program creates directly have the map, too. Only for `brokernat exec`, which runs unchanged
    programs.

    Args:
        module: the imported package `aiokafka`.
        address_map: the map to apply.
    """
    client: Any = module.AIOKafkaClient
    original_init = client.__init__

    @functools.wraps(original_init)
    def init_with_map(self: Any, *arguments: Any, **options: Any) -> None:
        original_init(self, *arguments, **options)
        redirect(self, address_map, "brokernat exec")

    client.__init__ = init_with_map
    dialler = Dialler(address_map, frozenset(), "brokernat exec", RefusedNodeError)
    original_connection_init = AIOKafkaConnection.__init__

    @functools.wraps(original_connection_init)
    def connection_init_with_map(self: Any, *arguments: Any, **options: Any) -> None:
        original_connection_init(self, *arguments, **options)
        if not isinstance(self, DialledConnection):
            self._loop = DialledLoop(self._loop, dialler)

    AIOKafkaConnection.__init__ = connection_init_with_map


def _network_client(client: Any) -> Any:
    """The AIOKafkaClient inside: public in a producer, private in a consumer and an admin client."""
    for candidate in (client, getattr(client, "client", None), getattr(client, "_client", None)):
        if isinstance(candidate, AIOKafkaClient):
            return candidate
    raise TypeError(f"{type(client).__name__} is not a client of aiokafka")
