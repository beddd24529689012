"""Splits Java's logins and key stores into parts for other libraries.

Other libraries need user name and password separately, so `sasl.jaas.config` is parsed (`config/java_properties.py`).
`config/cluster.py` writes the line, or the user copied it from a Java client. The text is a secret: messages contain
only the name of the login module.

Only PEM stores work for Java and other libraries (KIP-651): one file with certificates, one with a key and its chain.
Other formats are refused with the command that converts them to PEM, because a conversion here would write the private
key to a new file.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field

from brokernat.config.client_properties import LOGIN_MODULES, LOGIN_NAMES
from brokernat.config.java_properties import parse_jaas
from brokernat.errors import Finding

_TEXTS = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_DEFAULT_TYPE = "JKS"


@dataclass(frozen=True, slots=True)
class Part:
    """A property name of the tables, and its value. `written` is the property of the file that it comes from."""

    name: str
    text: str = field(repr=False)
    written: str
    secret: bool = False
    known: bool = True
    """False for unresolved references."""


def login_parts(properties: MutableMapping[str, Part]) -> Iterator[Part | Finding]:
    """Remove `sasl.jaas.config` from the properties; returns user name and password, or why there are none.

    As in the Java client, the line overrides `sasl.username` and `sasl.password`.
    """
    line = properties.pop("sasl.jaas.config", None)
    if line is None:
        return
    for name in LOGIN_NAMES:
        properties.pop(name, None)
    if not line.known:
        yield from (Part(name, line.text, line.written, secret=True, known=False) for name in sorted(LOGIN_NAMES))
        return
    try:
        login = parse_jaas(line.text)
    except ValueError:
        hint = 'Kafka wants `MODULE required username="…" password="…";`, or write `sasl.username` and `sasl.password`'
        yield Finding("login-module", "`sasl.jaas.config` cannot be read", hint)
        return
    if login.module not in LOGIN_MODULES.values():
        message = f"`sasl.jaas.config` names {login.module}, which only Java's client has"
        yield Finding("login-module", message, f"user name and password work with {', '.join(LOGIN_MODULES)}")
        return
    for option in ("username", "password"):
        if option not in login.options:
            yield Finding("login-module", f"`sasl.jaas.config` has no `{option}`")
        else:
            yield Part(f"sasl.{option}", login.options[option], written="sasl.jaas.config", secret=True)


def store_parts(properties: MutableMapping[str, Part], *, pkcs12: bool) -> Iterator[Part | Finding]:
    """Remove the stores from the properties; returns PEM files and texts, or Findings with the command to make them.

    Args:
        properties: by Kafka's name; the properties of stores are removed.
        pkcs12: whether the library supports PKCS12 key stores.
    """
    yield from _trust(properties)
    yield from _key(properties, pkcs12=pkcs12)
    for name, part in _TEXTS.items():
        text = properties.pop(name, None)
        if text is not None:
            yield Part(part, text.text, written=name, secret=text.secret)


def _trust(properties: MutableMapping[str, Part]) -> Iterator[Part | Finding]:
    kind, file, _ = _store(properties, "ssl.truststore")
    if file is None:
        return
    if kind == "PEM":
        yield Part("ssl.ca.location", file.text, written=file.written)
        return
    hint = (
        f"make a PEM file of it: `keytool -list -rfc -keystore {_shown(file)} -storepass PASSWORD > trust.pem`, "
        "then write `ssl.truststore.type: PEM` and the new file"
    )
    yield Finding("store-format", f"`{file.written}` is a {kind} store, which only Java reads", hint)


def _key(properties: MutableMapping[str, Part], *, pkcs12: bool) -> Iterator[Part | Finding]:
    kind, file, password = _store(properties, "ssl.keystore")
    if file is None:
        return
    if kind == "PEM":
        yield Part("ssl.certificate.location", file.text, written=file.written)
        yield Part("ssl.key.location", file.text, written=file.written)
    elif kind == "PKCS12" and pkcs12:
        yield file
        if password is not None:
            yield password
    else:
        yield Finding("store-format", f"`{file.written}` is a {kind} store", _key_hint(kind, _shown(file)))


def _key_hint(kind: str, file: str) -> str:
    steps = []
    if kind != "PKCS12":
        steps.append(f"`keytool -importkeystore -srckeystore {file} -destkeystore key.p12 -deststoretype PKCS12`")
        file = "key.p12"
    steps.append(f"`openssl pkcs12 -in {file} -out key.pem`")
    return (
        f"make a PEM file of it: {', then '.join(steps)}; "
        "then write `ssl.keystore.type: PEM`, the new file, and `ssl.key.password`"
    )


def _shown(file: Part) -> str:
    return "FILE" if file.secret else shlex.quote(file.text)


def _store(properties: MutableMapping[str, Part], prefix: str) -> tuple[str, Part | None, Part | None]:
    kind = properties.pop(f"{prefix}.type", None)
    file = properties.pop(f"{prefix}.location", None)
    password = properties.pop(f"{prefix}.password", None)
    return (kind.text.upper() if kind else _DEFAULT_TYPE), file, password
