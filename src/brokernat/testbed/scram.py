"""SCRAM credentials as Kafka stores them (KIP-900: `--add-scram` of the format tool), made from a password.

The tool takes the salted password too, so the password itself stays out of the process list.
"""

from __future__ import annotations

import base64
import hashlib
import os

from brokernat.testbed.security import Mechanism

_ITERATIONS = 4096


def scram_argument(mechanism: Mechanism, username: str, password: str, salt: bytes | None = None) -> str:
    """`SCRAM-SHA-256=[name=...,salt="...",saltedpassword="...",iterations=4096]`."""
    salt = salt or os.urandom(16)
    salted = hashlib.pbkdf2_hmac(mechanism.value.removeprefix("SCRAM-"), password.encode(), salt, _ITERATIONS)
    parts = f'name="{username}",salt="{_text(salt)}",saltedpassword="{_text(salted)}",iterations={_ITERATIONS}'
    return f"{mechanism.value}=[{parts}]"


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
