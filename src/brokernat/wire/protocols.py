"""Which protocol a client speaks that is not Kafka, by the first bytes that it sends.

The doctor has the other half: what servers send first. Only these few are often pointed at a Kafka port by mistake.
"""

from __future__ import annotations

import re
from typing import Final

_STARTS: Final[tuple[tuple[bytes, str], ...]] = (
    (rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) ", "HTTP"),
    (rb"PRI \* HTTP/2", "HTTP/2"),
    (rb"\x16\x03[\x00-\x04]", "TLS"),  # a handshake (RFC 8446, 5.1)
    (rb"\x15\x03[\x00-\x04]", "TLS"),  # an alert: a broker with TLS answers it to plain bytes
    (rb"HTTP/1", "HTTP"),
    (rb"SSH-", "SSH"),
    (rb"PROXY |\r\n\r\n\x00\r\nQUIT\n", "the PROXY protocol"),
    (rb"\x05[\x01-\x09][\x00-\x09]", "SOCKS"),
    (rb"\x60[\x00-\xff]", "Kerberos without a SASL handshake (clients before 0.10)"),
)
_PATTERNS: Final = tuple((re.compile(start, re.DOTALL), name) for start, name in _STARTS)


def protocol_of(first: bytes) -> str:
    """The name of the protocol, empty where the bytes do not show one."""
    return next((name for pattern, name in _PATTERNS if pattern.match(first)), "")
