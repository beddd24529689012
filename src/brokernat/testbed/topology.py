"""The plan of a world: bound and advertised endpoints, the gateway's forwards, the client's address map; pure.

A world (loopback.py, netns.py) makes a plan with its own addresses and applies it. The address map of a client is
derived only from the plan, so a test that passes also proves the map.

Every broker has three listeners. CLIENT is the one under test: the client cannot reach its advertised endpoint. PEER is
for connections between brokers and for the testbed itself (topics, readiness, records). It has no TLS and no login, and
advertises the endpoint on which it listens, because brokers could not connect to an unreachable one. CONTROLLER is for
the quorum. A test may add listeners, because a client gets the advertised endpoints of the listener that it connects
to. These may advertise any host. The testbed does not connect to them, and `world.prove` does not check them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from brokernat.address import AddressMap, Endpoint, Rule, parse_rule
from brokernat.address.endpoint import bracketed
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
    """The kind of unreachable host that the brokers advertise."""

    ADDRESS = "address"
    NAME = "name"
    IPV6 = "ipv6"


@dataclass(frozen=True, slots=True)
class Listener:
    """An additional listener. `name` is Kafka's: letters, digits and underscores, in upper case."""

    name: str
    protocol: Protocol
    advertised: str | None = None
    """The advertised host; None for the bound one. With `localhost` the listener is bound to 127.0.0.1."""
    nodes: tuple[int, ...] | None = None
    """The node ids of the brokers that have it; None for all."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options of a cluster."""

    brokers: int = 3
    version: str = DEFAULT_VERSION
    protocol: Protocol = Protocol.PLAINTEXT
    mechanism: Mechanism = Mechanism.PLAIN
    username: str = "app"
    password: str = field(default="app-secret", repr=False)
    advertise: Advertise = Advertise.ADDRESS
    authorize: bool = False
    """Whether brokers check ACLs: `username` then needs an ACL for each operation."""
    broker_properties: Mapping[str, str] = field(default_factory=dict)
    """Broker settings in Kafka's names; they override the testbed's."""
    jvm_options: tuple[str, ...] = ()
    listeners: tuple[Listener, ...] = ()
    """Listeners in addition to the testbed's own."""
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
        """The name of the listener, as in Kafka's `listeners`."""
        return self.listener.name

    @property
    def prefix(self) -> str:
        """The prefix of the listener's own settings."""
        return f"listener.name.{self.name.lower()}"

    def store(self, node_id: int) -> str:
        """The name of the listener's key store, without the extension."""
        return f"node-{node_id}-{self.name.lower()}"


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """One broker. `reachable` is the endpoint that the client dials; it equals `advertised` without a gateway."""

    node_id: int
    bound: Endpoint
    advertised: Endpoint
    reachable: Endpoint
    peer: Endpoint
    controller: Endpoint
    more: tuple[ListenerPlan, ...] = ()

    def rule(self) -> Rule:
        """The rule that a client needs for this broker."""
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
        """The protocols of all listeners that clients use."""
        return frozenset({self.options.protocol, *(listener.protocol for listener in self.options.listeners)})

    @property
    def bootstrap(self) -> tuple[Endpoint, ...]:
        """The bootstrap servers of a client: the endpoints that it can dial."""
        return tuple(broker.reachable for broker in self.brokers)

    def address_map(self) -> AddressMap | None:
        """A rule for each broker, host to host if the port is kept; None if no rule is needed."""
        return AddressMap(tuple(broker.rule() for broker in self.brokers)) if self.hidden else None

    def broker(self, node_id: int) -> BrokerPlan:
        """The plan of one node.

        Raises:
            KeyError: the cluster has no such node.
        """
        for broker in self.brokers:
            if broker.node_id == node_id:
                return broker
        raise KeyError(f"cluster {self.name} has no node {node_id}")


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """The plan of a world: its clusters, and the forwards and NAT of its gateways."""

    name: str
    clusters: tuple[ClusterPlan, ...]
    forwards: tuple[Forward, ...] = ()
    nats: tuple[HostNat, ...] = ()

    def dead(self) -> tuple[Endpoint, ...]:
        """The endpoints that must not answer to a client."""
        return tuple(
            dict.fromkeys(
                broker.advertised
                for cluster in self.clusters
                for broker in cluster.brokers
                if broker.advertised != broker.reachable
            )
        )

    def binds(self) -> tuple[Endpoint, ...]:
        """The endpoints on which the processes of this world listen."""
        brokers = [broker for cluster in self.clusters for broker in cluster.brokers]
        listeners = [end for broker in brokers for end in (broker.bound, broker.peer, broker.controller)]
        more = [listener.bound for broker in brokers for listener in broker.more]
        return (*listeners, *more, *(forward.listen for forward in self.forwards))


def planned(
    listeners: Sequence[Listener], node_id: int, host: str, *, first_local_port: int, first_port: int = _FIRST_PORT
) -> tuple[ListenerPlan, ...]:
    """The listeners of one broker.

    Args:
        listeners: the additional listeners of the cluster.
        node_id: the node id of the broker.
        host: the host on which the broker listens.
        first_local_port: the first port of listeners that advertise `localhost`; all brokers share 127.0.0.1.
        first_port: the first port of the other listeners.
    """
    plans = []
    for index, listener in enumerate(listeners):
        if listener.nodes is not None and node_id not in listener.nodes:
            continue
        local_host = _THIS_MACHINE.get(listener.advertised or "")
        bound = Endpoint(local_host, first_local_port + index) if local_host else Endpoint(host, first_port + index)
        plans.append(ListenerPlan(listener, bound, Endpoint(listener.advertised or bound.host, bound.port)))
    return tuple(plans)
