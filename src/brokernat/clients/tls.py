"""Converts the client's TLS properties for OpenSSL: trusted certificates, own certificate, versions.

PEM is parsed directly. Kafka finds its blocks by a pattern, so a text may have any other text around them, and a block
on one line with blanks instead of line ends, as in a Java properties file; OpenSSL requires lines, and Python ASCII.
Java opens all other formats: `keytool` lists trusted certificates, and a single-file program prints the key. OpenSSL
reads keys only from files, so a key without a file of the user is temporarily written to a private file in memory
(`/dev/shm`). Passwords are passed in the environment, because all users can see arguments. Java's messages about a
store are classified by their text and never quoted.

Two contexts are created. Java does not check the validity period of certificates in its trust store, but OpenSSL does.
So the second context checks no periods, and `doctor/probes/tls.py` compares them itself.
"""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from brokernat.errors import ConfigError, Finding
from brokernat.jvm import find_java
from brokernat.jvm.java import BRIEF
from brokernat.paths import reading

_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which has no name in Python
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
"""Versions that Java supports: JDKs since 2021 refuse TLS 1.0 and 1.1, as OpenSSL does."""
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_LINE = 64
_TIMEOUT = 60
_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory; NamedTemporaryFile makes names that cannot be guessed
_READER = Path(__file__).with_name("ReadKeyStore.java")
# For a key entry with a chain, Java trusts only the key's own certificate, not its issuers.
_LISTED = re.compile(
    r"(?:^Certificate\[(\d+)\]:\s*)?(-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----)", re.DOTALL | re.MULTILINE
)
_REASONS = {
    "password was incorrect": "its password is wrong",
    "Cannot recover key": "the password of its key is wrong (`ssl.key.password`)",
    "Get Key failed": "the password of its key is wrong (`ssl.key.password`)",
    "no key in it": "it contains no key",
    "nvalid keystore format": "it is not a JKS or PKCS12 store",
    "nrecognized keystore format": "it is not a JKS or PKCS12 store",
    "DerInputStream": "it is not a JKS or PKCS12 store",
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
_STORE_NAMES = {"truststore": "trust store", "keystore": "key store"}


@dataclass(frozen=True, slots=True)
class OwnCertificate:
    """A PEM file with a key and its certificates; the key may need the password."""

    file: str
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TlsSide:
    """`undated` does not check validity periods; `certificate` is the client's own, as parsed by `ssl`.

    `chain_bytes` is the size of all certificates that the client sends (DER), `versions` are those that its
    configuration names.
    """

    context: ssl.SSLContext = field(repr=False)
    undated: ssl.SSLContext = field(repr=False)
    certificate: Mapping[str, Any] | None
    chain_bytes: int = 0
    versions: tuple[str, ...] = ()


def tls_side(properties: Mapping[str, str]) -> TlsSide:
    """The TLS contexts for the client's `ssl.` properties.

    Raises:
        ConfigError: a store cannot be read, or no supported version is enabled.
    """
    trusted = trusted_certificates(properties)
    context, undated = _context_trusting(trusted), _context_trusting(trusted)
    undated.verify_flags |= _NO_CHECK_TIME
    with own_certificate(properties) as own:
        for each in (context, undated):
            _limit_versions(each, properties.get("ssl.enabled.protocols"))
            if own is not None:
                _load_certificate(each, own)
        # The only function of Python that parses a certificate file is private.
        certificate = None if own is None else ssl._ssl._test_decode_cert(own.file)  # type: ignore[attr-defined]  # noqa: SLF001
        chain_bytes = 0 if own is None else _size_of_certificates(own)
    named = properties.get("ssl.enabled.protocols", "").split(",")
    versions = tuple(name for each in named if (name := each.strip()) in _VERSIONS)
    return TlsSide(context, undated, certificate, chain_bytes, versions)


def _size_of_certificates(own: OwnCertificate) -> int:
    text = Path(own.file).read_text("ascii", errors="replace")
    bodies = ("".join(body.split()) for kind, body in _BLOCK.findall(text) if kind.endswith("CERTIFICATE"))
    return sum(3 * len(body.rstrip("=")) // 4 for body in bodies)


def _context_trusting(certificates: str | None) -> ssl.SSLContext:
    if certificates is None:
        context = ssl.create_default_context()
        context.check_hostname = False
        return context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # Java accepts any certificate of its trust store as an anchor, even a broker's own.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=certificates)
    except (OSError, ValueError):
        raise _unusable("a certificate of the trust store cannot be read") from None
    return context


def _load_certificate(context: ssl.SSLContext, own: OwnCertificate) -> None:
    try:
        context.load_cert_chain(own.file, password=own.password)
    except (OSError, ValueError):
        # OpenSSL's message contains no secret, but does not help, either.
        hint = "check `ssl.key.password`, and that the certificate is that of the key and comes first"
        raise _unusable("the client's key or its certificate cannot be read", hint) from None


def _limit_versions(context: ssl.SSLContext, names: str | None) -> None:
    if names is None:
        return
    known = [_VERSIONS[name.strip()] for name in names.split(",") if name.strip() in _VERSIONS]
    if not known:
        message = f"`ssl.enabled.protocols: {names}` has no TLS version that Java supports"
        raise ConfigError(Finding("tls-version", message, f"write `{','.join(_VERSIONS)}`, or omit it"))
    context.minimum_version, context.maximum_version = min(known), max(known)


def _unusable(message: str, hint: str | None = None) -> ConfigError:
    return ConfigError(Finding("store-unreadable", message, hint))


def trusted_certificates(properties: Mapping[str, str]) -> str | None:
    """The certificates of the trust store, as PEM; None if the client has none.

    Raises:
        ConfigError: it cannot be read, or contains no certificate that Java trusts.
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
    """The certificates that Java trusts, from the output of `keytool -list -rfc` (in English); pure."""
    return [f"{pem}\n" for number, pem in _LISTED.findall(listing) if number in ("", "1")]


@contextmanager
def own_certificate(properties: Mapping[str, str]) -> Iterator[OwnCertificate | None]:
    """A context manager for a file with the client's key; None if the client has none.

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
    _refuse_pem(location, "truststore")
    options = ("-Duser.language=en", *BRIEF)
    command = [_java("keytool"), *(f"-J{option}" for option in options), "-list", "-rfc", "-keystore", location]
    password = properties.get("ssl.truststore.password")
    # Without a password Java opens a JKS unchecked; keytool does so, too, when its standard input is empty.
    secret = [] if password is None else ["-storepass:env", "P"]
    return _output_of_java([*command, *secret], {"P": password or ""}, "truststore", location)


def _key_store(properties: Mapping[str, str], location: str) -> str:
    _refuse_pem(location, "keystore")
    password = properties.get("ssl.keystore.password", "")
    passwords = {"STORE_PASSWORD": password, "KEY_PASSWORD": properties.get("ssl.key.password", password)}
    kind = properties.get("ssl.keystore.type", "JKS")
    command = [_java("java"), *BRIEF, str(_READER), location, kind]
    return _output_of_java(command, passwords, "keystore", location)


def _refuse_pem(location: str, store: str) -> None:
    """Raises for a PEM file, so that Java is not started for it."""
    if b"-----BEGIN " in _content(location, store):
        reason = f"it is PEM: write `ssl.{store}.type: PEM`"
        raise _unreadable(store, location, reason)


def _content(location: str, store: str) -> bytes:
    path = Path(location).absolute()
    with reading(path, f"the {_STORE_NAMES[store]}", moved_by=f"`ssl.{store}.location`"):
        return path.read_bytes()


def _java(program: str) -> str:
    return str(find_java().home / "bin" / program)


def _output_of_java(command: Sequence[str], passwords: Mapping[str, str], store: str, location: str) -> str:
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
        output = done.stdout + done.stderr
        known = (reason for words, reason in _REASONS.items() if words in output)
        raise _unreadable(store, location, next(known, "Java refuses it (wrong password or type?)"))
    return done.stdout


def _unreadable(store: str, location: str, reason: str) -> ConfigError:
    message = f"the {_STORE_NAMES[store]} `{location}` cannot be read: {reason}"
    return ConfigError(Finding("store-unreadable", message, _HINTS[store]))


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    with NamedTemporaryFile("w", dir=_MEMORY if _MEMORY.is_dir() else None, suffix=".pem") as file:
        file.write(text)
        file.flush()
        yield file.name


def blocks(text: str, ending: str) -> list[str]:
    """The blocks of a kind that ends with `CERTIFICATE` or `PRIVATE KEY`, each as lines."""
    return [_lines(kind, body) for kind, body in _BLOCK.findall(text) if kind.endswith(ending)]


def _lines(kind: str, body: str) -> str:
    # A key in the traditional format has headers and is not changed.
    content = body.strip() if ":" in body else "\n".join(textwrap.wrap("".join(body.split()), _LINE))
    return f"-----BEGIN {kind}-----\n{content}\n-----END {kind}-----\n"
