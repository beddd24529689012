"""Connections to brokers: TCP, TLS and the login, before the first byte of a client is forwarded.

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
from asyncio.staggered import staggered_race
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Final

from brokernat.address import Endpoint
from brokernat.address.endpoint import as_ip
from brokernat.clients.sasl_tokens import MECHANISMS, SaslTokenError, login_tokens
from brokernat.clients.tls import tls_side
from brokernat.config import Cluster
from brokernat.config.java_properties import parse_jaas
from brokernat.config.secrets import masked
from brokernat.errors import ConfigError, Finding
from brokernat.text import printable
from brokernat.wire.fields import Cursor, MessageError, put_text

_HANDSHAKE: Final = (17, 1)
_AUTHENTICATE: Final = (36, 0)
_CLIENT_ID: Final = put_text(b"brokernat-proxy", compact=False)
WOULD_BLOCK: Final = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""What a non-blocking socket raises when there is nothing to read, or no room to write."""
Exchange = Callable[[bytes], Awaitable[bytes]]
"""Sends a request and returns its response, both without the length field."""
_LARGEST_RESPONSE: Final = 64 << 10
"""The largest response to a login request, in bytes."""
_LONGEST_QUOTE: Final = 200
"""The most characters of a broker's text in a message."""
_NEXT_ADDRESS: Final = 0.25
"""Seconds without a connection after which the next address is dialled, too (RFC 8305, 5)."""


class LoginError(Exception):
    """The broker rejected the login; the text contains no secret."""


@dataclass(frozen=True, slots=True)
class BrokerLogin:
    """The mechanism and credentials with which the proxy logs in."""

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
        response = await _request(exchange, _HANDSHAKE, put_text(self.mechanism.encode(), compact=False))
        if response.i16():
            offered = [response.text(compact=False) or b"" for _ in range(response.count(compact=False))]
            raise LoginError(f"the broker does not offer {self.mechanism}, but {_quoted(b', '.join(offered))}")
        tokens = login_tokens(self.mechanism, self.username, self.password)
        token = next(tokens)
        while True:
            response = await _request(exchange, _AUTHENTICATE, struct.pack(">i", len(token)) + token)
            error, message = response.i16(), response.text(compact=False)
            if error:
                reason = _quoted(message or b"", self.password)
                raise LoginError(f"the broker rejected the login: {reason or f'error {error}'}")
            try:
                token = tokens.send(response.blob())
            except StopIteration:
                return


def broker_login(cluster: Cluster) -> BrokerLogin:
    """The login of the cluster's client section.

    Raises:
        ConfigError: there is no login, or the proxy does not support it.
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


async def _request(exchange: Exchange, kind: tuple[int, int], body: bytes) -> Cursor:
    """Sends a request; returns the response after its correlation id."""
    return Cursor(await exchange(struct.pack(">hhi", *kind, 0) + _CLIENT_ID + body), 4)


def _quoted(text: bytes, secret: str = "") -> str:
    """A broker's text for a message: short, printable, without the secret."""
    readable = printable(masked(text.decode("utf-8", "replace"), secret))
    return readable if len(readable) <= _LONGEST_QUOTE else f"{readable[:_LONGEST_QUOTE]}…"


class UnreachableError(Exception):
    """The broker cannot be reached; the text has the endpoint and the reason."""


def prepare(connection: socket.socket) -> None:
    """Socket options of both sides: no delay for small requests, keepalive for dead peers."""
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


async def dial(endpoint: Endpoint) -> socket.socket:
    """A connection to the address of the endpoint that accepts one first (RFC 8305).

    Raises:
        UnreachableError: none does.
    """
    try:
        addresses = await _addresses(endpoint)
    except OSError as error:
        raise UnreachableError(f"{endpoint}: {error.strerror or error}") from None
    opened: list[socket.socket] = []
    attempts = [partial(_dial_address, *each, opened) for each in addresses]
    connection: socket.socket | None
    try:
        connection, _, failures = await staggered_race(attempts, _NEXT_ADDRESS)
    except asyncio.CancelledError:
        # The race may already have been won.
        for each in opened:
            each.close()
        raise
    if connection is None:
        reasons = dict.fromkeys(_reason(each) for each in failures if each is not None)
        raise UnreachableError(f"{endpoint}: {', '.join(reasons)}")
    return connection


async def _dial_address(family: int, address: Any, opened: list[socket.socket]) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        prepare(connection)
        await asyncio.get_running_loop().sock_connect(connection, address)
    except BaseException:
        connection.close()
        raise
    opened.append(connection)
    return connection


def is_loopback(endpoint: Endpoint) -> bool:
    """Whether the host is an address of loopback."""
    return _loopback_family(endpoint.host) is not None


def dial_loopback(endpoint: Endpoint) -> socket.socket | None:
    """A connection to a loopback endpoint, which connects within the call; None otherwise."""
    family = _loopback_family(endpoint.host)
    if family is None:
        return None
    try:
        connection = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        # For example, no file descriptor is left: `dial` meets the same error and reports it.
        return None
    with suppress(OSError):
        prepare(connection)
        address = (endpoint.host, endpoint.port)
        # The first call returns EINPROGRESS, the second one 0 if the connection is established.
        if not connection.connect_ex(address) or not connection.connect_ex(address):
            return connection
    connection.close()
    return None


@lru_cache(maxsize=1024)
def _loopback_family(host: str) -> int | None:
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
        """Whether a connection needs neither TLS nor a login."""
        return self.tls is None and self.login is None

    async def connect(self, endpoint: Endpoint, name: str) -> socket.socket:
        """A connection after TLS and login, ready for requests.

        Args:
            endpoint: the endpoint to dial.
            name: the host name for which the certificate is verified.

        Raises:
            UnreachableError: it cannot be reached, or TLS or the login fails.
        """
        connection = await dial(endpoint)
        try:
            if self.tls is not None:
                connection = wrap_tls(connection, self.tls, name)
                await tls_handshake(connection)
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
        ConfigError: a key store or trust store cannot be read, or the login is missing or not supported.
    """
    # Without its map: the proxy supports rules with the node id, which clients cannot decode.
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
        # asyncio's own text repeats the address.
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


async def _exchange(connection: socket.socket, request: bytes) -> bytes:
    """Sends a request and returns its response. Raises EOFError if the connection ends, OSError if it fails."""
    unsent = struct.pack(">i", len(request)) + request
    while unsent:
        try:
            unsent = unsent[connection.send(unsent) :]
        except (BlockingIOError, ssl.SSLWantWriteError):
            await _wait_until_ready(connection, reading=False)
        except ssl.SSLWantReadError:
            await _wait_until_ready(connection, reading=True)
    (length,) = struct.unpack(">i", await _receive(connection, 4))
    if not 0 <= length <= _LARGEST_RESPONSE:
        raise LoginError(f"the login response has {length} bytes")
    return await _receive(connection, length)


async def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        try:
            part = connection.recv(size - len(received))
        except (BlockingIOError, ssl.SSLWantReadError):
            await _wait_until_ready(connection, reading=True)
            continue
        if not part:
            raise EOFError("the broker closed the connection during the login")
        received += part
    return bytes(received)


def wrap_tls(connection: socket.socket, context: ssl.SSLContext, name: str | None) -> ssl.SSLSocket:
    """The TLS socket that replaces the plain one; `name` is the server's host name, None on the server side."""
    return context.wrap_socket(
        connection, server_side=name is None, server_hostname=name, do_handshake_on_connect=False
    )


async def tls_handshake(connection: ssl.SSLSocket) -> None:
    """Completes the TLS handshake. Raises OSError."""
    while True:
        try:
            connection.do_handshake()
        except ssl.SSLWantReadError:
            await _wait_until_ready(connection, reading=True)
        except ssl.SSLWantWriteError:
            await _wait_until_ready(connection, reading=False)
        else:
            return


async def _wait_until_ready(connection: socket.socket, *, reading: bool) -> None:
    """Waits until the socket is readable or, with `reading=False`, writable."""
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
        # An IP address needs no resolver thread.
        return [(socket.AF_INET if address.version == 4 else socket.AF_INET6, (endpoint.host, endpoint.port))]
    found = await asyncio.get_running_loop().getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found]


def close(connection: socket.socket | None) -> None:
    if connection is not None:
        with suppress(OSError):
            connection.close()
