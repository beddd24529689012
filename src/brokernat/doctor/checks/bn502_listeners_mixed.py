"""What: bootstrap servers of one cluster advertise different endpoints for the same node, or have no node in common.
Why: a broker answers with the endpoints of the listener NAME that the client came in on. With servers of several
listeners, each metadata update may bring other endpoints: brokers come and go.
Remedy: bootstrap servers of one listener.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, starmap

from brokernat.doctor.evidence import Evidence, Look
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.reading import advertised_sets, listener_of, same_listener

CODE = "BN502"


def _find(evidence: Evidence) -> Iterator[Finding]:
    sets = advertised_sets(evidence)
    looks = [look for of_set in sets.values() for look in of_set]
    if len({look.cluster_id for look in looks}) > 1 or all(starmap(same_listener, combinations(looks, 2))):
        return
    names = {told: _name(evidence, looks) for told, looks in sets.items()}
    known = [name for name in names.values() if name]
    subject = f"listeners {', '.join(known)}" if len(set(known)) == len(sets) else f"{len(sets)} sets of brokers"
    best = max(sets, key=lambda told: (_reached(evidence, told), len(told)))
    servers = ", ".join(look.endpoint for look in sets[best])
    brokers = f"{len(best)} broker{'s' if len(best) > 1 else ''}"
    of_one = f" ({names[best]}: {brokers})" if names[best] else ""
    remedy = Remedy((f"keep the bootstrap servers of one listener only, as {servers}{of_one}",), _define(names))
    seen = tuple(_side(told, looks, names[told]) for told, looks in sets.items())
    message = f"the bootstrap servers advertise {len(sets)} different sets of brokers"
    yield Finding(CODE, Severity.ERROR, subject, message, seen, ("BN501",), remedy)


def _name(evidence: Evidence, looks: Sequence[Look]) -> str | None:
    found = {listener_of(evidence, look) for look in looks}
    return found.pop() if len(found) == 1 else None


def _reached(evidence: Evidence, told: Sequence[str]) -> int:
    """How many of these brokers can be worked with from here."""
    answering = {path.broker.endpoint for path in evidence.paths if path.look is not None and path.look.answers}
    return sum(each.split()[1] in answering for each in told)


def _side(told: Sequence[str], looks: Sequence[Look], name: str | None) -> str:
    servers = ", ".join(look.endpoint for look in looks)
    return f"{f'listener {name}, ' if name else ''}bootstrap {servers}: {', '.join(told)}"


def _define(names: Mapping[tuple[str, ...], str | None]) -> tuple[str, ...]:
    """Which brokers lack which listener."""
    of_set = {told: {each.split()[0] for each in told} for told in names}
    every = set().union(*of_set.values())
    return tuple(
        f"define the listener{f' {names[told]}' if names[told] else ''} on node {', '.join(sorted(every - nodes))} too"
        for told, nodes in of_set.items()
        if every - nodes
    )


CHECK = Check(
    CODE,
    "Bootstrap servers belong to different listeners",
    "The bootstrap servers do not belong together ({subjects}): a client's brokers change with the server that "
    "answers.",
    _find,
    (Need.METADATA,),
)
