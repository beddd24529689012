"""SCRAM credentials as Kafka stores them (KIP-900: `--add-scram` of the format tool), made from a password.

The tool takes the salted password too, so the password itself stays out of the process list.
"""

from __future__ import annotations

import base64
import hashlib
import os

_ITERATIONS = 4096


def scram_argument(username: str, password: str, salt: bytes | None = None) -> str:
    """`SCRAM-SHA-256=[name=...,salt="...",saltedpassword="...",iterations=4096]`."""
    salt = salt or os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    parts = f'name="{username}",salt="{_text(salt)}",saltedpassword="{_text(salted)}",iterations={_ITERATIONS}'
    return f"SCRAM-SHA-256=[{parts}]"


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
