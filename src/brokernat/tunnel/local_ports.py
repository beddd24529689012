"""Chooses the local port of each endpoint: the same port in every run, as long as it is free.

The port is computed only from the tunnel and the endpoint. So client configurations, bookmarks and firewall rules with
this port stay valid, without a state file. If another program has the port, the next free one is used. The range is
below Linux's ports for outgoing connections (`ip_local_port_range`).

Brokers that join later advertise new endpoints, but clients read their map once. Most clusters number their brokers
(kafka-1, kafka-2; 10.0.0.11, 10.0.0.12; one host with ports 9092, 9093), so the next numbers get rules and ports in
advance. Such a port is bound but does not listen: clients are refused at once, and no other program can take the port.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256

from brokernat.address import Endpoint
from brokernat.address.endpoint import as_ip
from brokernat.errors import ConfigError, Finding

LOOPBACK = "127.0.0.1"
FIRST, LAST = 20000, 29999
AHEAD = 8
"""The number of expected brokers after the highest number."""
_LAST_NUMBER = re.compile(r"\d+(?!.*\d)")
_MOST_EXPECTED = 64
_LAST_HOST_NUMBER = 254


def usual_port(tunnel: str, endpoint: Endpoint) -> int:
    """The port for an endpoint, unless another program has it."""
    digest = sha256(f"{tunnel} {endpoint}".encode()).digest()
    return FIRST + int.from_bytes(digest[:8]) % (LAST - FIRST + 1)


def expected_endpoints(known: Collection[Endpoint]) -> tuple[Endpoint, ...]:
    """The probable endpoints of brokers that join later: the known ones with the next numbers."""
    expected = {each for endpoint in known for each in _next_endpoints(endpoint, known)} - set(known)
    return tuple(sorted(expected))[:_MOST_EXPECTED]


def _next_endpoints(endpoint: Endpoint, known: Collection[Endpoint]) -> Iterator[Endpoint]:
    """The endpoints with the next numbers: of the ports if one host has several, else of the hosts."""
    ports = [each.port for each in known if each.host == endpoint.host]
    if len(ports) > 1:
        yield from (Endpoint(endpoint.host, port) for port in range(max(ports) + 1, max(ports) + 1 + AHEAD))
        return
    name, dot, domain = endpoint.host.partition(".")
    if (address := as_ip(endpoint.host)) is not None:
        network, _, last = endpoint.host.rpartition(".")
        # IPv6 addresses of brokers are usually not consecutive.
        numbers = () if address.version == 6 else range(int(last) + 1, min(int(last) + AHEAD, _LAST_HOST_NUMBER) + 1)
        yield from (Endpoint(f"{network}.{number}", endpoint.port) for number in numbers)
    elif found := _LAST_NUMBER.search(name):
        for number in range(int(found[0]) + 1, int(found[0]) + 1 + AHEAD):
            counted = f"{name[: found.start()]}{number:0{len(found[0])}}{name[found.end() :]}"
            yield Endpoint(f"{counted}{dot}{domain}", endpoint.port)


class LocalPorts:
    """The ports of one tunnel, each bound while no forward has it. Call `close` at the end."""

    def __init__(self, tunnel: str) -> None:
        self._tunnel = tunnel
        self._ports: dict[Endpoint, int] = {}
        self._bound: dict[int, socket.socket] = {}

    def reserve(self, endpoints: Iterable[Endpoint]) -> None:
        """Bind a port for each endpoint that has none, in sorted order.

        Raises:
            ConfigError: code `no-free-port`.
        """
        for endpoint in sorted(set(endpoints) - self._ports.keys()):
            self._ports[endpoint] = self._bind_free(usual_port(self._tunnel, endpoint))

    def of(self, endpoint: Endpoint) -> Endpoint:
        """The local endpoint."""
        return Endpoint(LOOPBACK, self._ports[endpoint])

    def release(self, endpoint: Endpoint) -> None:
        """Release the port for a forward."""
        if (bound_socket := self._bound.pop(self._ports[endpoint], None)) is not None:
            bound_socket.close()

    def hold(self, endpoint: Endpoint) -> None:
        """Bind the port of a closed forward again. If another program has it, the endpoint has no port any more."""
        port = self._ports[endpoint]
        if (bound_socket := _bind(port)) is not None:
            self._bound[port] = bound_socket
        else:
            del self._ports[endpoint]

    def choose_another(self, endpoint: Endpoint) -> None:
        """Choose and bind the next free port, because another program uses this one."""
        self.release(endpoint)
        self._ports[endpoint] = self._bind_free(self._ports[endpoint] + 1)

    def known(self) -> tuple[Endpoint, ...]:
        """All endpoints with a port."""
        return tuple(self._ports)

    def close(self) -> None:
        """Release all ports."""
        for bound_socket in self._bound.values():
            bound_socket.close()
        self._bound.clear()

    def _bind_free(self, wanted: int) -> int:
        taken = set(self._ports.values())
        for step in range(LAST - FIRST + 1):
            port = FIRST + (wanted - FIRST + step) % (LAST - FIRST + 1)
            if port not in taken and (bound_socket := _bind(port)) is not None:
                self._bound[port] = bound_socket
                return port
        message = f"no port from {FIRST} to {LAST} of {LOOPBACK} is free"
        raise ConfigError(Finding("no-free-port", message, "end other tunnels"))


def _bind(port: int) -> socket.socket | None:
    """A socket bound to the port, None if another program has it."""
    bound_socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # As ssh and kubectl do: the port can be bound despite connections in TIME_WAIT.
    bound_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound_socket.bind((LOOPBACK, port))
        # From now on nobody else can bind it: two sockets with SO_REUSEADDR may share a port where none listens.
        bound_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    except OSError:
        bound_socket.close()
        return None
    return bound_socket
