"""Tokens that the brokers' own validator takes."""

from __future__ import annotations

import base64
import json
import time


def bearer(lifetime: int, user: str = "app") -> str:
    """An unsecured token (RFC 7519, 6) for as many seconds."""
    now = int(time.time())
    parts = {"alg": "none"}, {"sub": user, "iat": now - 60, "exp": now + lifetime}
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."
