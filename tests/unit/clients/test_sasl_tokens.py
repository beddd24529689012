"""SCRAM against the example of RFC 7677."""

import base64

import pytest

from brokernat.clients.sasl_tokens import SaslTokenError, UnprovenServerError, login_tokens, scram_last

FIRST = "n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def test_the_example_of_the_rfc() -> None:
    last, signature = scram_last("sha256", "pencil", FIRST, SERVER)
    assert last.endswith(b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    assert signature == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize("server", ["", "r=other,s=AA==,i=4096", SERVER.replace("i=4096", "i=99999999"), "r=x,s=?,i=y"])
def test_a_hostile_server_costs_nothing(server: str) -> None:
    with pytest.raises(SaslTokenError):
        scram_last("sha256", "pencil", FIRST, server)


@pytest.mark.parametrize("iterations", [1, 4095, 1_000_001])
def test_iterations_that_a_hostile_server_gains_by_are_refused_in_words(iterations: int) -> None:
    words = f"the broker requires {iterations} SCRAM iterations, and 4096 to 1000000 are accepted"
    with pytest.raises(SaslTokenError, match=words):
        scram_last("sha256", "pencil", FIRST, SERVER.replace("i=4096", f"i={iterations}"))


def test_plain_is_one_token() -> None:
    tokens = login_tokens("PLAIN", "me", "pass word")
    assert next(tokens) == b"\0me\0pass word"
    with pytest.raises(StopIteration):
        tokens.send(b"")


def test_a_server_that_does_not_know_the_password_is_not_taken_for_the_broker() -> None:
    tokens = login_tokens("SCRAM-SHA-512", "a=b,c", "pencil")
    first = next(tokens)
    assert first.startswith(b"n,,n=a=3Db=2Cc,r=")
    nonce = first.rpartition(b"r=")[2]
    assert tokens.send(b"r=" + nonce + b"x,s=" + base64.b64encode(b"salt") + b",i=4096").startswith(
        b"c=biws,r=" + nonce
    )
    with pytest.raises(UnprovenServerError):
        tokens.send(b"v=AAAA")
