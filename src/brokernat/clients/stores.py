"""Java's key stores and trust stores, as the PEM files and texts that OpenSSL wants.

Only PEM is the same thing on both sides (KIP-651): one file with certificates, one with a key and its chain. The other
formats are refused with the command that makes a PEM file of them, because reading them here would mean to write
a private key to a file of ours.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, MutableMapping

from brokernat.clients.parts import Part
from brokernat.errors import Problem

_TEXTS = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_DEFAULT_TYPE = "JKS"


def store_parts(properties: MutableMapping[str, Part], *, pkcs12: bool) -> Iterator[Part | Problem]:
    """Take the stores out of the properties: files and texts in PEM, or how to make them.

    Args:
        properties: by Kafka's name; what belongs to a store is removed.
        pkcs12: the library reads a key store in PKCS12 itself.
    """
    yield from _trust(properties)
    yield from _key(properties, pkcs12=pkcs12)
    for name, part in _TEXTS.items():
        text = properties.pop(name, None)
        if text is not None:
            yield Part(part, text.text, written=name, secret=text.secret)


def _trust(properties: MutableMapping[str, Part]) -> Iterator[Part | Problem]:
    kind, file, _ = _store(properties, "ssl.truststore")
    if file is None:
        return
    if kind == "PEM":
        yield Part("ssl.ca.location", file.text, written=file.written)
        return
    hint = (
        f"make a PEM file of it: `keytool -list -rfc -keystore {_shown(file)} > trust.pem`, "
        "then write `ssl.truststore.type: PEM` and the new file"
    )
    yield Problem("store-format", f"`{file.written}` is a {kind} store, which only Java reads", hint)


def _key(properties: MutableMapping[str, Part], *, pkcs12: bool) -> Iterator[Part | Problem]:
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
        yield Problem("store-format", f"`{file.written}` is a {kind} store", _key_hint(kind, _shown(file)))


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
