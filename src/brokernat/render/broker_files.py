"""Renders brokers with several listeners: the lines of each `server.properties`, and a Docker compose file.

A client gets the advertised endpoints of the listener that it connects to: each listener advertises the endpoint that
its clients can dial. Every broker has every listener, so every client gets the complete cluster.

The brokers of the compose file serve containers, the host machine and other hosts. The variables are those of the image
`apache/kafka` (Confluent's images have the same names). A listener that advertises the service name is for other
containers and is not published; every other one is published under its advertised port, because clients dial that port.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from uuid import NAMESPACE_URL, uuid5

from brokernat.address import Endpoint
from brokernat.errors import ConfigError, Finding
from brokernat.render.header import Header
from brokernat.render.listeners_plan import CONTROLLER, ListenersPlan, PlannedBroker, Quorum

_LISTENERS_HEADER = Header(
    title="Listeners of Kafka brokers: the port of a connection decides which advertised endpoints a client gets",
    can=("Serve clients in several networks, each through its own listener, without a change at the clients.",),
    cannot=(
        "Make names resolve or ports reachable: each network must be able to dial what its listener advertises.",
        "Set up TLS or a login: SSL and SASL listeners also need `listener.name.NAME.ssl...` and `...sasl...`.",
    ),
    check=("brokernat doctor --server-properties FILE      one for each broker",),
    apply=(
        "in each server.properties, replace the properties of the same names by the lines of its node",
        "restart one broker after the other; then, from each network:",
        "brokernat doctor --bootstrap-server ONE_OF_ITS_LISTENERS",
    ),
)
DEFAULT_IMAGE = "apache/kafka:4.3.1"
_COMPOSE_HEADER = replace(
    _LISTENERS_HEADER,
    title="Kafka in Docker: the port of a connection decides which advertised endpoints a client gets",
    cannot=(
        *_LISTENERS_HEADER.cannot,
        "Add a broker by copying a service: each broker needs its own id, name and ports.",
    ),
    check=("docker compose -f FILE config --quiet", "brokernat doctor --server-properties FILE"),
    apply=("docker compose -f FILE up --detach", "brokernat doctor --bootstrap-server ...      from each network"),
)
_DATA = "/var/lib/kafka/data"


def listeners(plan: ListenersPlan, command: str, node_id: int | None = None, extra: Sequence[str] = ()) -> str:
    """The lines of all nodes, or of one, below a header.

    Args:
        command: the command line that renders the text again.
        node_id: only this node.
        extra: additional lines of the header.

    Raises:
        ConfigError: all controllers would be at one endpoint.
    """
    _require_controllers(plan)
    brokers = [broker for broker in plan.brokers if node_id in (None, broker.node_id)]
    blocks = [f"# node {broker.node_id}\n{_lines(broker_properties(plan, broker))}" for broker in brokers]
    return "\n".join((_LISTENERS_HEADER.comment(_LISTENERS_HEADER.title, (f"Made by `{command}`.",), extra), *blocks))


def _require_controllers(plan: ListenersPlan) -> None:
    controllers = {broker.controller for broker in plan.brokers}
    if plan.quorum is Quorum.COMBINED and not plan.exists and len(controllers) == 1 < len(plan.brokers):
        message = f"the controllers of all nodes would be at {plan.brokers[0].controller}"
        own = "give each its own endpoint, `--controller 'HOST-{id}:PORT'`, or name the brokers' own listener first"
        hint = f"{own}; controllers without brokers need `--quorum separate`"
        raise ConfigError(Finding("endpoint-twice", message, hint))


def broker_properties(plan: ListenersPlan, broker: PlannedBroker) -> dict[str, str]:
    """The settings of one broker, in Kafka's names."""
    bound = {listener.name: listener.bound for listener in broker.listeners}
    protocols = {listener.name: listener.protocol for listener in broker.listeners}
    if plan.quorum is not Quorum.ZOOKEEPER:
        protocols[CONTROLLER] = "PLAINTEXT"
    if broker.controller is not None:
        bound[CONTROLLER] = f"{_controller_host(broker)}:{broker.controller.port}"
    return {
        **_quorum(plan, broker),
        "listeners": ",".join(f"{name}://{address}" for name, address in bound.items()),
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
    """The host that controllers bind: every address, or the address that all listeners bind."""
    hosts = {each.bound.rpartition(":")[0] for each in broker.listeners}
    return hosts.pop() if len(hosts) == 1 else ""


def _lines(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def compose(plan: ListenersPlan, command: str, image: str = DEFAULT_IMAGE) -> str:
    """The compose file.

    Raises:
        ConfigError: the controllers are not in the brokers, or two brokers would publish the same port.
    """
    if plan.quorum is not Quorum.COMBINED:
        hint = "leave `--quorum` out, or write `render listeners` and keep your own compose file"
        raise ConfigError(Finding("quorum", "the compose file has its controllers in the brokers", hint))
    _require_ports(plan)
    plan = _by_service(plan)
    services = "\n".join("".join(_service(plan, broker, image)) for broker in plan.brokers)
    volumes = "".join(f"  {service_name(plan, broker)}: {{}}\n" for broker in plan.brokers)
    header = _COMPOSE_HEADER.comment(_COMPOSE_HEADER.title, (f"Made by `{command}`.",))
    return f"{header}\nservices:\n{services}\nvolumes:\n{volumes}"


def service_name(plan: ListenersPlan, broker: PlannedBroker) -> str:
    """The service name of a broker: its host on the inter-broker listener, if that is a plain name."""
    host = next(each.advertised.host for each in broker.listeners if each.name == plan.inter_broker)
    plain = "." not in host and ":" not in host and host != "localhost"
    return host if plain else f"kafka-{broker.node_id}"


def published(plan: ListenersPlan, broker: PlannedBroker) -> tuple[tuple[int, int], ...]:
    """The published ports, as pairs of the host's and the container's port."""
    name = service_name(plan, broker)
    return tuple((each.advertised.port, each.bound_port) for each in broker.listeners if each.advertised.host != name)


def _require_ports(plan: ListenersPlan) -> None:
    taken: dict[int, PlannedBroker] = {}
    problems = []
    for broker in plan.brokers:
        for port, _ in published(plan, broker):
            if port in taken:
                services = " and ".join(dict.fromkeys(service_name(plan, each) for each in (taken[port], broker)))
                message = f"port {port} of this machine would be published twice, by {services}"
                hint = "on one machine each needs a port of its own, such as `NAME=HOST:{9092+id}`"
                problems.append(Finding("port-twice", message, hint))
            taken[port] = broker
    if problems:
        raise ConfigError(*problems)


def _by_service(plan: ListenersPlan) -> ListenersPlan:
    """Replaces controller hosts with service names."""
    brokers = (
        replace(broker, controller=Endpoint(service_name(plan, broker), broker.controller.port))
        for broker in plan.brokers
        if broker.controller is not None
    )
    return replace(plan, brokers=tuple(brokers))


def _service(plan: ListenersPlan, broker: PlannedBroker, image: str) -> Iterator[str]:
    name = service_name(plan, broker)
    yield f"  {name}:\n    image: {_text(image)}\n    hostname: {name}\n"
    ports = published(plan, broker)
    if ports:
        yield "    ports:\n"
        yield from (f'      - "{outside}:{inside}"\n' for outside, inside in ports)
    yield f"    volumes:\n      - {name}:{_DATA}\n    environment:\n      CLUSTER_ID: {_text(_cluster_id(plan))}\n"
    for setting, value in _settings(plan, broker).items():
        yield f"      KAFKA_{setting.upper().replace('.', '_')}: {_text(value)}\n"


def _settings(plan: ListenersPlan, broker: PlannedBroker) -> dict[str, str]:
    replicas = min(3, len(plan.brokers))
    return {
        **broker_properties(plan, broker),
        "log.dirs": _DATA,
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(min(2, replicas)),
    }


def _cluster_id(plan: ListenersPlan) -> str:
    """A cluster id derived from the plan: 16 bytes in Kafka's form, without a leading dash."""
    endpoints = ",".join(str(each.advertised) for broker in plan.brokers for each in broker.listeners)
    for number in count():
        digest = uuid5(NAMESPACE_URL, f"brokernat:{number}:{endpoints}").bytes
        text = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if not text.startswith("-"):
            return text
    raise AssertionError("count() does not end")


def _text(value: str) -> str:
    """The value as JSON, which is valid YAML; `$` is doubled, because compose would expand it."""
    return json.dumps(value.replace("$", "$$"))
