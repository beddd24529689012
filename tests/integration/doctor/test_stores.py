"""Stores as Java's own tools make them, and what is said where one cannot be used: one error, and no secret in it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest

from brokernat.clients.tls import own_certificate, trusted_certificates
from brokernat.errors import ConfigError

pytestmark = pytest.mark.integration

PASSWORD, KEY_PASSWORD = "canary-91cd", "canary-5aa0"
VECTORS = Path(__file__).parents[2] / "vectors" / "tls"
"""The key stores hold two keys; those of JKS have a password of their own."""


def trust(file: Path, **others: str) -> Mapping[str, str]:
    return {"ssl.truststore.location": str(file)} | {f"ssl.truststore.{name}": each for name, each in others.items()}


def keys(file: Path, key_password: str | None = None, **others: str) -> Mapping[str, str]:
    named = {"ssl.keystore.location": str(file)} | {f"ssl.keystore.{name}": each for name, each in others.items()}
    return named if key_password is None else named | {"ssl.key.password": key_password}


@pytest.mark.parametrize(("stored", "said"), [("JKS", "PKCS12"), ("PKCS12", "JKS"), ("PKCS12", None)])
def test_java_opens_either_format_by_either_name(stored: str, said: str | None) -> None:
    """`keystore.type.compat` of the JDK, which Kafka's clients inherit."""
    kind = {} if said is None else {"type": said}
    found = trusted_certificates(trust(VECTORS / f"trust.{stored}", password=PASSWORD, **kind))
    assert found is not None
    assert ssl.PEM_cert_to_DER_cert(found) == ssl.PEM_cert_to_DER_cert((VECTORS / "root.pem").read_text())
    key_password = KEY_PASSWORD if stored == "JKS" else None
    with own_certificate(keys(VECTORS / f"keys.{stored}", key_password, password=PASSWORD, **kind)) as own:
        assert own is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_cert_chain(own.file)


def test_a_jks_needs_no_password_to_be_trusted() -> None:
    """As in Java, which does not check it then."""
    assert trusted_certificates(trust(VECTORS / "trust.JKS"))


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        (trust(VECTORS / "trust.JKS", password="canary-wrong"), "its password is wrong"),
        (trust(VECTORS / "openssl.p12", password=PASSWORD), "it holds no certificate that Java trusts"),
        (trust(VECTORS / "make.sh", password=PASSWORD), "it is not a JKS or PKCS12 store"),
        (keys(VECTORS / "keys.PKCS12", password="canary-wrong"), "its password is wrong"),
        (keys(VECTORS / "keys.JKS", "canary-wrong", password=PASSWORD), "the password of its key is wrong"),
        (keys(VECTORS / "trust.JKS", password=PASSWORD), "it contains no key"),
        (keys(VECTORS / "make.sh", password=PASSWORD), "it is not a JKS or PKCS12 store"),
    ],
)
def test_one_error_that_says_what_it_is(properties: Mapping[str, str], reason: str) -> None:
    """What `openssl pkcs12 -export -nokeys` makes lacks the attribute by which Java trusts an entry."""
    with pytest.raises(ConfigError, match="cannot be read: ") as failed:
        used(properties)
    assert reason in failed.value.report()
    assert "canary" not in failed.value.report()


def used(properties: Mapping[str, str]) -> None:
    trusted_certificates(properties)
    with own_certificate(properties):
        pass
