"""Blocks of PEM out of what people have."""

import pytest

from brokernat.clients.tls import blocks

LINES = "-----BEGIN CERTIFICATE-----\n" + "A" * 64 + "\nBB==\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nCC==\n-----END ENCRYPTED PRIVATE KEY-----\n"
OLD = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nDD==\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        f"Zertifikat der Behörde\n{LINES}{KEY}",
        LINES.replace("\n", " "),
        LINES.replace("\n", "\r\n"),
    ],
    ids=["lines", "prose-and-a-key", "one-line", "dos"],
)
def test_certificates(text: str) -> None:
    assert blocks(text, "CERTIFICATE") == [LINES]


@pytest.mark.parametrize("key", [KEY, OLD])
def test_keys_of_any_kind(key: str) -> None:
    assert blocks(LINES + key, "PRIVATE KEY") == [key]


@pytest.mark.parametrize("text", ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAA==\n"])
def test_nothing(text: str) -> None:
    assert blocks(text, "CERTIFICATE") == []
