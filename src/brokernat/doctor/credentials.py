"""The client's configuration for the probes: protocol, login, TLS, token.

The doctor logs in as the client does, so it reads the client's own properties. A login that the probes cannot do
(Kerberos, a missing token, or a login that only a Java class knows) is not an error: the probe stops before the login
and reports it.

PLAIN and OAUTHBEARER send the password or the token itself to the peer. The doctor sends it only to peers with a
verified certificate for the dialled name, to endpoints that a client with this configuration dials anyway, and to those
that the user has allowed (`login_to`). A listener's answer before the login (ApiVersions) does not prove its identity.
SCRAM (RFC 5802) never sends the password.

A token for OAUTHBEARER comes from a command (`--token-command`) or a file. The doctor sends no request to a token
endpoint, because flow, scopes and secrets belong to the client. It reads a `file:` URL in Kafka's
`sasl.oauthbearer.token.endpoint.url` (KIP-768).
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from brokernat.address import AddressMap, Endpoint, Translation
from brokernat.clients.tls import TlsSide, tls_side
from brokernat.config import Cluster
from brokernat.config.client_properties import LOGIN_MODULES
from brokernat.config.java_properties import Login, parse_jaas
from brokernat.doctor.evidence import Advertised, EndpointProbe, TlsHandshake
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError

CANONICAL = "resolve_canonical_bootstrap_servers_only"
"""The `client.dns.lookup` with which a client dials bootstrap servers by the canonical names of their addresses."""
_EXTENSION = "extension_"
_HANDLERS = {"sasl.client.callback.handler.class", "sasl.login.callback.handler.class"}
_NO_LOGIN = (
    "write it, or `sasl.username` and `sasl.password`; if the login is in a file of Java's "
    "`java.security.auth.login.config`, which the doctor does not read, copy the entry `KafkaClient`"
)
_TIMEOUT = 60
# RFC 6750, 2.1: the characters of a bearer token.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True, slots=True)
class ClientSide:
    """`tls` is None if the protocol has no TLS; its contexts do not verify host names, because the probe does.

    `token` and `extensions` are for OAUTHBEARER (RFC 7628); the extensions are names with values. `login_to` are the
    endpoints that may receive the password or token; advertised endpoints and those that the user allows are added.
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
    def sasl(self) -> bool:
        """Whether the client logs in."""
        return self.protocol.startswith("SASL_")

    def may_log_in(self, endpoint: Endpoint, tls: TlsHandshake | None) -> bool:
        """Whether the login may be sent to an endpoint after this handshake."""
        verified = self.verify_name and tls is not None and tls.ok
        readable = self.mechanism == "PLAIN" or (self.mechanism == "OAUTHBEARER" and self.token is not None)
        return not readable or verified or endpoint in self.login_to

    def withheld_from(self, probe: EndpointProbe) -> bool:
        """Whether a probe stopped because the login may not be sent to its endpoint."""
        withheld = probe.sasl is not None and probe.sasl.outcome == "not-tried" and probe.speaks == "kafka"
        return withheld and not self.may_log_in(Endpoint.parse(probe.endpoint), probe.tls)


def client_side(cluster: Cluster, token_command: str | None = None) -> ClientSide:
    """The cluster's client section for the probes; the command runs only if the mechanism is OAUTHBEARER.

    Raises:
        ConfigError: a store or a login line cannot be read, a login is missing, or the command prints no token.
    """
    properties = cluster.kafka_properties()
    protocol = properties.get("security.protocol", "PLAINTEXT")
    mechanism = properties.get("sasl.mechanism", "GSSAPI") if protocol.startswith("SASL_") else None
    login = _login(properties, mechanism)
    return ClientSide(
        protocol,
        mechanism,
        login.get("username", ""),
        login.get("password", ""),
        tls_side(properties) if protocol.endswith("SSL") else None,
        properties.get("ssl.endpoint.identification.algorithm", "https") != "",
        token(properties, token_command) if mechanism == "OAUTHBEARER" else None,
        tuple((name.removeprefix(_EXTENSION), value) for name, value in login.items() if name.startswith(_EXTENSION)),
        properties.get("client.dns.lookup"),
        set(cluster.bootstrap_servers),
    )


def dialled(broker: Advertised, address_map: AddressMap | None) -> Translation | None:
    """The endpoint that a client dials for a broker, None if it dials nothing."""
    try:
        endpoint = Endpoint(broker.host, broker.port)
        return Translation(endpoint, None) if address_map is None else address_map.translate(endpoint, broker.node_id)
    except (ConfigError, UnmappedEndpointError):
        return None


def _login(properties: Mapping[str, str], mechanism: str | None) -> Mapping[str, str]:
    line = properties.get("sasl.jaas.config")
    try:
        login = None if line is None else parse_jaas(line)
    except ValueError:
        raise ConfigError(Finding("login-module", "`sasl.jaas.config` cannot be read")) from None
    if mechanism in LOGIN_MODULES and not _HANDLERS & properties.keys():
        _require_login(mechanism, login)
    return {} if login is None else login.options


def _require_login(mechanism: str, login: Login | None) -> None:
    """Raises if the client has no user name or no password; another login module may get them elsewhere."""
    if login is None:
        message = f"the client has no login for `sasl.mechanism: {mechanism}`: `sasl.jaas.config` is missing"
        raise ConfigError(Finding("login-missing", message, _NO_LOGIN))
    missing = [option for option in ("username", "password") if not login.options.get(option)]
    if missing and login.module in LOGIN_MODULES.values():
        message = (
            f"the client has no login: `sasl.jaas.config` has no {' and no '.join(f'`{each}`' for each in missing)}"
        )
        raise ConfigError(Finding("login-missing", message, 'write `username="…" password="…"` before its `;`'))


def token(properties: Mapping[str, str], command: str | None) -> str | None:
    """The token, None if neither command nor file is given.

    Raises:
        ConfigError: the command fails, the file cannot be read, or neither holds a token.
    """
    url = urlsplit(properties.get("sasl.oauthbearer.token.endpoint.url", ""))
    if command is not None:
        source, text = "--token-command", _printed(command)
    elif url.scheme == "file":
        source = str(Path(url2pathname(url.path)))
        try:
            text = Path(source).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _problem(f"the token in `{source}` cannot be read: {type(error).__name__}") from None
    else:
        return None
    if not _TOKEN.fullmatch(text.strip()):
        raise _problem(f"`{source}` gives no token: one word of letters, digits and `.-_~+/=` is wanted")
    return text.strip()


def _printed(command: str) -> str:
    try:
        # Its stderr goes to the user; its stdout is a secret.
        done = subprocess.run(
            shlex.split(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_TIMEOUT, check=False
        )
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise _problem(f"`--token-command` cannot be run: {type(error).__name__}") from None
    if done.returncode:
        raise _problem(f"`--token-command` ended with status {done.returncode}")
    return done.stdout.decode(errors="replace")


def _problem(message: str) -> ConfigError:
    return ConfigError(Finding("no-token", message, "it prints the token alone, such as `cat token.jwt`"))
