"""A login on behalf of clients that cannot: PLAIN or SCRAM on a new connection to a broker.

The oldest encodings that frame tokens (`SaslHandshake` 1, `SaslAuthenticate` 0, KIP-152) serve brokers from 1.0 on, so
nothing is negotiated. To the client the connection begins behind the login.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final

from brokernat.clients.java_security import parse_jaas
from brokernat.clients.sasl_tokens import MECHANISMS, SaslTokenError, login_tokens
from brokernat.config import Cluster
from brokernat.config.secrets import masked
from brokernat.errors import ConfigError, Finding
from brokernat.wire.errors import MessageError
from brokernat.wire.fields import Cursor, put_text

_HANDSHAKE: Final = (17, 1)
_AUTHENTICATE: Final = (36, 0)
_CLIENT_ID: Final = put_text(b"brokernat-proxy", compact=False)


class LoginError(Exception):
    """The broker has refused; the text holds no secret."""


Exchange = Callable[[bytes], Awaitable[bytes]]
"""Sends a request and returns its response, both without the length in front."""


@dataclass(frozen=True, slots=True)
class BrokerLogin:
    """The cluster's login, as the proxy uses it."""

    mechanism: str
    username: str
    password: str = field(repr=False)

    async def log_in(self, exchange: Exchange) -> None:
        """Log in on a connection that is new.

        Raises:
            LoginError: the broker does not take the login.
        """
        try:
            await self._log_in(exchange)
        except (MessageError, SaslTokenError) as error:
            raise LoginError(f"the login got an answer that cannot be read: {error}") from None

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
                raise LoginError(f"the broker has refused the login: {words or f'error {error}'}")
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
        raise ConfigError(Finding("no-login", message, "leave `--login` out, or give the brokers' login in `client:`"))
    if mechanism not in MECHANISMS:
        message = f"`--login` does not support {mechanism}"
        hint = f"it supports {', '.join(MECHANISMS)}; without `--login` any mechanism passes through from clients"
        raise ConfigError(Finding("login-unsupported", message, hint))
    try:
        options = parse_jaas(properties.get("sasl.jaas.config", "")).options
        return BrokerLogin(mechanism, options["username"], options["password"])
    except (ValueError, KeyError):
        message = "`--login` needs a user name and a password"
        hint = "give `sasl.username` and `sasl.password` in `client:`"
        raise ConfigError(Finding("no-login", message, hint)) from None


async def _ask(exchange: Exchange, kind: tuple[int, int], body: bytes) -> Cursor:
    """The response behind its correlation id."""
    return Cursor(await exchange(struct.pack(">hhi", *kind, 0) + _CLIENT_ID + body), 4)
