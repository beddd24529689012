"""Classifies the host of an endpoint by its text; no name is resolved."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from brokernat.address import Endpoint
from brokernat.errors import ConfigError

DOCKER_HOST = frozenset({"host.docker.internal", "gateway.docker.internal", "host.containers.internal"})
"""The names by which containers know the machine that runs them."""
_INSIDE = (".svc", ".internal", ".local", ".lan", ".intern", ".docker", ".cluster")


# Checks compare each endpoint with all others, so the same texts come again and again.
_remembered = lru_cache(maxsize=10_000)


@_remembered
def address(host: str) -> IPv4Address | IPv6Address | None:
    """The IP address of a host text, IPv4 for IPv4-mapped IPv6 (RFC 4291, 2.5.5.2); None for a name."""
    try:
        place = ip_address(host)
    except ValueError:
        return None
    return getattr(place, "ipv4_mapped", None) or place


def canonical(host: str) -> str:
    """A host in the form for comparison; unlike `address`, it keeps IPv4-mapped IPv6."""
    try:
        return str(ip_address(host))
    except ValueError:
        return host.lower().removesuffix(".")


def is_loopback(host: str) -> bool:
    """Whether a host is the machine that dials it (names: RFC 6761, 6.3)."""
    place = address(host)
    name = host.lower().rstrip(".")
    return name == "localhost" or name.endswith(".localhost") if place is None else place.is_loopback


def inside_name(host: str) -> bool:
    """Whether a host is a name that usually only its own network resolves: one label, or one of Docker or a cloud."""
    name = host.lower().rstrip(".")
    if not name or name == "localhost" or address(name) is not None:
        return False
    return "." not in name or name.endswith(_INSIDE)


_KINDS: tuple[tuple[str, str, str], ...] = (
    (
        r".+\.svc(\..+)?",
        "a pod's name, known inside its Kubernetes cluster only: `brokernat tunnel --kubectl -b SERVICE.NAMESPACE:PORT "
        "-- COMMAND` forwards a port of each broker (docs/guides/kubectl.md)",
        "advertise an external listener of the Kubernetes cluster (NodePort or LoadBalancer), a port for each broker",
    ),
    (
        r"ip-[0-9-]+(\..+)?|.+\.compute\.internal|.+\.ec2\.internal|.+\.c\..+\.internal|.+\.internal\.cloudapp\.net",
        "a cloud host's internal name: `brokernat tunnel --ssh user@HOST -b HOST:PORT -- COMMAND` reaches all brokers "
        "through an SSH host there (docs/guides/ssh-bastion.md); else see docs/guides/cloud.md",
        "advertise the public DNS name of each cloud host on a listener of its own (docs/guides/cloud.md)",
    ),
    (
        r"[0-9a-f]{12}|[0-9a-f]{64}",
        "a container's id, known inside its Docker network only: see docs/guides/docker.md",
        "set `advertised.listeners` of each container to the Docker host's name and the published port "
        "(docs/guides/docker.md)",
    ),
    (
        r"[^.]+|.+\.docker",
        "a name of a Docker or local network: see docs/guides/docker.md",
        "advertise a name that clients elsewhere can resolve, on a listener of its own",
    ),
)


_LINK_LOCAL = (
    "a link-local address, which no router forwards: clients outside the brokers' own network need a rule",
    "give the brokers' hosts an address (a link-local one often means that DHCP failed), and advertise it",
)


def is_link_local(host: str) -> bool:
    """Whether a host is an address that is valid on one link only (RFC 3927, RFC 4291)."""
    place = address(host)
    return place is not None and place.is_link_local


def known_kind(host: str) -> tuple[str, str] | None:
    """Advice for a known kind of host: a line for the client and one for the brokers."""
    name = host.lower().rstrip(".")
    if is_link_local(name):
        return _LINK_LOCAL
    if not name or is_loopback(name) or address(name) is not None:
        return None
    return next(((client, broker) for kind, client, broker in _KINDS if re.fullmatch(kind, name)), None)


@_remembered
def network(host: str, *, small: bool = False) -> IPv4Network | IPv6Network:
    """The network of an address with a usual prefix: 16 bits for IPv4, 48 for IPv6; a small one has 24 and 64.

    The zone of a link-local address (`fe80::1%eth0`) is ignored.
    """
    bits = (64 if small else 48) if ":" in host else (24 if small else 16)
    return ip_network(f"{host.partition('%')[0]}/{bits}", strict=False)


def neighbours(one: str, other: str, *, small: bool = False) -> bool:
    """Whether two addresses are in one network; False for names."""
    if address(one) is None or address(other) is None:
        return False
    return network(one, small=small) == network(other, small=small)


def dialable(host: str, port: int) -> bool:
    """Whether host and port are a valid endpoint."""
    try:
        Endpoint(host, port)
    except ConfigError:
        return False
    return True
