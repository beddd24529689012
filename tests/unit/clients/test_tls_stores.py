"""Stores that need no Java, and what is said where one cannot be read."""

import stat
from pathlib import Path

import pytest

from brokernat.clients import tls
from brokernat.clients.tls import own_certificate, trusted_certificates, trusted_in
from brokernat.errors import ConfigError
from brokernat.jvm import Java

PEM = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"
CHAIN = PEM.replace("AA", "BB")
KEY = "-----BEGIN PRIVATE KEY-----\nCC==\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("location", ["ssl.truststore.location", None])
def test_trusted_certificates_in_pem(tmp_path: Path, location: str | None) -> None:
    file = tmp_path / "trust.pem"
    file.write_text(f"Die Behörde\n{PEM}")
    by_file = {"ssl.truststore.location": str(file), "ssl.truststore.type": "pem"}
    assert trusted_certificates(by_file if location else {"ssl.truststore.certificates": PEM}) == PEM
    assert trusted_certificates({}) is None


def test_of_a_key_java_trusts_its_own_certificate_and_not_those_that_signed_it() -> None:
    listing = (
        f"Alias name: ca\nEntry type: trustedCertEntry\n\n{PEM}\n\n*****\n\nAlias name: client\n"
        f"Entry type: PrivateKeyEntry\nCertificate chain length: 2\nCertificate[1]:\n{CHAIN}Certificate[2]:\n{PEM}"
    )
    assert trusted_in(listing) == [PEM, CHAIN]


def test_a_key_in_the_configuration_is_a_file_for_a_moment_and_for_nobody_else() -> None:
    properties = {"ssl.keystore.key": KEY, "ssl.keystore.certificate.chain": CHAIN, "ssl.key.password": "canary"}
    with own_certificate(properties) as own:
        assert own is not None
        file = Path(own.file)
        assert file.read_text() == KEY + CHAIN
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert own.password == "canary"
        assert "canary" not in repr(own)
    assert not file.exists()


def test_a_key_store_in_pem_is_read_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(KEY + CHAIN)
    with own_certificate({"ssl.keystore.location": str(file), "ssl.keystore.type": "PEM"}) as own:
        assert own is not None
        assert own.file == str(file)
    with own_certificate({}) as own:
        assert own is None


@pytest.mark.parametrize("kind", ["trust", "key"])
def test_passwords_are_no_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    """A Java that keeps how it was started, and refuses."""
    program = tmp_path / "bin" / {"trust": "keytool", "key": "java"}[kind]
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\nenv > {tmp_path}/environment\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr(tls, "find_java", lambda: Java(tmp_path, "17", "", ""))
    (tmp_path / "store").write_bytes(b"\xfe\xed")
    properties = {f"ssl.{kind}store.location": str(tmp_path / "store"), f"ssl.{kind}store.password": "canary"}
    with pytest.raises(ConfigError, match=r"store` cannot be read: Java refuses it") as failed:
        _ = trusted_certificates(properties) if kind == "trust" else own_certificate(properties).__enter__()
    assert "canary" not in failed.value.report() + (tmp_path / "arguments").read_text()
    assert "=canary\n" in (tmp_path / "environment").read_text()
    assert ("`ssl.keystore.type: PEM`" in failed.value.report()) == (kind == "key")


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_what_needs_no_java_to_be_refused(tmp_path: Path, store: str) -> None:
    file = tmp_path / "store"
    with pytest.raises(ConfigError, match="No such file") as missing:
        read(store, file)
    assert missing.value.problems[0].hint == f"name another with `ssl.{store}.location`"
    file.write_text(PEM)
    with pytest.raises(ConfigError, match=rf"it is PEM: write `ssl\.{store}\.type: PEM`"):
        read(store, file)


def read(store: str, file: Path, **others: str) -> str | None:
    """What a store holds: the trusted certificates, or key and chain."""
    named = {f"ssl.{store}.{name}": value for name, value in others.items()}
    properties = {f"ssl.{store}.location": str(file), **named}
    if store == "truststore":
        return trusted_certificates(properties)
    with own_certificate(properties) as own:
        return None if own is None else Path(own.file).read_text()
