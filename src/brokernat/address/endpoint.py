"""Endpoint: a host and a port::

    Endpoint.parse("Kafka-1.HQ.internal.:9092")  ->  kafka-1.hq.internal:9092
    Endpoint.parse("[FD00:0::1]:9092")           ->  [fd00::1]:9092
    Endpoint.parse("fd00::1:9092")               ->  refused: where does the address end?

The constructor and `parse` both normalise, so equal endpoints are equal objects.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from brokernat.address.faults import fault
from brokernat.address.host import bracketed, parse_host, parse_ipv6
from brokernat.errors import ConfigError, Finding

_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_MAX_PORT = 65535


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
