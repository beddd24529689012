"""SCRAM credentials for the format tool, held against the dialogue in RFC 7677."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from brokernat.testbed.scram import scram_argument
from brokernat.testbed.security import Mechanism

_SALT = "W22ZaJ0SNY7soEsUEjb6gQ=="
_NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
_DIALOGUE = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={_NONCE},s={_SALT},i=4096,c=biws,r={_NONCE}"
_SERVER_SIGNATURE = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_the_salted_password_gives_the_server_signature_of_the_rfc() -> None:
    argument = scram_argument(Mechanism.SCRAM_SHA_256, "user", "pencil", base64.b64decode(_SALT))

    found = re.fullmatch(r'SCRAM-SHA-256=\[name="user",salt="(.+)",saltedpassword="(.+)",iterations=4096\]', argument)
    assert found is not None
    assert found[1] == _SALT
    server_key = hmac.digest(base64.b64decode(found[2]), b"Server Key", hashlib.sha256)
    signature = hmac.digest(server_key, _DIALOGUE.encode(), hashlib.sha256)
    assert base64.b64encode(signature).decode() == _SERVER_SIGNATURE
    assert "pencil" not in argument
