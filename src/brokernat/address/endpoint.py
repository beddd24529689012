"""Endpoints, a host and a port, and hosts as text::

    Endpoint.parse("Kafka-1.HQ.internal.:9092")  ->  kafka-1.hq.internal:9092
    Endpoint.parse("[FD00:0::1]:9092")           ->  [fd00::1]:9092
    Endpoint.parse("fd00::1:9092")               ->  refused: where does the address end?

The constructor and `parse` both normalise, so equal endpoints are equal objects. A host is a name, an IPv4 or an IPv6
address in its canonical form. If the last label is a number, the text must be a valid IPv4 address: resolvers interpret
`10.1` and `010.0.0.1` differently, so they are refused. IPv6 is stored without brackets, in the form of RFC 5952.
IPv4-mapped addresses end in dotted form (`::ffff:192.0.2.1`); this module formats them, because Python's form changed
in 3.13.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from brokernat.address.faults import fault
from brokernat.errors import ConfigError, Finding

_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_MAX_PORT = 65535
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
_MAX_NAME = 253  # RFC 1035 2.3.4: 255 octets on the wire


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """A host and a port that a client dials or a broker advertises.

    `host` is a lower-case name or an IP address in its canonical form, IPv6 without brackets. `port` is 1 to 65535.
    `str(endpoint)` is `host:port`, IPv6 in brackets.

    Raises:
        ConfigError: with one problem; its kind is a key of `faults.HINTS`.
    """

    host: str
    port: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "host", parse_host(self.host))
        if not 1 <= self.port <= _MAX_PORT:
            raise fault("bad-port", f"{self.port} is not a port")

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Parses `host:port` or `[IPv6]:port`, with or without blanks around it.

        Raises:
            ConfigError: with one problem; its kind is a key of `faults.HINTS`.
        """
        text = text.strip(" \t")
        try:
            if "://" in text:
                raise fault("listener-url", "a protocol is no part of an endpoint")
            host, port = split_endpoint(text)
            if port is None:
                raise fault("missing-port", "the port is missing")
            return cls(host, parse_port(port))
        except ConfigError as error:
            problem = error.problems[0]
            raise fault(problem.code, f"endpoint `{text}`: {problem.message}", hint=problem.hint) from None

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


def listen_endpoint(text: str) -> Endpoint:
    """Parses an endpoint to listen at: `host:port`, or a port of 127.0.0.1, which no other machine can reach.

    Raises:
        ConfigError: with one problem; its kind is a key of `faults.HINTS`.
    """
    port = text.strip(" \t")
    return Endpoint.parse(f"127.0.0.1:{port}" if port.isdecimal() else port)


def not_bound(program: str, endpoint: Endpoint, option: str, error: OSError) -> ConfigError:
    """The error, code `not-bound`, of a program that cannot listen on the endpoint that `option` names."""
    # Python adds the address to the system's message. The errors of name servers are negative and not the system's.
    number = error.errno or 0
    reason = os.strerror(number) if number > 0 else error.strerror or str(error)
    message = f"{program} cannot listen on {endpoint}: {reason}"
    return ConfigError(Finding("not-bound", message, f"choose another address or port: `{option} HOST:PORT`"))


@dataclass(frozen=True, slots=True, order=True)
class NodeEndpoint:
    """An endpoint and the id of the node that advertises it (the term is Kafka's, KIP-951)."""

    node_id: int
    endpoint: Endpoint

    def __str__(self) -> str:
        return f"node {self.node_id} at {self.endpoint}"


def split_endpoint(text: str) -> tuple[str, str | None]:
    """The host (IPv6 normalised, anything else unchecked) and the text of the port, None if there is none."""
    if text.startswith("["):
        address, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")) or ":" not in address:
            raise fault("bad-ipv6", f"`{text}` is not an IPv6 address")
        return parse_ipv6(address), rest[1:] if rest else None
    if text.count(":") > 1:
        hint = "separate endpoints by `,`" if ";" in text else None
        raise fault("bare-ipv6", f"`{text}` has more than one colon", hint=hint)
    host, colon, port = text.partition(":")
    return host, port if colon else None


def parse_port(text: str) -> int:
    """A decimal from 1 to 65535 without leading zeros."""
    if not _PORT.fullmatch(text) or int(text) > _MAX_PORT:
        raise fault("bad-port", f"`{text}` is not a port" if text else "the port after `:` is missing")
    return int(text)


def parse_host(text: str) -> str:
    """A name, an IPv4 address or an IPv6 address without brackets, normalised.

    Raises:
        ConfigError: code `empty-host`, `bad-host`, `bad-ipv4` or `bad-ipv6`.
    """
    if ":" in text:
        return parse_ipv6(text)
    if not text:
        raise fault("empty-host", "the host is missing")
    labels = text.removesuffix(".").split(".")
    if labels[-1].isascii() and labels[-1].isdigit():
        return parse_ipv4(text)
    return _parse_name(text)


def parse_ipv4(text: str) -> str:
    """Four decimals without leading zeros."""
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise fault("bad-ipv4", f"`{text}` is not an IPv4 address") from None


def parse_ipv6(text: str) -> str:
    """An address without brackets and zone, in the form of RFC 5952."""
    try:
        if "%" in text:
            raise AddressValueError
        return format_ip(IPv6Address(text))
    except AddressValueError:
        raise fault("bad-ipv6", f"`{text}` is not an IPv6 address") from None


def format_ip(address: IPv4Address | IPv6Address) -> str:
    """The canonical text, without brackets."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return f"::ffff:{mapped}" if mapped else address.compressed


def as_ip(host: str) -> IPv4Address | IPv6Address | None:
    """A normalised host as an address, or None for a name."""
    if ":" in host:
        return IPv6Address(host)
    return IPv4Address(host) if host.rpartition(".")[2].isdigit() else None


def bracketed(host: str) -> str:
    """The host as written in an endpoint or a rule, IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def is_wildcard(host: str) -> bool:
    """Whether servers bind the host for every address; nobody can dial it."""
    return host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


def _parse_name(text: str) -> str:
    # Checked before lowercasing: the lower case of the Kelvin sign is an ASCII k.
    name = text.removesuffix(".")
    if len(name) > _MAX_NAME or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise fault("bad-host", f"`{text}` is not a host name")
    return name.lower()
