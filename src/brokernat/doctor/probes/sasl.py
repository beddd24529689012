"""A login with PLAIN, SCRAM or OAUTHBEARER (RFC 7628), as KIP-43 and KIP-152 frame it.

GSSAPI would need Kerberos' own library and a ticket; it is not tried, and the report says so.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from kio.schema.sasl_authenticate.v1.request import SaslAuthenticateRequest
from kio.schema.sasl_authenticate.v1.response import SaslAuthenticateResponse
from kio.schema.sasl_handshake.v1.request import SaslHandshakeRequest
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse

from brokernat.clients.sasl_tokens import MECHANISMS, SaslTokenError, UnprovenServerError, login_tokens
from brokernat.config.secrets import masked
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import Login
from brokernat.doctor.probes.channel import Channel, ChannelError

_NOT_TRIED = {
    "GSSAPI": "the doctor does not try Kerberos (GSSAPI)",
    "OAUTHBEARER": "the doctor has no token for OAUTHBEARER: give a command that prints one, `--token-command`",
}
_UNKNOWN = "the doctor does not know the user: a Java class of the client's configuration gives name and password"
_LONGEST = 200


class _RefusedError(Exception):
    """The broker rejected the login, with its own message."""


async def log_in(channel: Channel, client: ClientSide) -> Login:
    """The result of the login; never raises."""
    mechanism = client.mechanism or "GSSAPI"
    try:
        answer = await channel.ask(SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse)
        if answer.error_code:
            offered = tuple(_quoted(each, client) for each in answer.mechanisms or ())
            return Login("mechanism-not-offered", offered, answer.error_code.name)
        if mechanism in MECHANISMS:
            if not client.username:
                return Login("not-tried", detail=_UNKNOWN)
            await _exchange_all(channel, login_tokens(mechanism, client.username, client.password))
        elif mechanism == "OAUTHBEARER" and client.token is not None:
            await _bearer(channel, client.token, client.extensions)
        else:
            return Login("not-tried", detail=_NOT_TRIED.get(mechanism, f"the doctor cannot log in with {mechanism}"))
    except ChannelError as error:
        return Login(error.fault, detail=str(error))
    except _RefusedError as error:
        return Login("rejected", detail=_quoted(str(error), client))
    return Login("ok")


async def enabled_mechanisms(channel: Channel) -> tuple[str, ...] | None:
    """The mechanisms of a listener, empty if it has no login (ILLEGAL_SASL_STATE); None if it does not answer."""
    try:
        answer = await channel.ask(SaslHandshakeRequest(mechanism=""), SaslHandshakeResponse)
    except ChannelError:
        return None
    return tuple(each[:_LONGEST] for each in answer.mechanisms or ())


def _quoted(text: str, client: ClientSide) -> str:
    """The broker's message without the client's secrets, which a login module may have put into it."""
    return masked(text, client.password, client.token or "")[:_LONGEST]


async def _exchange(channel: Channel, token: bytes) -> bytes:
    answer = await channel.ask(SaslAuthenticateRequest(auth_bytes=token), SaslAuthenticateResponse)
    if answer.error_code:
        raise _RefusedError(answer.error_message or answer.error_code.name)
    return answer.auth_bytes or b""


async def _exchange_all(channel: Channel, tokens: Generator[bytes, bytes, None]) -> None:
    try:
        token = next(tokens)
        while True:
            token = tokens.send(await _exchange(channel, token))
    except StopIteration:
        return
    except UnprovenServerError as error:
        raise _RefusedError(str(error)) from None
    except SaslTokenError as error:
        raise ChannelError(str(error)) from None


async def _bearer(channel: Channel, token: str, extensions: Sequence[tuple[str, str]]) -> None:
    pairs = [("auth", f"Bearer {token}"), *extensions]
    refusal = await _exchange(channel, ("n,,\x01" + "".join(f"{k}={v}\x01" for k, v in pairs) + "\x01").encode())
    if refusal:
        # The reason comes as a challenge; the error follows after the client has answered it (RFC 7628, 3.2.3).
        await _exchange(channel, b"\x01")
        raise _RefusedError("the token is refused")
