"""The lines about listeners of each broker's `server.properties`, as Kafka wants them.

What a client is told is decided by the port it comes in on: each listener advertises the endpoint that its own clients
can dial, and every broker has every listener, so that nobody hears of a part of the cluster only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brokernat.render.header import Header
from brokernat.render.listeners_plan import CONTROLLER, ListenersPlan, PlannedBroker, Quorum

HEADER = Header(
    title="Listeners of Kafka's brokers: who comes in on a port is told the endpoints of that port's listener",
    can=("Serve clients of several places at once, each by a listener of its own, with no change at the clients.",),
    cannot=(
        "Make names resolve or ports reach: each place must be able to dial what its listener advertises.",
        "Set up TLS or a login: SSL and SASL listeners need `listener.name.NAME.ssl...` and `...sasl...` beside this.",
    ),
    check=("brokernat doctor --server-properties FILE      one for each broker",),
    apply=(
        "put the lines of its node into each server.properties, in place of those with the same names",
        "restart one broker after the other; then, from each place:",
        "brokernat doctor --bootstrap-server ONE_OF_ITS_LISTENERS",
    ),
)


def listeners(plan: ListenersPlan, command: str, node_id: int | None = None, extra: Sequence[str] = ()) -> str:
    """The lines of all nodes, or of one, below a header.

    Args:
        command: the command line that makes the text again.
        node_id: only this node.
        extra: what else the header says.
    """
    brokers = [broker for broker in plan.brokers if node_id in (None, broker.node_id)]
    blocks = [f"# node {broker.node_id}\n{_lines(broker_properties(plan, broker))}" for broker in brokers]
    return "\n".join((HEADER.comment(HEADER.title, (f"Made by `{command}`.",), extra), *blocks))


def broker_properties(plan: ListenersPlan, broker: PlannedBroker) -> dict[str, str]:
    """The settings of one broker, in Kafka's names."""
    bound = {each.name: each.bound for each in broker.listeners}
    protocols = {each.name: each.protocol for each in broker.listeners}
    if plan.quorum is not Quorum.ZOOKEEPER:
        protocols[CONTROLLER] = "PLAINTEXT"
    if broker.controller is not None:
        bound[CONTROLLER] = f"{_controller_host(broker)}:{broker.controller.port}"
    return {
        **_quorum(plan, broker),
        "listeners": ",".join(f"{name}://{place}" for name, place in bound.items()),
        "advertised.listeners": ",".join(f"{each.name}://{each.advertised}" for each in broker.listeners),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "inter.broker.listener.name": plan.inter_broker,
    }


def _quorum(plan: ListenersPlan, broker: PlannedBroker) -> dict[str, str]:
    match plan.quorum:
        case Quorum.ZOOKEEPER:
            return {"broker.id": str(broker.node_id)}
        case Quorum.SEPARATE:
            return {
                "node.id": str(broker.node_id),
                "process.roles": "broker",
                "controller.listener.names": CONTROLLER,
            }
        case Quorum.COMBINED:
            voters = ",".join(f"{each.node_id}@{each.controller}" for each in plan.brokers)
            return {
                "node.id": str(broker.node_id),
                "process.roles": "broker,controller",
                **({} if plan.exists else {"controller.quorum.voters": voters}),
                "controller.listener.names": CONTROLLER,
            }


def _controller_host(broker: PlannedBroker) -> str:
    """Every address, like the listeners; the one address where all of them bind one."""
    hosts = {each.bound.rpartition(":")[0] for each in broker.listeners}
    return hosts.pop() if len(hosts) == 1 else ""


def _lines(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())
