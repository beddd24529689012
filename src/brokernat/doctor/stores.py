"""Java's trust store and key store, as OpenSSL takes them.

PEM is read as it is. Everything else is opened by Java itself: `keytool` lists trusted certificates, and a program of
one file prints the key. OpenSSL takes a key from a file only, so a key that is no file of the user's becomes one in
memory (`/dev/shm`) that nobody else may read, for as long as it takes. Passwords go by the environment: arguments are
seen by everybody.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from brokernat.errors import ConfigError, Problem
from brokernat.jvm import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TIMEOUT = 60
_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory; NamedTemporaryFile makes names that nobody guesses
_READER = Path(__file__).with_name("ReadKeyStore.java")


@dataclass(frozen=True, slots=True)
class OwnCertificate:
    """A PEM file with a key and its certificates; the key may need the password."""

    file: str
    password: str = field(default="", repr=False)


def trusted_certificates(properties: Mapping[str, str]) -> str | None:
    """What the trust store holds, as PEM; None where the client has none.

    Raises:
        ConfigError: it cannot be read.
    """
    location = properties.get("ssl.truststore.location")
    if "ssl.truststore.certificates" in properties:
        return properties["ssl.truststore.certificates"]
    if location is None:
        return None
    if properties.get("ssl.truststore.type", "JKS").upper() == "PEM":
        try:
            return Path(location).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable("trust store", location, type(error).__name__) from None
    command = [_java("keytool"), "-list", "-rfc", "-keystore", location, "-storepass:env", "P"]
    return _said(command, {"P": properties.get("ssl.truststore.password", "")}, "trust store", location)


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
        with _in_memory(f"{key}\n{chain}\n") as file:
            yield OwnCertificate(file, key_password)
    elif location is None:
        yield None
    elif properties.get("ssl.keystore.type", "JKS").upper() == "PEM":
        yield OwnCertificate(location, key_password)
    else:
        with _in_memory(_key_store(properties, location)) as file:
            yield OwnCertificate(file)


def _key_store(properties: Mapping[str, str], location: str) -> str:
    password = properties.get("ssl.keystore.password", "")
    passwords = {"STORE_PASSWORD": password, "KEY_PASSWORD": properties.get("ssl.key.password", password)}
    kind = properties.get("ssl.keystore.type", "JKS")
    # One core and no heap to speak of: it runs for a moment.
    command = [_java("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", str(_READER), location, kind]
    return _said(command, passwords, "key store", location)


def _java(program: str) -> str:
    return str(find_java().home / "bin" / program)


def _said(command: Sequence[str], passwords: Mapping[str, str], what: str, location: str) -> str:
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
        raise _unreadable(what, location, type(error).__name__) from None
    if done.returncode:
        raise _unreadable(what, location, "Java refuses it (wrong password or type?)")
    return done.stdout


def _unreadable(what: str, location: str, reason: str) -> ConfigError:
    hint = None
    if what == "key store":
        hint = (
            "check `ssl.keystore.password`, `ssl.key.password` and `ssl.keystore.type`; PKCS12 and JKS need a JDK 11 "
            "or newer, or give the key as PEM: `openssl pkcs12 -in FILE -out key.pem`, then `ssl.keystore.type: PEM`"
        )
    return ConfigError([Problem("store-unreadable", f"the {what} `{location}` cannot be read: {reason}", hint)])


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    with NamedTemporaryFile("w", dir=_MEMORY if _MEMORY.is_dir() else None, suffix=".pem") as file:
        file.write(text)
        file.flush()
        yield file.name
