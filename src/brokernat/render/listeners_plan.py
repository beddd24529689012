"""The listeners of all brokers, checked: no broker refuses them, and no client takes one broker for another; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from brokernat.address import Endpoint
from brokernat.errors import ConfigError, Problem

CONTROLLER = "CONTROLLER"

_TEMPLATE = re.compile(r"\{(?:([0-9]{1,5})\+)?id\}")
_CONTROLLER_PORTS = range(9093, 2**16)


class Quorum(StrEnum):
    """Where the controllers are: in the brokers themselves, on nodes of their own, or (before KRaft) ZooKeeper."""

    COMBINED = "combined"
    SEPARATE = "separate"
    ZOOKEEPER = "zookeeper"


@dataclass(frozen=True, slots=True)
class PlannedListener:
    """`bound` is the text behind `NAME://` in `listeners`; an empty host there is every address."""

    name: str
    protocol: str
    bound: str
    bound_port: int
    advertised: Endpoint


@dataclass(frozen=True, slots=True)
class PlannedBroker:
    """One node. `controller` is where other controllers find it, None where it is none."""

    node_id: int
    listeners: tuple[PlannedListener, ...]
    controller: Endpoint | None


@dataclass(frozen=True, slots=True)
class ListenersPlan:
    """All nodes of a cluster; each has the same listeners, in the same order.

    Of a cluster that exists already nobody changes who its controllers are.
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
    problems: Iterable[Problem] = (),
) -> ListenersPlan:
    """The plan of these brokers, with controllers where they are to be.

    Args:
        controller: the template of where controllers find each other; a free port of the broker's own host else.
        problems: what is wrong already.

    Raises:
        ConfigError: with those, and with ports and endpoints that two would have.
    """
    found = (*problems, *_problems_of_ports(brokers), *_problems_between(brokers))
    if found:
        raise ConfigError(*dict.fromkeys(found))
    if quorum is Quorum.COMBINED:
        brokers = [_with_controller(broker, brokers, inter_broker, controller) for broker in brokers]
    return ListenersPlan(tuple(brokers), inter_broker, quorum)


def _problems_of_ports(brokers: Iterable[PlannedBroker]) -> Iterator[Problem]:
    for broker in brokers:
        taken: dict[int, str] = {}
        for each in broker.listeners:
            first = taken.setdefault(each.bound_port, each.name)
            if first != each.name:
                message = f"{first} and {each.name} of node {broker.node_id} would both bind port {each.bound_port}"
                hint = f"bind another one: `--bind {each.name}={each.bound_port + 10000}`, and forward or publish to it"
                yield Problem("port-twice", message, hint)


def _problems_between(brokers: Iterable[PlannedBroker]) -> Iterator[Problem]:
    taken: dict[Endpoint, tuple[int, str]] = {}
    for broker in brokers:
        for each in broker.listeners:
            node_id, name = taken.setdefault(each.advertised, (broker.node_id, each.name))
            if (node_id, name) != (broker.node_id, each.name):
                one, other = f"{name} of node {node_id}", f"{each.name} of node {broker.node_id}"
                hint = "put `{id}` into the host, or a sum such as `{9092+id}` for the port"
                yield Problem("endpoint-twice", f"{one} and {other} would both advertise {each.advertised}", hint)


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
            raise ConfigError(Problem("port-twice", message, "give another one: `--controller HOST:PORT`"))
    return replace(broker, controller=controller)
