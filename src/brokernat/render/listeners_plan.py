"""A checked plan of the listeners of all brokers; pure.

A plan comes from listeners as a user writes them, with `{id}` where brokers differ:

    INTERNAL=kafka-{id}:19092         the endpoint that INTERNAL advertises
    EXTERNAL=gateway.example:{9092+id}

By default a listener binds its advertised port on every address, so publishing and forwarding keep the port. One error
reports everything that a broker would refuse, and equal endpoints of two brokers.

Or a plan comes from an inverted address map: INTERNAL keeps today's advertised endpoints. EXTERNAL advertises the
reachable side of each rule and binds the gateway's port, to which the gateway forwards. Then clients need no map.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from brokernat.address import Endpoint
from brokernat.address.endpoint import as_ip, bracketed, parse_port
from brokernat.config.client_properties import PROTOCOLS, protocol_hint
from brokernat.errors import ConfigError, Finding
from brokernat.render.gateways import Forward

CONTROLLER = "CONTROLLER"

_TEMPLATE = re.compile(r"\{(?:([0-9]{1,5})\+)?id\}")
_CONTROLLER_PORTS = range(9093, 2**16)


class Quorum(StrEnum):
    """The controllers: in the brokers, on separate nodes, or (before KRaft) ZooKeeper."""

    COMBINED = "combined"
    SEPARATE = "separate"
    ZOOKEEPER = "zookeeper"


@dataclass(frozen=True, slots=True)
class PlannedListener:
    """`bound` is the text after `NAME://` in `listeners`; an empty host binds every address."""

    name: str
    protocol: str
    bound: str
    bound_port: int
    advertised: Endpoint


@dataclass(frozen=True, slots=True)
class PlannedBroker:
    """One node. `controller` is its endpoint for other controllers, None if it is not a controller."""

    node_id: int
    listeners: tuple[PlannedListener, ...]
    controller: Endpoint | None


@dataclass(frozen=True, slots=True)
class ListenersPlan:
    """All nodes of a cluster; each has the same listeners, in the same order.

    A plan for an existing cluster does not change its controllers.
    """

    brokers: tuple[PlannedBroker, ...]
    inter_broker: str
    quorum: Quorum
    exists: bool = False


def filled(template: str, node_id: int) -> str:
    """The text for one node: `{id}` is its id, `{9092+id}` the sum."""
    return _TEMPLATE.sub(lambda found: str(int(found[1] or 0) + node_id), template)


def checked(
    brokers: Sequence[PlannedBroker],
    inter_broker: str,
    quorum: Quorum,
    controller: str | None,
    problems: Iterable[Finding] = (),
) -> ListenersPlan:
    """The plan of these brokers and controllers.

    Args:
        controller: the template of the controllers' endpoints; by default a free port of the broker's host.
        problems: the problems found so far.

    Raises:
        ConfigError: with `problems`, and with ports and endpoints that two listeners share.
    """
    found = (*problems, *_problems_of_ports(brokers), *_problems_between(brokers))
    if found:
        raise ConfigError(*dict.fromkeys(found))
    if quorum is Quorum.COMBINED:
        brokers = [_with_controller(broker, brokers, inter_broker, controller) for broker in brokers]
    return ListenersPlan(tuple(brokers), inter_broker, quorum)


def _problems_of_ports(brokers: Iterable[PlannedBroker]) -> Iterator[Finding]:
    for broker in brokers:
        taken: dict[int, str] = {}
        for each in broker.listeners:
            first = taken.setdefault(each.bound_port, each.name)
            if first != each.name:
                message = f"{first} and {each.name} of node {broker.node_id} would both bind port {each.bound_port}"
                other = _another_port(each.bound_port)
                hint = f"bind another one: `--bind {each.name}={other}`, and forward or publish to it"
                yield Finding("port-twice", message, hint)


def _problems_between(brokers: Iterable[PlannedBroker]) -> Iterator[Finding]:
    taken: dict[Endpoint, tuple[int, str]] = {}
    for broker in brokers:
        for each in broker.listeners:
            node_id, name = taken.setdefault(each.advertised, (broker.node_id, each.name))
            if (node_id, name) != (broker.node_id, each.name):
                one, other = f"{name} of node {node_id}", f"{each.name} of node {broker.node_id}"
                hint = "put `{id}` into the host, or a sum such as `{9092+id}` for the port"
                yield Finding("endpoint-twice", f"{one} and {other} would both advertise {each.advertised}", hint)


def _with_controller(
    broker: PlannedBroker, brokers: Iterable[PlannedBroker], inter_broker: str, template: str | None
) -> PlannedBroker:
    taken = {each.bound_port for other in brokers for each in other.listeners}
    if template is None:
        host = next(each.advertised.host for each in broker.listeners if each.name == inter_broker)
        controller = Endpoint(host, next(port for port in _CONTROLLER_PORTS if port not in taken))
    else:
        controller = Endpoint.parse(filled(template, broker.node_id))
        if controller.port in taken:
            message = f"the controllers' port {controller.port} of node {broker.node_id} is that of a listener"
            raise ConfigError(Finding("port-twice", message, "give another one: `--controller HOST:PORT`"))
    return replace(broker, controller=controller)


_NAME = re.compile(r"[A-Z0-9][A-Z0-9_.-]*")
_BINDING = re.compile(r"(?:(.*):)?([^:]+)")
_HINT = "write `NAME=HOST:PORT`, such as `EXTERNAL=gateway.example:{9092+id}`"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The request: `{name: template}` of advertised endpoints, bindings and protocols."""

    advertised: Mapping[str, str]
    bound: Mapping[str, str]
    protocols: Mapping[str, str]
    inter_broker: str | None = None
    controller: str | None = None
    quorum: Quorum = Quorum.COMBINED


def named(texts: Iterable[str], option: str) -> dict[str, str]:
    """Parses `NAME=TEXT` of a repeatable option; names in upper case, as in Kafka.

    Raises:
        ConfigError: names each invalid or repeated text.
    """
    found: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.upper()
        if not (equals and value and _NAME.fullmatch(name)):
            problems.append(Finding("listener-name", f"{option} `{text}` is not NAME=...", _HINT))
        elif found.setdefault(name, value) != value:
            problems.append(Finding("listener-twice", f"{option} names {name} twice", "give each listener once"))
    if problems:
        raise ConfigError(*problems)
    return found


def plan_listeners(wanted: Wanted, node_ids: Sequence[int]) -> ListenersPlan:
    """The checked plan.

    Raises:
        ConfigError: with all problems.
    """
    problems = list(_problems_of_names(wanted))
    brokers = [_wanted_broker(wanted, node_id, problems) for node_id in node_ids]
    inter_broker = wanted.inter_broker or next(iter(wanted.advertised), "")
    return checked(brokers, inter_broker, wanted.quorum, wanted.controller, problems)


def _problems_of_names(wanted: Wanted) -> Iterator[Finding]:
    names = tuple(wanted.advertised)
    if not names:
        yield Finding("no-listener", "no listener is given", "add `--listener NAME=HOST:PORT` once for each listener")
    if CONTROLLER in names:
        hint = "add `--controller HOST:PORT`, the endpoint at which controllers find each other"
        yield Finding("controller", f"{CONTROLLER} is the quorum's own listener, and never advertised to clients", hint)
    given = {"--bind": wanted.bound, "--protocol": wanted.protocols, "--inter-broker": (wanted.inter_broker or "",)}
    for option, mentioned in given.items():
        for name in filter(None, mentioned):
            if name not in names:
                message = f"{option} names {name}, which no `--listener` defines"
                yield Finding("unknown-listener", message, f"there is: {', '.join(names)}")
    for name, protocol in wanted.protocols.items():
        if protocol.upper() not in PROTOCOLS:
            message = f"{name} cannot speak `{protocol}`"
            yield Finding("unknown-protocol", message, protocol_hint(protocol))


def _wanted_broker(wanted: Wanted, node_id: int, problems: list[Finding]) -> PlannedBroker:
    listeners = []
    for name, template in wanted.advertised.items():
        text = filled(template, node_id)
        try:
            advertised = Endpoint.parse(text)
            host, port = _bound(filled(wanted.bound.get(name, str(advertised.port)), node_id), name)
        except ConfigError as error:
            problems += error.problems
            continue
        if (address := as_ip(advertised.host)) is not None and address.is_unspecified:
            hint = "advertise a name or an address that clients can dial; `--bind` says what is bound"
            problems.append(Finding("wildcard", f"{name} would advertise {advertised}, which nobody can dial", hint))
        protocol = wanted.protocols.get(name, "PLAINTEXT").upper()
        listeners.append(PlannedListener(name, protocol, f"{host}:{port}", port, advertised))
    return PlannedBroker(node_id, tuple(listeners), None)


def _bound(text: str, name: str) -> tuple[str, int]:
    """The host, empty for every address, and the port of `PORT` or `HOST:PORT`."""
    parts = _BINDING.fullmatch(text)
    try:
        port = parse_port(parts[2] if parts else "")
    except ConfigError:
        hint = "write `NAME=PORT` or `NAME=HOST:PORT`"
        raise ConfigError(Finding("binding", f"--bind {name}={text} has no port", hint)) from None
    return (bracketed(Endpoint.parse(text).host) if parts and parts[1] else ""), port


def _another_port(port: int) -> int:
    return port + 10000 if port + 10000 < 2**16 else port - 10000


INTERNAL, EXTERNAL = "INTERNAL", "EXTERNAL"


def plan_behind_nat(
    forwards: Sequence[Forward],
    node_ids: Mapping[Endpoint, int] | None = None,
    *,
    first_id: int = 1,
    protocol: str = "PLAINTEXT",
    quorum: Quorum = Quorum.COMBINED,
    controller: str | None = None,
) -> ListenersPlan:
    """Two listeners for each broker behind the gateway.

    Args:
        forwards: the forwards of the gateway, in the order of the rules.
        node_ids: the node id of each advertised endpoint, if known; else ids are counted from `first_id`.
        protocol: the security protocol of both listeners.

    Raises:
        ConfigError: an advertised endpoint belongs to no known node.
    """
    brokers = []
    problems = []
    for number, forward in enumerate(forwards, start=first_id):
        node_id = number if node_ids is None else node_ids.get(forward.upstream)
        if node_id is None:
            message = f"no broker in the evidence advertises {forward.upstream}, so its node id is unknown"
            problems.append(Finding("unknown-node", message, "remove the rule, or pass evidence that has the node"))
        else:
            brokers.append(_broker_behind_nat(node_id, forward, protocol))
    return replace(checked(brokers, INTERNAL, quorum, controller, problems), exists=True)


def forwards_to_make(plan: ListenersPlan) -> tuple[str, ...]:
    """The forwards that the gateway needs, as lines for the user."""
    lines = []
    for broker in plan.brokers:
        inside, outside = broker.listeners
        lines.append(f"{outside.advertised} -> {inside.advertised.host}:{outside.bound_port}")
    return tuple(lines)


def _broker_behind_nat(node_id: int, forward: Forward, protocol: str) -> PlannedBroker:
    inside, outside = forward.upstream, forward.listen
    # If NAT keeps the port, EXTERNAL binds another one, because the two listeners cannot share a port.
    port = outside.port if outside.port != inside.port else _another_port(outside.port)
    return PlannedBroker(
        node_id,
        (
            PlannedListener(INTERNAL, protocol, f":{inside.port}", inside.port, inside),
            PlannedListener(EXTERNAL, protocol, f":{port}", port, outside),
        ),
        None,
    )
