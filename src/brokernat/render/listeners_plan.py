"""The listeners of brokers as one plans them: a line for each listener, with `{id}` where brokers differ; pure.

    INTERNAL=kafka-{id}:19092         what brokers of INTERNAL advertise
    EXTERNAL=gateway.example:{9092+id}

A listener binds the port that it advertises, on every address, unless a binding says otherwise: what is published and
forwarded then keeps its port, and one number says it all. Whatever a broker would refuse, or a client could not tell
apart, is refused here, all of it at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from brokernat.address import Endpoint
from brokernat.address.host import as_ip, bracketed
from brokernat.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CONTROLLER = "CONTROLLER"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_NAME = re.compile(r"[A-Z0-9][A-Z0-9_.-]*")
_TEMPLATE = re.compile(r"\{(?:([0-9]{1,5})\+)?id\}")
_BINDING = re.compile(r"(?:(.*):)?([^:]+)")
_CONTROLLER_PORTS = range(9093, 2**16)
_HINT = "write `NAME=HOST:PORT`, such as `EXTERNAL=gateway.example:{9092+id}`"


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: `{name: template}` of what is advertised, bound, and spoken."""

    advertised: Mapping[str, str]
    bound: Mapping[str, str]
    protocols: Mapping[str, str]
    inter_broker: str | None = None
    controller: str | None = None
    quorum: Quorum = Quorum.COMBINED


def named(texts: Iterable[str], option: str) -> dict[str, str]:
    """`NAME=TEXT` of an option that may be repeated; names in upper case, as Kafka has them.

    Raises:
        ConfigError: with each that is none, or that is there twice.
    """
    found: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.upper()
        if not (equals and value and _NAME.fullmatch(name)):
            problems.append(Problem("listener-name", f"{option} `{text}` is not NAME=...", _HINT))
        elif found.setdefault(name, value) != value:
            problems.append(Problem("listener-twice", f"{option} names {name} twice", "give each listener once"))
    if problems:
        raise ConfigError(problems)
    return found


def filled(template: str, node_id: int) -> str:
    """The text for one node: `{id}` is its id, `{9092+id}` the sum."""
    return _TEMPLATE.sub(lambda found: str(int(found[1] or 0) + node_id), template)


def plan_listeners(wanted: Wanted, node_ids: Sequence[int]) -> ListenersPlan:
    """The plan, which no broker refuses.

    Raises:
        ConfigError: with every reason why there is none.
    """
    problems = list(_problems_of_names(wanted))
    brokers = [_broker(wanted, node_id, problems) for node_id in node_ids]
    inter_broker = wanted.inter_broker or next(iter(wanted.advertised), "")
    return checked(brokers, inter_broker, wanted.quorum, wanted.controller, problems)


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
        raise ConfigError(dict.fromkeys(found))
    if quorum is Quorum.COMBINED:
        brokers = [_with_controller(broker, brokers, inter_broker, controller) for broker in brokers]
    return ListenersPlan(tuple(brokers), inter_broker, quorum)


def _problems_of_names(wanted: Wanted) -> Iterator[Problem]:
    names = tuple(wanted.advertised)
    if not names:
        yield Problem("no-listener", "no listener is given", "say `--listener NAME=HOST:PORT`, once for each")
    if CONTROLLER in names:
        hint = "say `--controller HOST:PORT` for where controllers find each other"
        yield Problem("controller", f"{CONTROLLER} is the quorum's own listener, and never advertised to clients", hint)
    given = {"--bind": wanted.bound, "--protocol": wanted.protocols, "--inter-broker": (wanted.inter_broker or "",)}
    for option, mentioned in given.items():
        for name in filter(None, mentioned):
            if name not in names:
                message = f"{option} names {name}, which no `--listener` defines"
                yield Problem("unknown-listener", message, f"there is: {', '.join(names)}")
    for name, protocol in wanted.protocols.items():
        if protocol.upper() not in PROTOCOLS:
            message = f"{name} cannot speak `{protocol}`"
            yield Problem("unknown-protocol", message, f"there is: {', '.join(PROTOCOLS)}")


def _broker(wanted: Wanted, node_id: int, problems: list[Problem]) -> PlannedBroker:
    listeners = []
    for name, template in wanted.advertised.items():
        text = filled(template, node_id)
        try:
            advertised = Endpoint.parse(text)
            host, port = _bound(filled(wanted.bound.get(name, str(advertised.port)), node_id), name)
        except ConfigError as error:
            problems += error.problems
            continue
        if (place := as_ip(advertised.host)) is not None and place.is_unspecified:
            hint = "advertise a name or an address that clients can dial; `--bind` says what is bound"
            problems.append(Problem("wildcard", f"{name} would advertise {advertised}, which nobody can dial", hint))
        protocol = wanted.protocols.get(name, "PLAINTEXT").upper()
        listeners.append(PlannedListener(name, protocol, f"{host}:{port}", port, advertised))
    return PlannedBroker(node_id, tuple(listeners), None)


def _bound(text: str, name: str) -> tuple[str, int]:
    """`PORT` or `HOST:PORT`."""
    parts = _BINDING.fullmatch(text)
    if parts is None or not parts[2].isdecimal() or not 1 <= int(parts[2]) < 2**16:
        hint = "write `NAME=PORT` or `NAME=HOST:PORT`"
        raise ConfigError([Problem("binding", f"--bind {name}={text} has no port", hint)])
    if not parts[1]:
        return "", int(parts[2])
    return bracketed(Endpoint.parse(text).host), int(parts[2])


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
            raise ConfigError([Problem("port-twice", message, "give another one: `--controller HOST:PORT`")])
    return replace(broker, controller=controller)
