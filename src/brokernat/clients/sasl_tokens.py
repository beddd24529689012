"""The tokens of a login with PLAIN (RFC 4616) or SCRAM (RFC 5802, 7677); pure.

Passwords are not normalised (SASLprep), because Kafka's server does not do it, either.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Generator
from typing import Final

_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS: Final = ("PLAIN", *_HASHES)
# The minimum (RFC 7677, 4): with fewer iterations a hostile server could guess the password from the proof.
_FEWEST_ITERATIONS: Final = 4096
# Bounds the CPU time that a hostile server can cause.
_MOST_ITERATIONS: Final = 1_000_000


class SaslTokenError(ValueError):
    """The server's token is invalid."""


class UnprovenServerError(SaslTokenError):
    """The server accepted the login but did not prove that it knows the password."""


def login_tokens(mechanism: str, username: str, password: str) -> Generator[bytes, bytes, None]:
    """A generator of the client's tokens for one of `MECHANISMS`; send the server's responses into it.

    Raises:
        SaslTokenError: the server's token is invalid.
        UnprovenServerError: the server must not be trusted.
    """
    if mechanism == "PLAIN":
        yield f"\0{username}\0{password}".encode()
        return
    name = username.replace("=", "=3D").replace(",", "=2C")
    first = f"n={name},r={secrets.token_urlsafe(18)}"
    server_first = (yield f"n,,{first}".encode()).decode(errors="replace")
    last, signature = scram_last(_HASHES[mechanism], password, first, server_first)
    if (yield last).decode(errors="replace") != f"v={signature}":
        raise UnprovenServerError("the broker could not prove that it knows the password")


def scram_last(algorithm: str, password: str, first: str, server_first: str) -> tuple[bytes, str]:
    """The client's last message and the expected signature of the server.

    Raises:
        SaslTokenError: the server's message is invalid.
    """
    fields = dict(part.split("=", 1) for part in server_first.split(",") if "=" in part)
    client_nonce = first.rpartition(",r=")[2]
    try:
        salt, iterations, nonce = base64.b64decode(fields["s"]), int(fields["i"]), fields["r"]
    except (KeyError, ValueError):
        raise SaslTokenError("an invalid SCRAM message") from None
    if not nonce.startswith(client_nonce):
        raise SaslTokenError("an invalid SCRAM message")
    if not _FEWEST_ITERATIONS <= iterations <= _MOST_ITERATIONS:
        limits = f"{_FEWEST_ITERATIONS} to {_MOST_ITERATIONS} are accepted"
        raise SaslTokenError(f"the broker requires {iterations} SCRAM iterations, and {limits}")
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, iterations)
    without_proof = f"c=biws,r={nonce}"
    message = f"{first},{server_first},{without_proof}".encode()
    key = hmac.digest(salted, b"Client Key", algorithm)
    mask = hmac.digest(hashlib.new(algorithm, key).digest(), message, algorithm)
    proof = bytes(left ^ right for left, right in zip(key, mask, strict=True))
    signature = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), message, algorithm)
    return f"{without_proof},p={_text(proof)}".encode(), _text(signature)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
