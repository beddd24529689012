"""What the picture shows of many: the first of each kind by name, the rest as one row that counts them.

Three brokers are three rows, two hundred are a handful: what is broken comes first, and is named more often than what
is well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brokernat.doctor.diagnosis.model import WORST_FIRST, Entrance, Route, State
from brokernat.doctor.reports.summary import names

_SHOW_ALL = 8
_NAMED = {State.BROKEN: 5, State.DOUBTFUL: 4, State.OK: 2}
_SERVERS = 6


def rows(routes: Sequence[Route]) -> list[tuple[str, Route]]:
    """Routes with their headings: all of them where they are few, in the order of node ids; else the worst first.

    A route that stands for several has in `advertised` which nodes they are.
    """
    kinds: dict[tuple[State, str, str], list[Route]] = {}
    for route in routes:
        kinds.setdefault((route.state, route.choice.words, route.reach.words), []).append(route)
    shown: list[tuple[str, Route]] = []
    for members in sorted(kinds.values(), key=lambda members: WORST_FIRST.index(members[0].state)):
        named = _NAMED[members[0].state]
        first, rest = (members[:named], members[named:]) if len(members) > named + 1 else (members, [])
        shown += [(f"node {each.node_id}", each) for each in first]
        if rest:
            more = replace(
                rest[0],
                advertised=f"{rest[0].node_id} to {rest[-1].node_id}",
                dialled=None if rest[0].dialled is None else "in the same way",
                answering="each itself" if rest[0].state is State.OK else rest[0].answering,
            )
            shown.append((f"{len(rest)} more nodes", more))
    return shown if len(routes) > _SHOW_ALL else [(f"node {each.node_id}", each) for each in routes]


def servers(entrances: Sequence[Entrance]) -> list[tuple[str, str, State]]:
    """Heading, words and state of each bootstrap server; the last one stands for the rest where they are many."""
    shown = entrances if len(entrances) <= _SERVERS else entrances[: _SERVERS - 1]
    found = [
        (each.endpoint, each.reach.words if each.reach.state is not State.OK else names(each), each.reach.state)
        for each in shown
    ]
    if rest := entrances[len(shown) :]:
        worst = min((each.reach.state for each in rest), key=WORST_FIRST.index)
        found.append((f"{len(rest)} more", "listed below", worst))
    return found
