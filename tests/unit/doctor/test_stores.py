"""Stores that need no Java, and what is said where one cannot be read."""

import stat
from pathlib import Path

import pytest

from brokernat.doctor import stores
from brokernat.doctor.stores import own_certificate, trusted_certificates
from brokernat.errors import ConfigError
from brokernat.jvm import Java

PEM = "-----BEGIN CERTIFICATE-----\n"


@pytest.mark.parametrize("location", ["ssl.truststore.location", None])
def test_trusted_certificates_in_pem(tmp_path: Path, location: str | None) -> None:
    file = tmp_path / "trust.pem"
    file.write_text(PEM)
    by_file = {"ssl.truststore.location": str(file), "ssl.truststore.type": "pem"}
    assert trusted_certificates(by_file if location else {"ssl.truststore.certificates": PEM}) == PEM
    assert trusted_certificates({}) is None


def test_a_key_in_the_configuration_is_a_file_for_a_moment_and_for_nobody_else() -> None:
    properties = {"ssl.keystore.key": "KEY", "ssl.keystore.certificate.chain": "CHAIN", "ssl.key.password": "canary"}
    with own_certificate(properties) as own:
        assert own is not None
        file = Path(own.file)
        assert file.read_text() == "KEY\nCHAIN\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert own.password == "canary"
        assert "canary" not in repr(own)
    assert not file.exists()


def test_a_key_store_in_pem_is_read_where_it_is() -> None:
    with own_certificate({"ssl.keystore.location": "/a/key.pem", "ssl.keystore.type": "PEM"}) as own:
        assert own is not None
        assert own.file == "/a/key.pem"
    with own_certificate({}) as own:
        assert own is None


@pytest.mark.parametrize("kind", ["trust", "key"])
def test_passwords_are_no_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    """A Java that keeps how it was started, and refuses."""
    program = tmp_path / "bin" / {"trust": "keytool", "key": "java"}[kind]
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\nenv > {tmp_path}/environment\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr(stores, "find_java", lambda: Java(tmp_path, "17", "", ""))
    properties = {f"ssl.{kind}store.location": "/a/store", f"ssl.{kind}store.password": "canary"}
    with pytest.raises(ConfigError, match=r"`/a/store` cannot be read: Java refuses it") as failed:
        _ = trusted_certificates(properties) if kind == "trust" else own_certificate(properties).__enter__()
    assert "canary" not in failed.value.report() + (tmp_path / "arguments").read_text()
    assert "=canary\n" in (tmp_path / "environment").read_text()
    assert ("`ssl.keystore.type: PEM`" in failed.value.report()) == (kind == "key")
