"""Listeners that a test adds to brokers, pure: what is wanted, and where it is put.

What a client is told depends on the listener that it came in on, so most of what goes wrong with Kafka needs several of
them. They stand beside CLIENT, PEER and CONTROLLER (topology.py) and are advertised in whatever words a test wants: the
testbed itself never comes in through them, and the proof does not look at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from brokernat.address import Endpoint
from brokernat.testbed.security import Protocol

_FIRST_PORT = 9110
_THIS_MACHINE = {"localhost": "127.0.0.1"}


class Certificate(StrEnum):
    """Of a listener with TLS; the name in it is the advertised one.

    VALID and EXPIRED_ANCHOR are in the clients' trust store themselves, EXPIRED is signed by an authority that is.
    """

    VALID = "valid"
    EXPIRED = "expired"
    EXPIRED_ANCHOR = "expired-anchor"


@dataclass(frozen=True, slots=True)
class Listener:
    """One more listener. `name` is Kafka's: letters, digits and underscores, in upper case."""

    name: str
    protocol: Protocol
    advertised: str | None = None
    """The host that clients are told, None for the one where it is bound; `localhost` is bound there as well."""
    nodes: tuple[int, ...] | None = None
    """Which brokers have it, None for all."""
    certificate: Certificate = Certificate.VALID
    demands_certificate: bool = False
    """Clients must show one (`ssl.client.auth=required`)."""


@dataclass(frozen=True, slots=True)
class ListenerPlan:
    """A listener of one broker."""

    listener: Listener
    bound: Endpoint
    advertised: Endpoint

    @property
    def name(self) -> str:
        """As in `listeners`."""
        return self.listener.name

    @property
    def prefix(self) -> str:
        """Of its own settings."""
        return f"listener.name.{self.name.lower()}"

    def store(self, node_id: int) -> str:
        """The name of its key store, without the ending."""
        return f"node-{node_id}-{self.name.lower()}"


def planned(
    listeners: Sequence[Listener], node_id: int, host: str, *, first_local_port: int, first_port: int = _FIRST_PORT
) -> tuple[ListenerPlan, ...]:
    """The listeners of one broker.

    Args:
        listeners: of the cluster.
        node_id: which broker.
        host: where the broker binds.
        first_local_port: those that are advertised as this machine share 127.0.0.1 with everybody and begin here.
        first_port: the others begin here.
    """
    found = []
    for index, listener in enumerate(listeners):
        if listener.nodes is not None and node_id not in listener.nodes:
            continue
        place = _THIS_MACHINE.get(listener.advertised or "")
        bound = Endpoint(place, first_local_port + index) if place else Endpoint(host, first_port + index)
        found.append(ListenerPlan(listener, bound, Endpoint(listener.advertised or bound.host, bound.port)))
    return tuple(found)
