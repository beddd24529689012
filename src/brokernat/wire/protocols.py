"""Recognises other protocols than Kafka's by their first bytes.

Only bytes from the peer identify its protocol. A closed, reset or silent connection does not: the peer may be a gateway
without a broker, a firewall or a broker that hangs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

# First bytes of clients that are often connected to a Kafka port by mistake.
_OF_CLIENTS: Final[tuple[tuple[bytes, str], ...]] = (
    (rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) ", "HTTP"),
    (rb"PRI \* HTTP/2", "HTTP/2"),
    (rb"\x16\x03[\x00-\x04]", "TLS"),  # a handshake (RFC 8446, 5.1)
    (rb"SSH-", "SSH"),
    (rb"PROXY |\r\n\r\n\x00\r\nQUIT\n", "the PROXY protocol"),
    (rb"\x05[\x01-\x09][\x00-\x09]", "SOCKS"),
    (rb"\x60[\x00-\xff]", "Kerberos without a SASL handshake (clients before 0.10)"),
)
# First bytes of servers: a greeting, or the response to bytes that they do not understand.
_OF_SERVERS: Final[tuple[tuple[bytes, str], ...]] = (
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
    (rb"Zookeeper version|srvr is not ", "ZooKeeper"),
    (rb"\x05[\x00\xff]\Z", "SOCKS"),  # the method that it has chosen (RFC 1928, 3)
)


def protocol_of_client(first: bytes) -> str:
    """The protocol of a client's first bytes; empty if unknown."""
    return _protocol(_OF_CLIENTS, first)


def protocol_of_server(first: bytes) -> str:
    """The protocol of a server's first bytes; empty if unknown."""
    return _protocol(_OF_SERVERS, first)


def _protocol(starts: Iterable[tuple[bytes, str]], first: bytes) -> str:
    # `re` caches compiled patterns.
    return next((name for start, name in starts if re.match(start, first, re.DOTALL)), "")
