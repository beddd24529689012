"""What the client is configured with, as the probes need it: protocol, login, TLS.

The doctor logs in as the client would, so the client's own properties are read and nothing is asked twice. A login that
the probes cannot do (Kerberos, or a token that nobody gave) is no error: the look ends there and says so.

PLAIN and OAUTHBEARER give the password or the token itself to whoever answers. It goes to peers whose certificate is
verified for the name that was dialled, to the endpoints that a client with this configuration dials anyway, and to
those that the user agreed to (`login_to`). No other peer gets it: what a listener answers before the login
(ApiVersions) proves nothing about who it is. SCRAM (RFC 5802) shows no peer the password.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from brokernat.address import AddressMap, Endpoint, Translation
from brokernat.clients.java_security import parse_jaas
from brokernat.clients.tls import TlsSide, tls_side
from brokernat.config import Cluster
from brokernat.doctor.client.tokens import token
from brokernat.doctor.evidence import Advertised, EndpointProbe, TlsHandshake
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError

CANONICAL = "resolve_canonical_bootstrap_servers_only"
"""The `client.dns.lookup` with which a client dials bootstrap servers by what their addresses are called."""
_OAUTH_EXTENSION = "extension_"


@dataclass(frozen=True, slots=True)
class ClientSide:
    """`tls` is None where the protocol has none; its contexts' own check of host names is off, the probe does it.

    `token` and `extensions` are for OAUTHBEARER (RFC 7628); the extensions are names with values. `login_to` are the
    endpoints that may read the password or token; it grows with what the cluster advertises and the user agrees to.
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
    login_to: set[Endpoint] = field(default_factory=set)

    @property
    def context(self) -> ssl.SSLContext | None:
        """For the client's own handshake."""
        return None if self.tls is None else self.tls.context

    @property
    def sasl(self) -> bool:
        """Whether the client logs in."""
        return self.protocol.startswith("SASL_")

    def may_log_in(self, endpoint: Endpoint, tls: TlsHandshake | None) -> bool:
        """Whether the login may go to the peer at an endpoint, after this handshake."""
        verified = self.verify_name and tls is not None and tls.ok
        readable = self.mechanism == "PLAIN" or (self.mechanism == "OAUTHBEARER" and self.token is not None)
        return not readable or verified or endpoint in self.login_to

    def withheld_from(self, probe: EndpointProbe) -> bool:
        """Whether a probe ended because the login was not to go there."""
        withheld = probe.sasl is not None and probe.sasl.outcome == "not-tried" and probe.speaks == "kafka"
        return withheld and not self.may_log_in(Endpoint.parse(probe.endpoint), probe.tls)


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
        set(cluster.bootstrap_servers),
    )


def dialled(broker: Advertised, address_map: AddressMap | None) -> Translation | None:
    """What a client dials for a broker, None where it dials nothing."""
    try:
        endpoint = Endpoint(broker.host, broker.port)
        return Translation(endpoint, None) if address_map is None else address_map.translate(endpoint, broker.node_id)
    except (ConfigError, UnmappedEndpointError):
        return None


def _login(properties: Mapping[str, str]) -> Mapping[str, str]:
    line = properties.get("sasl.jaas.config")
    if line is None:
        return {}
    try:
        return parse_jaas(line).options
    except ValueError:
        raise ConfigError(Finding("login-module", "`sasl.jaas.config` cannot be read")) from None
