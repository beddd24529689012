"""Java's trust store and key store, as OpenSSL takes them.

PEM is read as it is. Everything else is opened by Java itself: `keytool` lists trusted certificates, and a program of
one file prints the key. OpenSSL takes a key from a file only, so a key that is no file of the user's becomes one in
memory (`/dev/shm`) that nobody else may read, for as long as it takes. Passwords go by the environment: arguments are
seen by everybody. What Java says about a store is told apart by its own words and never quoted.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

from brokernat.doctor.pem import blocks
from brokernat.errors import ConfigError, Problem
from brokernat.jvm import find_java

_TIMEOUT = 60
_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory; NamedTemporaryFile makes names that nobody guesses
_READER = Path(__file__).with_name("ReadKeyStore.java")
# Of a key with its chain, Java trusts the key's own certificate and not those that signed it.
_LISTED = re.compile(
    r"(?:^Certificate\[(\d+)\]:\s*)?(-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----)", re.DOTALL | re.MULTILINE
)
_REASONS = {
    "password was incorrect": "its password is another one",
    "Cannot recover key": "the password of its key is another one (`ssl.key.password`)",
    "Get Key failed": "the password of its key is another one (`ssl.key.password`)",
    "no key in it": "there is no key in it",
    "nvalid keystore format": "it is no store of JKS or PKCS12",
    "nrecognized keystore format": "it is no store of JKS or PKCS12",
    "DerInputStream": "it is no store of JKS or PKCS12",
}
_HINTS = {
    "truststore": (
        "check `ssl.truststore.password`; a trust store in PKCS12 that openssl made has no entry that Java trusts: "
        "`keytool -importcert -noprompt -alias ca -file ca.pem -keystore trust.p12 -storetype PKCS12`"
    ),
    "keystore": (
        "check `ssl.keystore.password`, `ssl.key.password` and `ssl.keystore.type`; PKCS12 and JKS need a JDK 11 "
        "or newer, or give the key as PEM: `openssl pkcs12 -in FILE -out key.pem`, then `ssl.keystore.type: PEM`"
    ),
}
_CALLED = {"truststore": "trust store", "keystore": "key store"}


@dataclass(frozen=True, slots=True)
class OwnCertificate:
    """A PEM file with a key and its certificates; the key may need the password."""

    file: str
    password: str = field(default="", repr=False)


def trusted_certificates(properties: Mapping[str, str]) -> str | None:
    """What the trust store holds, as PEM; None where the client has none.

    Raises:
        ConfigError: it cannot be read, or there is nothing in it that Java trusts.
    """
    location = properties.get("ssl.truststore.location")
    text = properties.get("ssl.truststore.certificates")
    if text is None and location is None:
        return None
    if text is not None or location is None:
        location, found = "ssl.truststore.certificates", blocks(text or "", "CERTIFICATE")
    elif properties.get("ssl.truststore.type", "JKS").upper() == "PEM":
        found = blocks(_content(location, "truststore").decode("utf-8", "replace"), "CERTIFICATE")
    else:
        found = trusted_in(_listing(properties, location))
    if not found:
        raise _unreadable("truststore", location, "it holds no certificate that Java trusts")
    return "".join(found)


def trusted_in(listing: str) -> list[str]:
    """The certificates that Java trusts, of what `keytool -list -rfc` prints (in English); pure."""
    return [f"{pem}\n" for number, pem in _LISTED.findall(listing) if number in ("", "1")]


@contextmanager
def own_certificate(properties: Mapping[str, str]) -> Iterator[OwnCertificate | None]:
    """The client's key, in a file as long as the context lasts; None where the client has none.

    Raises:
        ConfigError: it cannot be read.
    """
    location = properties.get("ssl.keystore.location")
    key_password = properties.get("ssl.key.password", "")
    chain, key = properties.get("ssl.keystore.certificate.chain"), properties.get("ssl.keystore.key")
    if chain is not None and key is not None:
        with _in_memory("".join((*blocks(key, "PRIVATE KEY"), *blocks(chain, "CERTIFICATE")))) as file:
            yield OwnCertificate(file, key_password)
    elif location is None:
        yield None
    elif properties.get("ssl.keystore.type", "JKS").upper() == "PEM":
        _content(location, "keystore")
        yield OwnCertificate(location, key_password)
    else:
        with _in_memory(_key_store(properties, location)) as file:
            yield OwnCertificate(file)


def _listing(properties: Mapping[str, str], location: str) -> str:
    _binary(location, "truststore")
    command = [_java("keytool"), "-J-Duser.language=en", "-list", "-rfc", "-keystore", location]
    password = properties.get("ssl.truststore.password")
    # Without one, Java opens a JKS unchecked, and so does keytool, which is told none by the end of its input.
    secret = [] if password is None else ["-storepass:env", "P"]
    return _said([*command, *secret], {"P": password or ""}, "truststore", location)


def _key_store(properties: Mapping[str, str], location: str) -> str:
    _binary(location, "keystore")
    password = properties.get("ssl.keystore.password", "")
    passwords = {"STORE_PASSWORD": password, "KEY_PASSWORD": properties.get("ssl.key.password", password)}
    kind = properties.get("ssl.keystore.type", "JKS")
    # One core and no heap to speak of: it runs for a moment.
    command = [_java("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", str(_READER), location, kind]
    return _said(command, passwords, "keystore", location)


def _binary(location: str, store: str) -> None:
    """Nothing that Java need not be asked about."""
    if b"-----BEGIN " in _content(location, store):
        reason = f"it is PEM: write `ssl.{store}.type: PEM`"
        raise _unreadable(store, location, reason)


def _content(location: str, store: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise _unreadable(store, location, error.strerror or type(error).__name__) from None


def _java(program: str) -> str:
    return str(find_java().home / "bin" / program)


def _said(command: Sequence[str], passwords: Mapping[str, str], store: str, location: str) -> str:
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **passwords},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unreadable(store, location, type(error).__name__) from None
    if done.returncode:
        said = done.stdout + done.stderr
        known = (reason for words, reason in _REASONS.items() if words in said)
        raise _unreadable(store, location, next(known, "Java refuses it (wrong password or type?)"))
    return done.stdout


def _unreadable(store: str, location: str, reason: str) -> ConfigError:
    message = f"the {_CALLED[store]} `{location}` cannot be read: {reason}"
    return ConfigError(Problem("store-unreadable", message, _HINTS[store]))


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    with NamedTemporaryFile("w", dir=_MEMORY if _MEMORY.is_dir() else None, suffix=".pem") as file:
        file.write(text)
        file.flush()
        yield file.name
