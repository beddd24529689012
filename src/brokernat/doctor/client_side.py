"""What the client is configured with, as the probes need it: protocol, login, TLS.

The doctor logs in as the client would, so the client's own properties are read and nothing is asked twice. A login that
the probes cannot do (Kerberos, or a token that nobody gave) is no error: the look ends there and says so.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from brokernat.clients.jaas import parse_jaas
from brokernat.config import Cluster
from brokernat.doctor.tls_side import TlsSide, tls_side
from brokernat.doctor.tokens import token
from brokernat.errors import ConfigError, Problem

CANONICAL = "resolve_canonical_bootstrap_servers_only"
"""The `client.dns.lookup` with which a client dials bootstrap servers by what their addresses are called."""
_OAUTH_EXTENSION = "extension_"


@dataclass(frozen=True, slots=True)
class ClientSide:
    """`tls` is None where the protocol has none; its contexts' own check of host names is off, the probe does it.

    `token` and `extensions` are for OAUTHBEARER (RFC 7628); the extensions are names with values.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    tls: TlsSide | None = field(default=None, repr=False)
    verify_name: bool = True
    token: str | None = field(default=None, repr=False)
    extensions: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    dns_lookup: str | None = None

    @property
    def context(self) -> ssl.SSLContext | None:
        """For the client's own handshake."""
        return None if self.tls is None else self.tls.context

    @property
    def sasl(self) -> bool:
        """Whether the client logs in."""
        return self.protocol.startswith("SASL_")


def client_side(cluster: Cluster, token_command: str | None = None) -> ClientSide:
    """The cluster's client section, read for the probes.

    Args:
        cluster: whose section it is.
        token_command: prints a token for OAUTHBEARER; run only where that is the mechanism.

    Raises:
        ConfigError: a store or a login line cannot be read, or the command gives no token.
    """
    properties = cluster.kafka_properties()
    protocol = properties.get("security.protocol", "PLAINTEXT")
    mechanism = properties.get("sasl.mechanism", "GSSAPI") if protocol.startswith("SASL_") else None
    login = _login(properties)
    extensions = [(name, value) for name, value in login.items() if name.startswith(_OAUTH_EXTENSION)]
    return ClientSide(
        protocol,
        mechanism,
        login.get("username", ""),
        login.get("password", ""),
        tls_side(properties) if protocol.endswith("SSL") else None,
        properties.get("ssl.endpoint.identification.algorithm", "https") != "",
        token(properties, token_command) if mechanism == "OAUTHBEARER" else None,
        tuple((name.removeprefix(_OAUTH_EXTENSION), value) for name, value in extensions),
        properties.get("client.dns.lookup"),
    )


def _login(properties: Mapping[str, str]) -> Mapping[str, str]:
    line = properties.get("sasl.jaas.config")
    if line is None:
        return {}
    try:
        return parse_jaas(line).options
    except ValueError:
        raise ConfigError(Problem("login-module", "`sasl.jaas.config` cannot be read")) from None
