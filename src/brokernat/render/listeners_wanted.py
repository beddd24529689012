"""The listeners of brokers as one says them: a line for each listener, with `{id}` where brokers differ; pure.

    INTERNAL=kafka-{id}:19092         what brokers of INTERNAL advertise
    EXTERNAL=gateway.example:{9092+id}

A listener binds the port that it advertises, on every address, unless a binding says otherwise: what is published and
forwarded then keeps its port, and one number says it all. Whatever a broker would refuse, or a client could not tell
apart, is refused here, all of it at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from brokernat.address import Endpoint
from brokernat.address.endpoint import parse_port
from brokernat.address.host import as_ip, bracketed
from brokernat.errors import ConfigError, Problem
from brokernat.render.listeners_plan import (
    CONTROLLER,
    ListenersPlan,
    PlannedBroker,
    PlannedListener,
    Quorum,
    checked,
    filled,
)

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_NAME = re.compile(r"[A-Z0-9][A-Z0-9_.-]*")
_BINDING = re.compile(r"(?:(.*):)?([^:]+)")
_HINT = "write `NAME=HOST:PORT`, such as `EXTERNAL=gateway.example:{9092+id}`"


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
        raise ConfigError(*problems)
    return found


def plan_listeners(wanted: Wanted, node_ids: Sequence[int]) -> ListenersPlan:
    """The plan, which no broker refuses.

    Raises:
        ConfigError: with every reason why there is none.
    """
    problems = list(_problems_of_names(wanted))
    brokers = [_broker(wanted, node_id, problems) for node_id in node_ids]
    inter_broker = wanted.inter_broker or next(iter(wanted.advertised), "")
    return checked(brokers, inter_broker, wanted.quorum, wanted.controller, problems)


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
    try:
        port = parse_port(parts[2] if parts else "")
    except ConfigError:
        hint = "write `NAME=PORT` or `NAME=HOST:PORT`"
        raise ConfigError(Problem("binding", f"--bind {name}={text} has no port", hint)) from None
    return (bracketed(Endpoint.parse(text).host) if parts and parts[1] else ""), port
