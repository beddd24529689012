"""What the host of an advertised endpoint gives away by itself: the code, and a sentence; pure.

Only for endpoints that metadata named. A bootstrap server is what somebody chose, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from brokernat.doctor.explaining.naming import Named
from brokernat.doctor.explaining.symptom import Role
from brokernat.doctor.host_kinds import address, is_loopback

_CONTAINER = re.compile(r"[0-9a-f]{12}")
_INSIDE = (".svc", ".internal", ".local", ".lan", ".intern", ".docker", ".cluster")


def _private(host: str) -> bool:
    place = address(host)
    return place is not None and place.is_private and not place.is_loopback


def _inside(host: str) -> bool:
    return address(host) is None and ("." not in host or host.endswith(_INSIDE))


# What a host is, the check that is about it, the sentence; the first that holds is said.
_KINDS: Final[tuple[tuple[Callable[[str], bool], str, str], ...]] = (
    (
        is_loopback,
        "BN201",
        "`{host}` is the machine of whoever dials it, so it works on the broker's own machine only.",
    ),
    (_private, "BN202", "`{host}` is an address of a private network."),
    (lambda host: bool(_CONTAINER.fullmatch(host)), "BN203", "`{host}` looks like a container's id."),
    (_inside, "BN203", "`{host}` is a name of the kind that only the brokers' own network knows."),
)


def told_by_host(named: Named) -> tuple[str, str] | None:
    """Code and sentence about an advertised host; None where it says nothing."""
    if named.role not in (Role.ADVERTISED, Role.COORDINATOR) or not named.host:
        return None
    host = named.host.lower().rstrip(".")
    for holds, code, sentence in _KINDS:
        if holds(host):
            return code, sentence.format(host=named.host)
    return None
