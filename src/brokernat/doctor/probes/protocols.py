"""Which protocol bytes are of, where they say so themselves; pure.

Only what a peer sends makes it another program's port. A connection that is closed, reset or silent says nothing about
what listens there: a gateway without a broker, a firewall and a broker that hangs do the same.
"""

from __future__ import annotations

import re

# Starts of what servers send first, or answer to bytes that they do not understand.
_STARTS: tuple[tuple[bytes, str], ...] = (
    (rb"HTTP/|<!DOCTYPE|<html|<\?xml", "HTTP"),
    (rb"SSH-\d", "SSH"),
    (rb"[\x15\x16]\x03[\x00-\x04]", "TLS"),  # an alert or a handshake (RFC 8446, 5.1)
    (rb"\x00\x00.\x04\x00\x00\x00\x00\x00", "HTTP/2"),  # its first frame is SETTINGS (RFC 9113, 3.4)
    (rb"220[ -]", "SMTP or FTP"),
    (rb"421[ -]|5\d\d[ -]", "SMTP or FTP"),
    (rb"\+OK", "POP3"),
    (rb"\* (OK|BYE|PREAUTH)", "IMAP"),
    (rb".{3}\x00\x0a[\x20-\x7e]+\x00", "MySQL"),  # length, sequence 0, protocol 10, a version as text
    (rb".{3}\x00\xff..", "MySQL"),  # an error instead of the greeting
    (rb"E\x00\x00..S(FATAL|ERROR)\x00|EFATAL", "PostgreSQL"),
    (rb"-(ERR|DENIED|NOAUTH) ", "Redis"),
    (rb"AMQP", "AMQP"),
    (rb"INFO \{", "NATS"),
    (rb"ERROR\r\n", "memcached"),
    (rb"RFB \d", "VNC"),
    (rb"\x03\x00\x00[\x0b\x13]", "RDP"),
    (rb"\xff[\xfb-\xfe]", "Telnet"),
    (rb"JDWP-Handshake", "JDWP"),
)
_PATTERNS = tuple((re.compile(start, re.DOTALL), name) for start, name in _STARTS)


def protocol_of(seen: bytes) -> str:
    """What the first bytes of a peer are of, empty where they say nothing."""
    return next((name for pattern, name in _PATTERNS if pattern.match(seen)), "")
