"""Where everything is, pure: four brokers of one cluster with a dozen listeners each and a cluster of one broker in one
network namespace, the client in another, and a middlebox at the addresses that the brokers advertise.

| address | what |
|---|---|
| 172.20.9.10, .11 | client |
| 172.20.1.41 .. .44 | hosts of nodes 1 to 4: port 9092 is the middlebox's, the others are the brokers' own |
| 172.20.1.40 | the gateway, the middlebox's: where a map leads, and an entry to listeners that advertise nonsense |
| 172.20.1.53 | the name server |
| 172.20.2.1 | the other cluster |
| 10.9.0.11 .. .14 | where brokers bind what the client has no route to |
| fd20:9::10 | client |
| fd20:1::40 | the gateway; fd20:1::41 .. ::44 are the hosts of nodes 1 to 4, fd20:1::99 is nobody's |
"""

from __future__ import annotations

from brokernat.address import Endpoint
from brokernat.testbed import Protocol

NODES = (1, 2, 3, 4)
CLIENT_HOST, SECOND_CLIENT_HOST = "172.20.9.10", "172.20.9.11"
GATEWAY, NAME_SERVER, OTHER, NOWHERE = "172.20.1.40", "172.20.1.53", "172.20.2.1", "172.20.1.99"
CLIENT_HOST_6, FIRST_LINK_6, GATEWAY_6, NOWHERE_6 = "fd20:9::10", "fd20:9::1", "fd20:1::40", "fd20:1::99"
FIRST_LINK = "172.20.1.1"
DOMAIN = "site.example"
TOPIC = "orders"
CONTAINERS = ("f3a9c2d17b4e", "0b7e55d1a9c4", "9d2c41e8f06a", "c5518e0d3b72")

_FRONT = 9092
LISTENERS: dict[str, tuple[int, Protocol, str | None]] = {
    # name: port, protocol, what is advertised; None for where it is bound, on a host that the client reaches.
    "PUBLIC": (9093, Protocol.PLAINTEXT, None),
    "PART": (9094, Protocol.PLAINTEXT, None),
    "LOCAL": (9095, Protocol.PLAINTEXT, "localhost:9095"),
    "LOCALS": (9096, Protocol.PLAINTEXT, "localhost:2909{node}"),
    "ONE": (9097, Protocol.PLAINTEXT, None),
    "NAMED": (9098, Protocol.PLAINTEXT, "kafka-{node}." + DOMAIN + ":9098"),
    "BOX": (9099, Protocol.PLAINTEXT, "{container}:9099"),
    "SVC": (9102, Protocol.PLAINTEXT, "kafka-{node}.kafka-headless.prod.svc.cluster.local:9102"),
    "CLOUD": (9103, Protocol.PLAINTEXT, "ip-172-31-18-16{node}.us-west-2.compute.internal:9103"),
    "LOGIN": (9100, Protocol.SASL_PLAINTEXT, None),
    "TLS": (9101, Protocol.SSL, None),
    "HALF": (9104, Protocol.PLAINTEXT, None),
    "PAIR": (9105, Protocol.PLAINTEXT, None),
    "SIX": (9106, Protocol.PLAINTEXT, None),
    "SHORT": (9107, Protocol.PLAINTEXT, "hq-kafka{node}:9107"),
}
LACKS = {"PART": (3,), "PAIR": (2, 4)}
"""The nodes that do not have a listener."""
_LOCALHOST = {"ONE": (2,), "HALF": (1, 3)}
"""The nodes that advertise `localhost` where the others advertise their address."""
SHARED = ("LOCAL", "HALF")
"""Where several nodes advertise one endpoint, which ZooKeeper's brokers refuse."""
_DIRECT = ("NAMED", "SHORT")
"""What is bound on a host that the client reaches, whatever is advertised."""
PEER, CONTROLLER_PORT = 19090, 19091


def host(node: int) -> str:
    """The host of a node as the client sees it."""
    return f"172.20.1.{40 + node}"


def host_6(node: int) -> str:
    return f"fd20:1::{40 + node}"


def front(node: int) -> Endpoint:
    """What a node advertises to clients that came in by the middlebox."""
    return Endpoint(host(node), _FRONT)


def bound(node: int) -> Endpoint:
    """The broker's own end of `front`."""
    return Endpoint(f"10.9.0.{10 + node}", _FRONT)


def gate(node: int) -> Endpoint:
    """The gateway's port for a node."""
    return Endpoint(GATEWAY, 9192 + node)


def door(listener: str, node: int) -> Endpoint:
    """Where a client enters a listener: the broker's own port, or where that is not reached, the gateway's."""
    port, _, words = LISTENERS[listener]
    if words is None or listener in _DIRECT:
        return inside(listener, node)
    return Endpoint(GATEWAY, port + 1000 * node)


def advertised(listener: str, node: int) -> Endpoint:
    """What a client of a listener is told about a node."""
    port, _, words = LISTENERS[listener]
    if node in _LOCALHOST.get(listener, ()):
        return Endpoint("localhost", port)
    if words is None:
        return inside(listener, node)
    return Endpoint.parse(words.format(node=node, container=CONTAINERS[node - 1]))


def inside(listener: str, node: int) -> Endpoint:
    """Where a broker binds a listener."""
    port, _, words = LISTENERS[listener]
    if listener == "SIX":
        return Endpoint(host_6(node), port)
    return Endpoint(host(node) if words is None or listener in _DIRECT else bound(node).host, port)


OTHER_BROKER = Endpoint(OTHER, _FRONT)
CONTROLLER = Endpoint(bound(1).host, CONTROLLER_PORT)
