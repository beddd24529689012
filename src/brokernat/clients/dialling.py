"""The endpoint that a pure-Python client dials: the common part for kafka-python and aiokafka.

A Dialler belongs to one client instance, so two clients of one process may have different maps for the same advertised
addresses. It is called once for each connection, never per record, and changes only the socket's address: TLS and SASL
use the library's name. A bootstrap server is translated if a rule matches it (with TLS it may be the broker's own
name), and never refused, because it can be dialled.

For the library a refusal is a failed connection, as for the Java client: it continues with other brokers, and its own
timeouts end the call. This module logs the rule to add once, and the library logs the same text at each attempt.

The libraries connect through functions of their own modules, without a hook. Replacing such a function in its module
would affect all clients of the process; copying the method that calls it would depend on one patch release. So the
method's own code is bound to one client instance, with private globals that replace only this function (`rebound`).
`looks_up` checks the requirement: the method exists and uses the name.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from brokernat.address import AddressMap, Endpoint
from brokernat.address.endpoint import bracketed
from brokernat.errors import ConfigError, UnmappedEndpointError

log = logging.getLogger("brokernat.clients")

_DEFAULT_PORT = 9092
_ZONE = re.compile(r"%[^\]]*")


class RefusedEndpointError(UnmappedEndpointError):
    """A refused endpoint; the library logs and raises this error.

    For each library there is a subclass that is also an error class of the library. `str` is one line, for its log.
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
    _logged: set[Endpoint] = field(default_factory=set, compare=False, repr=False)

    def dial(self, host: str, port: int) -> tuple[str, int]:
        """The host and port to dial for an advertised host (IPv6 without brackets) and port.

        Raises:
            RefusedEndpointError: no rule matches, the map has `unmapped: fail`, and it is not a bootstrap server.
        """
        if not self.address_map.rules:
            # A client with an empty map uses no map.
            return host, port
        try:
            # The zone of an IPv6 address (`fe80::1%eth0`) is local to this machine: rules have none.
            endpoint = Endpoint(host.partition("%")[0], port)
        except ConfigError:
            # The host is not valid in a rule, so no rule can match it.
            return self._without_rule(host, port)
        rule = self.address_map.find(endpoint)
        if rule is None:
            if endpoint in self.bootstrap:
                return host, port
            return self._without_rule(host, port, endpoint)
        reachable = rule.translate(endpoint)
        if self._is_first_attempt(endpoint):
            log.info("translated %s -> %s (rule %s, %s)", endpoint, reachable, rule, self.owner)
        return reachable.host, reachable.port

    def _without_rule(self, host: str, port: int, endpoint: Endpoint | None = None) -> tuple[str, int]:
        if self.address_map.unmapped == "pass":
            return host, port
        advertised = str(endpoint) if endpoint else f"{bracketed(host)}:{port}"
        refusal = self.refusal(advertised, f"{advertised} = HOST:PORT")
        if endpoint is None or self._is_first_attempt(endpoint):
            log.error("refused (%s): %s", self.owner, refusal)
        raise refusal

    def _is_first_attempt(self, endpoint: Endpoint) -> bool:
        if endpoint in self._logged:
            return False
        self._logged.add(endpoint)
        return True


def bootstrap_endpoints(servers: str | Iterable[str]) -> frozenset[Endpoint]:
    """The endpoints of `bootstrap_servers` in the libraries' forms: text with commas or a list, ports optional."""
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
