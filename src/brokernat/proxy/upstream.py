"""Connections to brokers: TCP, TLS, and the login, before the first byte of a client.

TLS sends (SNI) and verifies the advertised name, not the dialled one, as in a client with the map.

The login (`--login`) is PLAIN or SCRAM. It uses the oldest versions that frame tokens (`SaslHandshake` 1,
`SaslAuthenticate` 0, KIP-152), which brokers support from 1.0 on, so no negotiation is needed. The client's connection
starts after the login.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Final

from brokernat.address import Endpoint
from brokernat.address.host import as_ip
from brokernat.clients.java_security import parse_jaas
from brokernat.clients.sasl_tokens import MECHANISMS, SaslTokenError, login_tokens
from brokernat.clients.tls import tls_side
from brokernat.config import Cluster
from brokernat.config.secrets import masked
from brokernat.errors import ConfigError, Finding
from brokernat.wire.errors import MessageError
from brokernat.wire.fields import Cursor, put_text

_HANDSHAKE: Final = (17, 1)
_AUTHENTICATE: Final = (36, 0)
_CLIENT_ID: Final = put_text(b"brokernat-proxy", compact=False)
Exchange = Callable[[bytes], Awaitable[bytes]]
"""Sends a request and returns its response, both without the length in front."""
_LARGEST_ANSWER: Final = 64 << 10
"""Of the requests of a login, in bytes."""


class LoginError(Exception):
    """The broker rejected the login; the text contains no secret."""


@dataclass(frozen=True, slots=True)
class BrokerLogin:
    """The cluster's login, as the proxy uses it."""

    mechanism: str
    username: str
    password: str = field(repr=False)

    async def log_in(self, exchange: Exchange) -> None:
        """Log in on a new connection.

        Raises:
            LoginError: the broker rejects the login.
        """
        try:
            await self._log_in(exchange)
        except (MessageError, SaslTokenError) as error:
            raise LoginError(f"the login response cannot be read: {error}") from None

    async def _log_in(self, exchange: Exchange) -> None:
        answer = await _ask(exchange, _HANDSHAKE, put_text(self.mechanism.encode(), compact=False))
        if answer.i16():
            offered = [(answer.text(compact=False) or b"").decode() for _ in range(answer.count(compact=False))]
            raise LoginError(f"the broker does not offer {self.mechanism}, but {', '.join(offered)}")
        tokens = login_tokens(self.mechanism, self.username, self.password)
        token = next(tokens)
        while True:
            answer = await _ask(exchange, _AUTHENTICATE, struct.pack(">i", len(token)) + token)
            error, message = answer.i16(), answer.text(compact=False)
            if error:
                words = masked((message or b"").decode("utf-8", "replace"), self.password)
                raise LoginError(f"the broker rejected the login: {words or f'error {error}'}")
            try:
                token = tokens.send(answer.blob())
            except StopIteration:
                return


def broker_login(cluster: Cluster) -> BrokerLogin:
    """The login of the cluster's client section.

    Raises:
        ConfigError: it has none, or one that the proxy cannot use.
    """
    properties = replace(cluster, address_map=None).kafka_properties()
    protocol = properties.get("security.protocol", "PLAINTEXT")
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    if not protocol.startswith("SASL_"):
        message = f"`--login` has no login to use: the cluster `{cluster.name}` has `security.protocol: {protocol}`"
        raise ConfigError(Finding("no-login", message, "omit `--login`, or write the brokers' login in `client:`"))
    if mechanism not in MECHANISMS:
        message = f"`--login` does not support {mechanism}"
        hint = f"it supports {', '.join(MECHANISMS)}; without `--login` clients can log in with any mechanism"
        raise ConfigError(Finding("login-unsupported", message, hint))
    try:
        options = parse_jaas(properties.get("sasl.jaas.config", "")).options
        return BrokerLogin(mechanism, options["username"], options["password"])
    except (ValueError, KeyError):
        message = "`--login` needs a user name and a password"
        hint = "give `sasl.username` and `sasl.password` in `client:`"
        raise ConfigError(Finding("no-login", message, hint)) from None


async def _ask(exchange: Exchange, kind: tuple[int, int], body: bytes) -> Cursor:
    """The response without its correlation id."""
    return Cursor(await exchange(struct.pack(">hhi", *kind, 0) + _CLIENT_ID + body), 4)


class UnreachableError(Exception):
    """No connection; the text has the endpoint and the reason."""


def prepare(connection: socket.socket) -> None:
    """Socket options of both sides: no delay for small requests, keepalive for dead peers."""
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


async def dial(endpoint: Endpoint) -> socket.socket:
    """A connection to the first address of the endpoint that accepts one.

    Raises:
        UnreachableError: none does.
    """
    loop = asyncio.get_running_loop()
    reason = "no address"
    try:
        addresses = await _addresses(endpoint)
    except OSError as error:
        raise UnreachableError(f"{endpoint}: {error.strerror or error}") from None
    for family, address in addresses:
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            prepare(connection)
            await loop.sock_connect(connection, address)
        except OSError as error:
            connection.close()
            reason = _reason(error)
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise UnreachableError(f"{endpoint}: {reason}")


def dial_at_once(endpoint: Endpoint) -> socket.socket | None:
    """A connection to a loopback endpoint, which connects within the call; None otherwise."""
    family = _own_family(endpoint.host)
    if family is None:
        return None
    try:
        connection = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        # No descriptor is left, for example. Who dials and waits will see it, too, and can say so.
        return None
    with suppress(OSError):
        prepare(connection)
        address = (endpoint.host, endpoint.port)
        # The first call reports that it is under way, the second one that it is done.
        if not connection.connect_ex(address) or not connection.connect_ex(address):
            return connection
    connection.close()
    return None


@lru_cache(maxsize=1024)
def _own_family(host: str) -> int | None:
    address = as_ip(host)
    if address is None or not address.is_loopback:
        return None
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


@dataclass(frozen=True, slots=True)
class Upstream:
    """Connects to the brokers of one cluster; `tls` and `login` may be None."""

    tls: ssl.SSLContext | None = None
    login: BrokerLogin | None = None

    @property
    def plain(self) -> bool:
        """Whether a connection can be used as soon as it is dialled."""
        return self.tls is None and self.login is None

    async def connect(self, endpoint: Endpoint, name: str) -> socket.socket:
        """A connection that requests can be sent on.

        Args:
            endpoint: what is dialled.
            name: the host that the certificate is verified for.

        Raises:
            UnreachableError: there is none.
        """
        connection = await dial(endpoint)
        try:
            if self.tls is not None:
                connection = over_tls(connection, self.tls, name)
                await shake_hands(connection)
            if self.login is not None:
                await self.login.log_in(partial(_exchange, connection))
        except (OSError, EOFError, LoginError) as error:
            connection.close()
            raise UnreachableError(f"{endpoint}: {_reason(error)}") from None
        except BaseException:
            connection.close()
            raise
        return connection


def upstream_of(cluster: Cluster, *, login: bool) -> Upstream:
    """The `Upstream` for the cluster's client properties.

    Raises:
        ConfigError: a store cannot be read, or there is no login that can be used.
    """
    # Without its map: rules with the node id are for us and not for clients.
    properties = replace(cluster, address_map=None).kafka_properties()
    context = None
    if properties.get("security.protocol", "PLAINTEXT").endswith("SSL"):
        context = tls_side(properties).context
        context.check_hostname = properties.get("ssl.endpoint.identification.algorithm", "https") != ""
    return Upstream(context, broker_login(cluster) if login else None)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is rejected: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"no TLS: {error.reason or type(error).__name__}"
    if isinstance(error, OSError) and error.errno is not None:
        # asyncio puts the address into its own words.
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


async def _exchange(connection: socket.socket, request: bytes) -> bytes:
    """Raises EOFError for a connection that ends, OSError for one that fails."""
    waiting = struct.pack(">i", len(request)) + request
    while waiting:
        try:
            waiting = waiting[connection.send(waiting) :]
        except (BlockingIOError, ssl.SSLWantWriteError):
            await _ready(connection, reading=False)
        except ssl.SSLWantReadError:
            await _ready(connection, reading=True)
    (length,) = struct.unpack(">i", await _receive(connection, 4))
    if not 0 <= length <= _LARGEST_ANSWER:
        raise LoginError(f"the login response has {length} bytes")
    return await _receive(connection, length)


async def _receive(connection: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        try:
            part = connection.recv(size - len(found))
        except (BlockingIOError, ssl.SSLWantReadError):
            await _ready(connection, reading=True)
            continue
        if not part:
            raise EOFError("the broker closed the connection during the login")
        found += part
    return bytes(found)


def over_tls(connection: socket.socket, context: ssl.SSLContext, name: str | None) -> ssl.SSLSocket:
    """A connection that takes the place of the plain one; `name` is the server's, None if we are the server."""
    return context.wrap_socket(
        connection, server_side=name is None, server_hostname=name, do_handshake_on_connect=False
    )


async def shake_hands(connection: ssl.SSLSocket) -> None:
    """Raises OSError."""
    while True:
        try:
            connection.do_handshake()
        except ssl.SSLWantReadError:
            await _ready(connection, reading=True)
        except ssl.SSLWantWriteError:
            await _ready(connection, reading=False)
        else:
            return


async def _ready(connection: socket.socket, *, reading: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    add, remove = (loop.add_reader, loop.remove_reader) if reading else (loop.add_writer, loop.remove_writer)

    def resolve() -> None:
        if not ready.done():
            ready.set_result(None)

    add(connection, resolve)
    try:
        await ready
    finally:
        remove(connection)


async def _addresses(endpoint: Endpoint) -> list[tuple[int, Any]]:
    address = as_ip(endpoint.host)
    if address is not None:
        # No thread of the resolver for an address.
        return [(socket.AF_INET if address.version == 4 else socket.AF_INET6, (endpoint.host, endpoint.port))]
    found = await asyncio.get_running_loop().getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found]


def close(connection: socket.socket | None) -> None:
    if connection is not None:
        with suppress(OSError):
            connection.close()
