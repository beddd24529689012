"""A login with PLAIN (RFC 4616), SCRAM (RFC 5802, 7677) or OAUTHBEARER (RFC 7628), as KIP-43 and KIP-152 frame it.

Passwords are sent as they are: Kafka's server does not prepare strings (SASLprep) either. GSSAPI would need Kerberos'
own library and a ticket; it is not tried, and the report says so.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

from kio.schema.sasl_authenticate.v1.request import SaslAuthenticateRequest
from kio.schema.sasl_authenticate.v1.response import SaslAuthenticateResponse
from kio.schema.sasl_handshake.v1.request import SaslHandshakeRequest
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse

from brokernat.config.secrets import masked
from brokernat.doctor.client.credentials import ClientSide
from brokernat.doctor.evidence import Login
from brokernat.doctor.probes.channel import Channel, ChannelError

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_NOT_TRIED = {
    "GSSAPI": "the doctor does not try Kerberos (GSSAPI)",
    "OAUTHBEARER": "the doctor has no token for OAUTHBEARER: give a command that prints one, `--token-command`",
}
# With fewer (RFC 7677, 4) a hostile server learns too much from the proof: each guess at the password costs as little.
_FEWEST_ITERATIONS = 4096
# What a hostile server may make a client compute.
_MOST_ITERATIONS = 1_000_000
_LONGEST = 200


class _RefusedError(Exception):
    """The broker said no, in its own words."""


async def log_in(channel: Channel, client: ClientSide) -> Login:
    """What came of it; never raises."""
    mechanism = client.mechanism or "GSSAPI"
    try:
        answer = await channel.ask(SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse)
        if answer.error_code:
            offered = tuple(_quoted(each, client) for each in answer.mechanisms or ())
            return Login("mechanism-not-offered", offered, answer.error_code.name)
        if mechanism == "PLAIN":
            await _exchange(channel, f"\0{client.username}\0{client.password}".encode())
        elif mechanism in _HASHES:
            await _scram(channel, client, _HASHES[mechanism])
        elif mechanism == "OAUTHBEARER" and client.token is not None:
            await _bearer(channel, client.token, client.extensions)
        else:
            return Login("not-tried", detail=_NOT_TRIED.get(mechanism, f"the doctor cannot log in with {mechanism}"))
    except ChannelError as error:
        return Login(error.fault, detail=str(error))
    except _RefusedError as error:
        return Login("rejected", detail=_quoted(str(error), client))
    return Login("ok")


def _quoted(text: str, client: ClientSide) -> str:
    """The broker's words: a login module may have put into them what it was sent."""
    return masked(text, client.password, client.token or "")[:_LONGEST]


async def _exchange(channel: Channel, token: bytes) -> bytes:
    answer = await channel.ask(SaslAuthenticateRequest(auth_bytes=token), SaslAuthenticateResponse)
    if answer.error_code:
        raise _RefusedError(answer.error_message or answer.error_code.name)
    return answer.auth_bytes or b""


async def _bearer(channel: Channel, token: str, extensions: Sequence[tuple[str, str]]) -> None:
    pairs = [("auth", f"Bearer {token}"), *extensions]
    refusal = await _exchange(channel, ("n,,\x01" + "".join(f"{k}={v}\x01" for k, v in pairs) + "\x01").encode())
    if refusal:
        # The reason comes as a challenge; the error follows when it was taken (RFC 7628, 3.2.3).
        await _exchange(channel, b"\x01")
        raise _RefusedError("the token is refused")


async def _scram(channel: Channel, client: ClientSide, algorithm: str) -> None:
    name = client.username.replace("=", "=3D").replace(",", "=2C")
    nonce = secrets.token_urlsafe(18)
    first = f"n={name},r={nonce}"
    server_first = (await _exchange(channel, f"n,,{first}".encode())).decode(errors="replace")
    last, signature = scram_last(algorithm, client.password, first, server_first)
    answer = (await _exchange(channel, last)).decode(errors="replace")
    if answer != f"v={signature}":
        raise _RefusedError("the broker does not know the password itself")


def scram_last(algorithm: str, password: str, first: str, server_first: str) -> tuple[bytes, str]:
    """The client's last message and the signature that the server must answer; pure.

    Raises:
        ChannelError: the server's message is none.
    """
    fields = dict(part.split("=", 1) for part in server_first.split(",") if "=" in part)
    client_nonce = first.rpartition(",r=")[2]
    try:
        salt, iterations, nonce = base64.b64decode(fields["s"]), int(fields["i"]), fields["r"]
    except (KeyError, ValueError):
        raise ChannelError("a SCRAM message that is none") from None
    if not nonce.startswith(client_nonce):
        raise ChannelError("a SCRAM message that is none")
    if not _FEWEST_ITERATIONS <= iterations <= _MOST_ITERATIONS:
        limits = f"{_FEWEST_ITERATIONS} to {_MOST_ITERATIONS} are accepted"
        raise ChannelError(f"the broker asks for {iterations} SCRAM iterations, and {limits}")
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, iterations)
    without_proof = f"c=biws,r={nonce}"
    message = f"{first},{server_first},{without_proof}".encode()
    key = hmac.digest(salted, b"Client Key", algorithm)
    mask = hmac.digest(hashlib.new(algorithm, key).digest(), message, algorithm)
    proof = bytes(one ^ other for one, other in zip(key, mask, strict=True))
    signature = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), message, algorithm)
    return f"{without_proof},p={_text(proof)}".encode(), _text(signature)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
