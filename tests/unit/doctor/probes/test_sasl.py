"""What comes of a login; OAUTHBEARER as RFC 7628 writes it."""

import asyncio
import base64

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.sasl_authenticate.v1.request import SaslAuthenticateRequest
from kio.schema.sasl_authenticate.v1.response import SaslAuthenticateResponse
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse
from tests.unit.doctor.probes.scripted import Scripted

from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import Login
from brokernat.doctor.probes.sasl import enabled_mechanisms, log_in

BEARER = ClientSide("SASL_SSL", "OAUTHBEARER", token="abc.def.", extensions=(("logicalCluster", "lkc-1"),))


def handshake(error: int = 0) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=ErrorCode(error), mechanisms=("OAUTHBEARER",))


def authenticated(data: bytes = b"", error: int = 0, message: str | None = None) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=ErrorCode(error), error_message=message, auth_bytes=data)


def test_a_token_is_sent_with_its_extensions() -> None:
    script = Scripted(handshake(), authenticated())
    assert asyncio.run(log_in(script.channel, BEARER)) == Login("ok")
    sent = script.asked[1]
    assert isinstance(sent, SaslAuthenticateRequest)
    assert sent.auth_bytes == b"n,,\x01auth=Bearer abc.def.\x01logicalCluster=lkc-1\x01\x01"


@pytest.mark.parametrize(
    ("answers", "detail"),
    [
        ((authenticated(b'{"status":"invalid_token"}'), authenticated(error=58, message="expired")), "expired"),
        ((authenticated(b'{"status":"invalid_token"}'), authenticated()), "the token is refused"),
        ((authenticated(error=58),), "sasl_authentication_failed"),
    ],
)
def test_a_refused_token_is_refused_in_the_brokers_words(answers: tuple[object, ...], detail: str) -> None:
    seen = asyncio.run(log_in(Scripted(handshake(), *answers).channel, BEARER))
    assert seen == Login("rejected", detail=detail)


def test_a_secret_that_the_broker_repeats_is_masked() -> None:
    client = ClientSide("SASL_PLAINTEXT", "PLAIN", "me", "canary")
    refused = authenticated(error=58, message="x" * 190 + " canary is wrong for me")
    seen = asyncio.run(log_in(Scripted(handshake(), refused).channel, client))
    assert seen == Login("rejected", detail="x" * 190 + " *** is wr")
    quoted = base64.b64encode(b"\0me\0canary").decode()
    refused = authenticated(error=58, message=f"cannot decode {quoted}, canar%79")
    assert asyncio.run(log_in(Scripted(handshake(), refused).channel, client)).detail == "cannot decode ***, ***"
    refused = authenticated(error=58, message="no such token: abc.def.")
    assert asyncio.run(log_in(Scripted(handshake(), refused).channel, BEARER)).detail == "no such token: ***"


def test_what_a_broker_offers_is_its_own_words_as_well() -> None:
    offered = SaslHandshakeResponse(error_code=ErrorCode(33), mechanisms=("canary", "y" * 1000))
    seen = asyncio.run(log_in(Scripted(offered).channel, ClientSide("SASL_PLAINTEXT", "PLAIN", "me", "canary")))
    assert seen == Login("mechanism-not-offered", ("***", "y" * 200), "unsupported_sasl_mechanism")


@pytest.mark.parametrize(
    ("error", "listed", "expected"), [(33, ("PLAIN", "y" * 1000), ("PLAIN", "y" * 200)), (34, (), ())]
)
def test_the_mechanisms_of_a_listener(error: int, listed: tuple[str, ...], expected: tuple[str, ...]) -> None:
    answer = SaslHandshakeResponse(error_code=ErrorCode(error), mechanisms=listed)
    assert asyncio.run(enabled_mechanisms(Scripted(answer).channel)) == expected


@pytest.mark.parametrize(
    ("mechanism", "words"), [("GSSAPI", "Kerberos"), ("OAUTHBEARER", "--token-command"), ("PLAIN", "a Java class")]
)
def test_what_is_not_tried_is_said(mechanism: str, words: str) -> None:
    script = Scripted(handshake())
    seen = asyncio.run(log_in(script.channel, ClientSide("SASL_SSL", mechanism)))
    assert seen.outcome == "not-tried"
    assert words in seen.detail
