"""What the table of worlds is written in: classes of worlds, changes of the site, what clients are given."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from tests.netns.doctor_worlds.demand import Demand
from tests.netns.doctor_worlds.layout import NODES, advertised, door, front, gate, host
from tests.netns.doctor_worlds.middlebox import Forward, by_turns
from tests.netns.doctor_worlds.report import Client
from tests.netns.doctor_worlds.site import Site

from brokernat.address import Endpoint

Change = Callable[[Site], AbstractContextManager[None]]
Dice = random.Random


@dataclass(frozen=True)
class World:
    """One world: what is changed at the site, what the client is given, what is demanded of the report."""

    what: str
    client: Client
    demand: Demand
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A class of worlds. `slow` ones restart brokers or wait for time-outs and stay out of the gate, as do those
    without `gate`: variants of a class that is there."""

    name: str
    draw: Callable[[Dice], World]
    chance: bool = False
    slow: bool = False
    gate: bool = True
    kraft: bool = False
    """Not of ZooKeeper's brokers: a controller's listener, or an endpoint that several nodes advertise."""
    known_wrong: str = ""
    """Why the report is still wrong."""

    def variant(self, number: int) -> World:
        """The same for the same number."""
        return self.draw(random.Random(f"{self.name}/{number}"))


@contextmanager
def _all(site: Site, changes: Iterable[Change]) -> Any:
    with ExitStack() as stack:
        for each in changes:
            stack.enter_context(each(site))
        yield


def changed(site: Site, world: World) -> AbstractContextManager[None]:
    """The site as the world has it, while the block lasts."""
    return _all(site, world.changes)


KINDS: dict[str, Kind] = {}


def kind(**how: Any) -> Callable[[Callable[[Dice], World]], Callable[[Dice], World]]:
    """Add a class of worlds to the table."""

    def add(draw: Callable[[Dice], World]) -> Callable[[Dice], World]:
        name = draw.__name__.replace("_", "-")
        KINDS[name] = Kind(name, draw, **how)
        return draw

    return add


# Changes


def forwards(changed: Mapping[Endpoint, Forward | None]) -> Change:
    return lambda site: site.forwards(dict(changed))


def filtered(*rules: str) -> Change:
    return lambda site: site.filtered(*rules)


def names(**how: Any) -> Change:
    return lambda site: site.names(**how)


def routed(*routes: str) -> Change:
    return lambda site: site.routed(*routes)


def dns(changed: Mapping[str, tuple[tuple[str, ...], ...]] | None = None, *hosts: str) -> Change:
    """A name server that knows the brokers' names, some of them otherwise."""
    right = {name(node): ((host(node),),) for node in NODES}

    def change(site: Site) -> AbstractContextManager[None]:
        return site.names(hosts=hosts, answers=by_turns({**right, **(changed or {})}))

    return change


def name(node: int) -> str:
    return advertised("NAMED", node).host


# What clients are given


def some(dice: Dice, nodes: Iterable[int] = NODES, *, least: int = 1) -> list[int]:
    """Nodes, at least one of them, in any order."""
    nodes = list(nodes)
    return dice.sample(nodes, dice.randint(min(least, len(nodes)), len(nodes)))


def others(*nodes: int) -> list[int]:
    return [node for node in NODES if node not in nodes]


def by_front(dice: Dice, nodes: Iterable[int] = NODES) -> Client:
    return Client(tuple(front(node) for node in some(dice, nodes)))


def around(dice: Dice, *odd: int) -> Client:
    """Bootstrapped at other nodes, and in some worlds at an odd one too."""
    servers = [*some(dice, others(*odd)), *(odd[:1] if dice.random() < 0.3 else ())]
    return Client(tuple(front(node) for node in dice.sample(servers, len(servers))))


def by(listener: str, nodes: Iterable[int], *, names: bool = False) -> Client:
    ends = (advertised(listener, node) if names else door(listener, node) for node in nodes)
    return Client(tuple(ends), properties=LOGINS.get(listener, ()))


def mapped(dice: Dice, leads: Mapping[Endpoint, Endpoint], servers: Iterable[Endpoint] | None = None) -> Client:
    rules = tuple(f"{one} = {other}" for one, other in leads.items())
    return Client(tuple(servers or (gate(node) for node in some(dice))), rules)


LOGINS: dict[str, tuple[tuple[str, str], ...]] = {
    "LOGIN": (
        ("security.protocol", "SASL_PLAINTEXT"),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", "app"),
        ("sasl.password", "canary-91fe"),
    ),
    "TLS": (
        ("security.protocol", "SSL"),
        ("ssl.truststore.location", "{folder}/trust.p12"),
        ("ssl.truststore.password", "testbed"),
        ("ssl.truststore.type", "PKCS12"),
    ),
}
NO_FRONTS: dict[Endpoint, Forward | None] = {front(node): None for node in NODES}
RIGHT = {front(node): gate(node) for node in NODES}
HEALED = (
    Client(tuple(map(front, NODES))),
    *(by(listener, NODES, names=listener == "NAMED") for listener in ("PUBLIC", "NAMED", "TLS")),
    Client(tuple(RIGHT.values()), tuple(f"{one} = {other}" for one, other in RIGHT.items())),
)
"""Clients that are given nothing wrong, one for each listener that worlds disturb, and one with a map."""


# What an expert looks for


def rule(advertised: Endpoint, reachable: Endpoint) -> str:
    """The line of a map."""
    return rf"{re.escape(str(advertised))} ?= ?{re.escape(str(reachable))}"


NOT_KAFKA = r"not (a )?kafka|something else than kafka|use the port of a kafka"
CLIENT_SETTINGS = r"set `?security\.protocol|give the client a login|set `?sasl\."
ADD_LISTENER = r"add a listener"


def at(node: int, end: Endpoint | None = None) -> str:
    """The sentence names the node, or its endpoint."""
    return rf"nodes? [\d, and]*\b{node}\b|{re.escape(str(end or front(node)))}"


def one_odd(node: int, *headline: str, never: tuple[str, ...] = (), **more: Any) -> Demand:
    """One node's way is wrong: it is named, and nothing is advised that changes the client for all."""
    return Demand((at(node), *headline), never=(CLIENT_SETTINGS, ADD_LISTENER, *never), **more)
