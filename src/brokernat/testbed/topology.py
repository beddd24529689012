"""The plan of a world, pure: who binds and advertises what, what the gateway forwards, what the client must map.

Nothing here does I/O or knows a process. A world (loopback.py, netns.py) makes a plan with its own addresses and
applies it; the address map that a client needs is derived from the plan and from nothing else, so that a test which
passes proves the map.

Every broker has three listeners, and those that a test adds (listeners.py). CLIENT is the one under test: its
advertised endpoint is what the client cannot reach. PEER joins the brokers and serves the testbed itself (create
topics, readiness, records): plain and advertised as bound, else no quorum would form behind a dead address. CONTROLLER
is for the quorum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from brokernat.address import AddressMap, Endpoint, Rule, parse_rule
from brokernat.address.host import bracketed
from brokernat.render import Forward, HostNat
from brokernat.testbed.listeners import Listener, ListenerPlan
from brokernat.testbed.security import Mechanism, Protocol

DEFAULT_VERSION = "4.3.1"


class Advertise(StrEnum):
    """What kind of unreachable thing the brokers advertise."""

    ADDRESS = "address"
    NAME = "name"
    IPV6 = "ipv6"


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
