"""What the client is configured with, as the probes need it: protocol, login, TLS context.

The doctor logs in as the client would, so the client's own properties are read and nothing is asked twice. A login that
the probes cannot do (Kerberos, tokens) is no error: the look ends there and says so.
"""

from __future__ import annotations

import os
import ssl
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokernat.clients.jaas import parse_jaas
from brokernat.errors import ConfigError, Problem
from brokernat.jvm import find_java

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brokernat.config import Cluster

_KEYTOOL_TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class ClientSide:
    """`context` is None where the protocol has no TLS; its own check of host names is off, the probe does it."""

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    context: ssl.SSLContext | None = field(default=None, repr=False)
    verify_name: bool = True

    @property
    def sasl(self) -> bool:
        """Whether the client logs in."""
        return self.protocol.startswith("SASL_")


def client_side(cluster: Cluster) -> ClientSide:
    """The cluster's client section, read for the probes.

    Raises:
        ConfigError: a store or a login line cannot be read.
    """
    properties = cluster.kafka_properties()
    protocol = properties.get("security.protocol", "PLAINTEXT")
    mechanism = properties.get("sasl.mechanism", "GSSAPI") if protocol.startswith("SASL_") else None
    username, password = _login(properties)
    return ClientSide(
        protocol,
        mechanism,
        username,
        password,
        _context(properties) if protocol.endswith("SSL") else None,
        properties.get("ssl.endpoint.identification.algorithm", "https") != "",
    )


def _login(properties: Mapping[str, str]) -> tuple[str, str]:
    line = properties.get("sasl.jaas.config")
    if line is None:
        return "", ""
    try:
        options = parse_jaas(line).options
    except ValueError:
        raise ConfigError([Problem("login-module", "`sasl.jaas.config` cannot be read")]) from None
    return options.get("username", ""), options.get("password", "")


def _context(properties: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    certificates = properties.get("ssl.truststore.certificates") or _trusted(properties)
    try:
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            # Java takes any certificate of its trust store for an anchor, a broker's own among them.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.load_verify_locations(cadata=certificates)
        if properties.get("ssl.keystore.type", "").upper() == "PEM" and "ssl.keystore.location" in properties:
            context.load_cert_chain(
                properties["ssl.keystore.location"], password=properties.get("ssl.key.password", "")
            )
    except (OSError, ssl.SSLError) as error:
        reason = type(error).__name__
        raise ConfigError([Problem("store-unreadable", f"a certificate or a key cannot be read: {reason}")]) from None
    return context


def _trusted(properties: Mapping[str, str]) -> str | None:
    """The trust store as PEM; `keytool` reads what only Java reads."""
    location = properties.get("ssl.truststore.location")
    if location is None:
        return None
    try:
        if properties.get("ssl.truststore.type", "JKS").upper() == "PEM":
            with open(location, encoding="utf-8") as file:  # noqa: PTH123 - a text of the configuration
                return file.read()
        # The password goes by the environment: arguments are seen by everybody.
        done = subprocess.run(
            [str(find_java().home / "bin" / "keytool"), "-list", "-rfc", "-keystore", location, "-storepass:env", "P"],
            env={**os.environ, "P": properties.get("ssl.truststore.password", "")},
            capture_output=True,
            text=True,
            timeout=_KEYTOOL_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = type(error).__name__
    else:
        if done.returncode == 0:
            return done.stdout
        reason = "keytool refuses it (wrong password?)"
    message = f"the trust store `{location}` cannot be read: {reason}"
    raise ConfigError([Problem("store-unreadable", message)]) from None
