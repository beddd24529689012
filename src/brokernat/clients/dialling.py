"""The endpoint that a pure-Python client dials: the common part for kafka-python and aiokafka.

A Dialler belongs to one client instance, so two clients of one process may hold different maps for the same advertised
addresses. It is asked when a connection is opened, never per record, and it decides only where the socket goes: the
name that TLS and SASL see stays the library's. Bootstrap servers follow a rule where one names them (with TLS they are
the brokers' own names) and are never refused: one can dial them already.

A refusal is a failed connection for the library, as it is for the Java client, so that its other brokers go on and its
own time-outs end the call. It cannot be silent: the rule to add is logged once here, and the library logs the same
words at each attempt.

The libraries dial through functions of their own modules and take no hook for that. Replacing such a function in its
module would reach every client of the process; copying the method that calls it would tie us to one patch release. So
the method's own code runs, bound to one client instance, with a private set of globals in which that one name is ours
(`rebound`). What this asks of a version is small and can be checked (`looks_up`): the method exists and looks the name
up.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from brokernat.address import AddressMap, Endpoint
from brokernat.address.host import bracketed
from brokernat.errors import ConfigError, UnmappedEndpointError

log = logging.getLogger("brokernat.clients")

_DEFAULT_PORT = 9092
_ZONE = re.compile(r"%[^\]]*")


class RefusedEndpointError(UnmappedEndpointError):
    """A refusal inside a library, which logs and raises it.

    Each library has a subclass that is also one of its own errors. `str` is one line, because libraries log it in one.
    """

    def __str__(self) -> str:
        return f"{self.message}; hint: {self.hint}"


@dataclass(frozen=True, slots=True)
class Dialler:
    """One client's map; `owner` names the client in the log, `refusal` is the exception class for the library."""

    address_map: AddressMap
    bootstrap: frozenset[Endpoint]
    owner: str
    refusal: type[RefusedEndpointError] = RefusedEndpointError
    _said: set[Endpoint] = field(default_factory=set, compare=False, repr=False)

    def dial(self, host: str, port: int) -> tuple[str, int]:
        """The host and port to dial for an advertised host (IPv6 without brackets) and port.

        Raises:
            RefusedEndpointError: no rule names it, the map says `fail`, and it is no bootstrap server.
        """
        if not self.address_map.rules:
            # An empty map opts its client out.
            return host, port
        try:
            # The zone of an IPv6 address (`fe80::1%eth0`) is about this machine: rules have none.
            endpoint = Endpoint(host.partition("%")[0], port)
        except ConfigError:
            # The library's own notion of a host: no rule can name it.
            return self._without_rule(host, port)
        rule = self.address_map.find(endpoint)
        if rule is None:
            if endpoint in self.bootstrap:
                return host, port
            return self._without_rule(host, port, endpoint)
        reachable = rule.translate(endpoint)
        if self._first(endpoint):
            log.info("translated %s -> %s (rule %s, %s)", endpoint, reachable, rule, self.owner)
        return reachable.host, reachable.port

    def _without_rule(self, host: str, port: int, endpoint: Endpoint | None = None) -> tuple[str, int]:
        if self.address_map.unmapped == "pass":
            return host, port
        advertised = str(endpoint) if endpoint else f"{bracketed(host)}:{port}"
        refusal = self.refusal(advertised, f"{advertised} = HOST:PORT")
        if endpoint is None or self._first(endpoint):
            log.error("refused (%s): %s", self.owner, refusal)
        raise refusal

    def _first(self, endpoint: Endpoint) -> bool:
        if endpoint in self._said:
            return False
        self._said.add(endpoint)
        return True


def bootstrap_endpoints(servers: str | Iterable[str]) -> frozenset[Endpoint]:
    """The endpoints of `bootstrap_servers` as both libraries take them: text with commas or a list, ports optional."""
    found = set()
    for text in servers.split(",") if isinstance(servers, str) else servers:
        plain = _ZONE.sub("", text.rpartition("://")[2].strip())
        for candidate in (plain, f"{plain}:{_DEFAULT_PORT}", f"[{plain}]:{_DEFAULT_PORT}"):
            try:
                found.add(Endpoint.parse(candidate))
            except ConfigError:
                continue
            break
    return frozenset(found)


def looks_up(function: object, name: str) -> bool:
    """Whether `rebound` can replace `name` in a function."""
    return isinstance(function, FunctionType) and name in function.__code__.co_names and name in function.__globals__


def rebound(function: Callable[..., Any], **names: Any) -> FunctionType:
    """The same code and defaults with other globals; the function itself is unchanged."""
    assert isinstance(function, FunctionType)  # noqa: S101
    copy = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
