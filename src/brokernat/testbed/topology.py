"""The plan of a world, pure: who binds and advertises what, what the gateway forwards, what the client must map.

Nothing here does I/O or knows a process. A world (loopback.py, netns.py) makes a plan with its own addresses and
applies it; the address map that a client needs is derived from the plan and from nothing else, so that a test which
passes proves the map.

Every broker has three listeners. CLIENT is the one under test: its advertised endpoint is what the client cannot
reach. PEER joins the brokers and serves the testbed itself (create topics, readiness, records): plain and advertised as
bound, else no quorum would form behind a dead address. CONTROLLER is for the quorum. A test may add others, because
what a client is told depends on the listener that it came in on: they are advertised in whatever words the test wants,
the testbed itself never comes in through them, and the proof does not look at them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from brokernat.address import AddressMap, Endpoint, Rule, parse_rule
from brokernat.address.host import bracketed
from brokernat.jvm import Java
from brokernat.render import Forward, HostNat

DEFAULT_VERSION = "4.3.1"
_FIRST_PORT = 9110
_THIS_MACHINE = {"localhost": "127.0.0.1"}


class Protocol(StrEnum):
    """Kafka's `security.protocol` of a listener."""

    PLAINTEXT = "PLAINTEXT"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SSL = "SSL"
    SASL_SSL = "SASL_SSL"

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self in (Protocol.SSL, Protocol.SASL_SSL)

    @property
    def sasl(self) -> bool:
        """Whether the client logs in."""
        return self in (Protocol.SASL_PLAINTEXT, Protocol.SASL_SSL)


class Mechanism(StrEnum):
    """Kafka's `sasl.mechanism`."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


class Advertise(StrEnum):
    """What kind of unreachable thing the brokers advertise."""

    ADDRESS = "address"
    NAME = "name"
    IPV6 = "ipv6"


@dataclass(frozen=True, slots=True)
class Listener:
    """One more listener. `name` is Kafka's: letters, digits and underscores, in upper case."""

    name: str
    protocol: Protocol
    advertised: str | None = None
    """The host that clients are told, None for the one where it is bound; `localhost` is bound there as well."""
    nodes: tuple[int, ...] | None = None
    """Which brokers have it, None for all."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What a test may ask of a cluster."""

    brokers: int = 3
    version: str = DEFAULT_VERSION
    protocol: Protocol = Protocol.PLAINTEXT
    mechanism: Mechanism = Mechanism.PLAIN
    username: str = "app"
    password: str = field(default="app-secret", repr=False)
    advertise: Advertise = Advertise.ADDRESS
    authorize: bool = False
    """ACLs are on: `username` may do only what `RunningCluster.allow` gives it."""
    broker_properties: Mapping[str, str] = field(default_factory=dict)
    """Settings of the brokers in Kafka's names, over the testbed's own."""
    jvm_options: tuple[str, ...] = ()
    listeners: tuple[Listener, ...] = ()
    """Beside the testbed's own."""
    make_stores: Callable[[ClusterPlan, Path, Java], None] | None = None
    """Writes key stores and trust stores into a folder, instead of key_stores.make_stores."""


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


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """One broker. `reachable` is what the client dials for it; equal to `advertised` where nothing is in between."""

    node_id: int
    bound: Endpoint
    advertised: Endpoint
    reachable: Endpoint
    peer: Endpoint
    controller: Endpoint
    more: tuple[ListenerPlan, ...] = ()

    def rule(self) -> Rule:
        """What a client needs for this broker."""
        if self.advertised.port == self.reachable.port:
            return parse_rule(f"{bracketed(self.advertised.host)} = {bracketed(self.reachable.host)}")
        return parse_rule(f"{self.advertised} = {self.reachable}")


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """One cluster."""

    name: str
    brokers: tuple[BrokerPlan, ...]
    options: ClusterOptions

    @property
    def hidden(self) -> bool:
        """Whether a client needs a map."""
        return any(broker.advertised != broker.reachable for broker in self.brokers)

    @property
    def protocols(self) -> frozenset[Protocol]:
        """Of all listeners that clients use."""
        return frozenset({self.options.protocol, *(listener.protocol for listener in self.options.listeners)})

    @property
    def bootstrap(self) -> tuple[Endpoint, ...]:
        """What a client is given to start with: what it can dial."""
        return tuple(broker.reachable for broker in self.brokers)

    def address_map(self) -> AddressMap | None:
        """A rule for each broker, host to host where the port is kept; None where no rule is needed."""
        return AddressMap(tuple(broker.rule() for broker in self.brokers)) if self.hidden else None

    def broker(self, node_id: int) -> BrokerPlan:
        """The plan of one node.

        Raises:
            KeyError: no such node.
        """
        for broker in self.brokers:
            if broker.node_id == node_id:
                return broker
        raise KeyError(f"cluster {self.name} has no node {node_id}")


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """All of a world: clusters by name, and what stands between them and the client."""

    name: str
    clusters: tuple[ClusterPlan, ...]
    forwards: tuple[Forward, ...] = ()
    nats: tuple[HostNat, ...] = ()

    def dead(self) -> tuple[Endpoint, ...]:
        """The endpoints that must not answer from the client's place."""
        return tuple(
            dict.fromkeys(
                broker.advertised
                for cluster in self.clusters
                for broker in cluster.brokers
                if broker.advertised != broker.reachable
            )
        )

    def binds(self) -> tuple[Endpoint, ...]:
        """Where something of this world listens."""
        brokers = [broker for cluster in self.clusters for broker in cluster.brokers]
        listeners = [end for broker in brokers for end in (broker.bound, broker.peer, broker.controller)]
        more = [listener.bound for broker in brokers for listener in broker.more]
        return (*listeners, *more, *(forward.listen for forward in self.forwards))


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
