"""What the picture shows of many: the first of each kind by name, the rest as one row that counts them.

Three brokers are three rows, two hundred are a handful: what is broken comes first, and is named more often than what
is well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brokernat.doctor.diagnosis.model import Entrance, Group, Hop, Route, State
from brokernat.doctor.reports.summary import count

_SHOW_ALL = 8
_NAMED = {State.BROKEN: 5, State.DOUBTFUL: 4, State.OK: 2}
_ENTRANCES = 6


@dataclass(frozen=True, slots=True)
class Row:
    """A way to a broker, or to several alike; `dialled` is None where a client dials nothing."""

    head: str
    advertised: str
    choice: Hop
    dialled: str | None
    reach: Hop
    answering: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Door:
    """A bootstrap server, or several."""

    head: str
    words: str
    state: State


def rows(routes: Sequence[Route]) -> tuple[Row, ...]:
    """All of them where they are few, in the order of node ids; else the kinds, the worst first."""
    if len(routes) <= _SHOW_ALL:
        return tuple(map(_row, routes))
    kinds: dict[tuple[State, str, str], list[Route]] = {}
    for route in routes:
        kinds.setdefault((route.state, route.choice.words, route.reach.words), []).append(route)
    order = sorted(kinds.values(), key=lambda members: list(_NAMED).index(members[0].state))
    return tuple(row for members in order for row in _kind(members))


def doors(group: Group) -> tuple[Door, ...]:
    """The bootstrap servers of a group."""
    all_of_them = group.entrances
    shown = all_of_them if len(all_of_them) <= _ENTRANCES else all_of_them[: _ENTRANCES - 1]
    found = [Door(each.endpoint, _words(each), each.reach.state) for each in shown]
    if rest := all_of_them[len(shown) :]:
        worst = min((each.reach.state for each in rest), key=list(_NAMED).index)
        found.append(Door(f"{len(rest)} more", "listed below", worst))
    return tuple(found)


def _kind(members: Sequence[Route]) -> list[Row]:
    named = _NAMED[members[0].state]
    if len(members) <= named + 1:
        return list(map(_row, members))
    first, rest = members[:named], members[named:]
    one = rest[0]
    more = Row(
        f"{len(rest)} more nodes",
        f"{rest[0].node_id} to {rest[-1].node_id}",
        one.choice,
        None if one.dialled is None else "in the same way",
        one.reach,
        "each itself" if one.state is State.OK else one.answering,
        one.codes,
    )
    return [*map(_row, first), more]


def _row(route: Route) -> Row:
    return Row(
        f"node {route.node_id}",
        route.advertised,
        route.choice,
        route.dialled,
        route.reach,
        route.answering,
        route.codes,
    )


def _words(entrance: Entrance) -> str:
    if entrance.told is None:
        return entrance.reach.words
    names = f"{entrance.answering}, names {count(entrance.told, 'broker')}"
    return names if entrance.reach.state is State.OK else entrance.reach.words
