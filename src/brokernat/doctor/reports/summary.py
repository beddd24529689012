"""What reports for people share: their first line, what the probes saw, one line each with its state, what brokers'
files advertise by listener, and the findings by code.

Of many brokers that are all well, or all broken in the same way, the first ones are named and the rest is counted, the
broken ones before the others. What is said of several subjects in the same words is said once: two hundred brokers that
share a fault are one paragraph. The root cause's remedy leads the report, so it is not said again; what follows from
another finding names it, and needs no remedy of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from brokernat.doctor.broker_files.listeners import AdvertisedEndpoint, ListenerPort, listener_table
from brokernat.doctor.checks import catalogue
from brokernat.doctor.diagnosis import Cause, Diagnosis
from brokernat.doctor.diagnosis.model import WORST_FIRST, Entrance, ListenerWay, Route, State
from brokernat.doctor.evidence import ExecutorSeen, ListenerSeen
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.plurals import counted

_ON_THE_WAY = {
    Severity.ERROR: "something stops clients on the way from here to the brokers",
    Severity.WARNING: "nothing stops clients on the way from here to the brokers, but something is doubtful",
    None: "nothing stops clients on the way from here to the brokers",
}
_IN_THE_FILES = {
    Severity.ERROR: "the brokers' files do not fit together",
    Severity.WARNING: "the brokers' files fit together, but something is doubtful",
    None: "the brokers' files fit together",
}


def worst(diagnosis: Diagnosis) -> Severity | None:
    """The gravest severity found, infos aside."""
    severities = {finding.severity for finding in diagnosis.findings}
    return next((each for each in (Severity.ERROR, Severity.WARNING) if each in severities), None)


def verdict(diagnosis: Diagnosis) -> str:
    """Half a sentence; what it is about, the cluster, stands before it."""
    evidence = diagnosis.evidence
    if not evidence.bootstraps:
        return _IN_THE_FILES[worst(diagnosis)]
    if not any(probe.answers for probe in evidence.bootstraps):
        return "no bootstrap server lets a client in from here"
    gravest = worst(diagnosis)
    if gravest is not Severity.ERROR and any(each.code == "BN004" for each in diagnosis.findings):
        return "nothing that was probed stops clients, and not all was probed in time"
    return _ON_THE_WAY[gravest]


def count(number: int, name: str) -> str:
    """`1 error`, `2 errors`, `no error`."""
    return counted(number, name) if number else f"no {name}"


Line = tuple[State, str]
_NAMED = {State.OK: 6, State.DOUBTFUL: 12, State.BROKEN: 12}
_FEW = 12


def seen(diagnosis: Diagnosis, *, every: bool = False) -> Iterator[Line]:
    """Bootstrap servers, brokers, then what else was asked; `every` names every broker."""
    for entrance in diagnosis.entrances:
        yield entrance.reach.state, _entrance(entrance)
    alike: dict[tuple[State, str], list[Route]] = {}
    for route in diagnosis.routes:
        alike.setdefault((route.state, route.end.words), []).append(route)
    kinds = list(alike.items())
    if len(diagnosis.evidence.paths) > _FEW:
        # Of many nobody finds the broken ones behind those that are well.
        kinds.sort(key=lambda kind: WORST_FIRST.index(kind[0][0]))
    for (state, words), members in kinds:
        # One more line than a line that counts them costs nothing.
        shown = len(members) if every or len(members) <= _NAMED[state] + 1 else _NAMED[state]
        for route in members[:shown]:
            yield state, _route(route)
        if shown < len(members):
            ids = [route.node_id for route in members[shown:]]
            yield state, f"{len(ids)} more nodes, from {ids[0]} to {ids[-1]}: {words}"
    if diagnosis.cause is not None and not all(each.entered for each in diagnosis.evidence.listeners):
        yield from _listeners(diagnosis.listeners)
    for executor in diagnosis.evidence.executors:
        well = executor.outcome == "answered" and all(node.reached for node in executor.nodes)
        yield State.OK if well else State.BROKEN, executor_line(executor)


def _entrance(entrance: Entrance) -> str:
    dialled = "" if entrance.dialled == entrance.endpoint else f", dialled at {entrance.dialled}"
    well = entrance.told is None or entrance.reach.state is State.OK
    words = names(entrance) if well else f"{entrance.reach.words}; {names(entrance)}"
    return f"bootstrap {entrance.endpoint}{dialled}: {words}"


def names(entrance: Entrance) -> str:
    """`node 1, names 3 brokers`; what is wrong where it names none to this client."""
    if entrance.told is None:
        return entrance.reach.words
    return f"{entrance.answering}, names {count(entrance.told, 'broker')}"


def _listeners(listeners: Iterable[ListenerWay]) -> Iterator[Line]:
    """Those of one name that end alike stand together; those that nobody uses and nobody reaches are counted."""
    alike: dict[tuple[str, State, str, bool], list[ListenerSeen]] = {}
    useless: dict[str, None] = {}
    for way in listeners:
        each, probe, hop = way.seen, way.seen.probe, way.reach
        if hop.state is not State.OK and not each.entered:
            useless[each.name] = None
            continue
        met = hop.words if probe is None or probe.brokers is None else f"names {count(len(probe.brokers), 'broker')}"
        alike.setdefault((each.name, hop.state, met, bool(each.entered)), []).append(each)
    for (name, state, met, entered), members in sorted(alike.items(), key=lambda item: not item[0][3]):
        nodes = ", ".join(str(each.node_id) for each in members)
        ends = ", ".join(each.endpoint for each in members)
        here = " (the bootstrap servers came in here)" if entered else ""
        start = f"listener {name} of node{'s' if len(members) > 1 else ''} {nodes} sends clients to {ends}"
        yield state, f"{start}: {met}{here}"
    if useless:
        yield State.DOUBTFUL, f"not reached from here, and not used: listener {', '.join(useless)}"


def _route(route: Route) -> str:
    way = f", dialled at {route.dialled}" if route.dialled not in (None, route.advertised) else ""
    words = route.end.words
    if route.reach.state is State.OK:
        words = route.answering
    elif route.answering.startswith("node"):
        words += f", {route.answering}"
    return f"node {route.node_id} advertises {route.advertised}{way}: {words}"


_OTHERWISE = {
    "no-agent": "no agent",
    "other-map": "another map or agent",
    "failed": "its Kafka client failed",
    "silent": "no answer",
    "not-registered": "did not register",
}
_FINGERPRINT = 12


def executor_line(executor: ExecutorSeen) -> str:
    """`executor 3 on w2: agent 0.1.0, map 0f3c…: reaches node 1, node 3; not node 2 (unreachable)`."""
    name = f"{executor.name} on {executor.host}" if executor.is_driver and executor.host else executor.name
    if executor.outcome != "answered":
        return f"{name}: {_OTHERWISE[executor.outcome]}"
    held = f"agent {executor.agent}" if executor.agent else "no agent"
    held += f", map {executor.fingerprint[:_FINGERPRINT]}" if executor.fingerprint else ", no map"
    reached = ", ".join(f"node {node.node_id}" for node in executor.nodes if node.reached)
    barred = ", ".join(f"node {node.node_id} ({node.outcome})" for node in executor.nodes if not node.reached)
    told = "; ".join(filter(None, (f"reaches {reached}" if reached else "", f"not {barred}" if barred else "")))
    return f"{name}: {held}: {told}"


_WORKS = {
    "anywhere": "",
    "same-machine": ": from the broker's own machine alone",
    "same-network": ": where this name is known",
    "nowhere": ": nobody can dial that",
}


def endpoints_by_listener(diagnosis: Diagnosis) -> Iterator[tuple[int, str]]:
    """Lines with their depth; none where no file was given."""
    for row in listener_table(diagnosis.evidence):
        protocol = row.protocol or "no one protocol"
        others = ", the brokers among themselves too" if row.inter_broker else ""
        ports = ", ".join(map(_port, row.ports)) or "no port"
        yield 0, f"who comes in on {row.listener} ({protocol}{others}), that is {ports}, is told"
        for endpoint in row.endpoints:
            yield 1, _endpoint(endpoint)
        if not row.endpoints:
            yield 1, "of no broker at all"


def _port(port: ListenerPort) -> str:
    host = f"[{port.host}]" if ":" in port.host else port.host
    published = f" (published as {port.published})" if port.published is not None else ""
    return f"{_node(port)} {host}:{port.port}{published}"


def _endpoint(advertised: AdvertisedEndpoint) -> str:
    host = f"[{advertised.host}]" if ":" in advertised.host else advertised.host or "(its machine's own name)"
    return f"{_node(advertised)} at {host}:{advertised.port}{_WORKS[advertised.where]}"


def _node(place: ListenerPort | AdvertisedEndpoint) -> str:
    return place.broker if place.node_id is None else f"node {place.node_id}"


@dataclass(frozen=True, slots=True)
class Statement:
    """The same words about one subject or more."""

    subjects: tuple[str, ...]
    message: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """All findings of a code and a severity.

    `remedy` is what has not been said before. `follows` are the codes found that they follow from.
    """

    code: str
    title: str
    severity: Severity
    confidence: Confidence
    statements: tuple[Statement, ...]
    remedy: Remedy
    follows: tuple[str, ...]


def by_code(findings: Sequence[CheckFinding], causes: Sequence[Cause] = ()) -> tuple[CodeGroup, ...]:
    """The groups in the order of their first findings; what `causes` say above is not repeated."""
    found: dict[tuple[str, Severity], list[CheckFinding]] = {}
    for finding in findings:
        found.setdefault((finding.code, finding.severity), []).append(finding)
    roots = {cause.code for cause in causes}
    said = remedy_of(finding for finding in findings if finding.code in roots and not finding.because)
    groups = []
    for members in found.values():
        group = _group(members, said)
        said = said.and_also([group.remedy])
        groups.append(group)
    return tuple(groups)


def remedy_of(findings: Iterable[CheckFinding]) -> Remedy:
    """What helps against all of them, each line once."""
    return Remedy().and_also(finding.remedy for finding in findings)


def _group(findings: list[CheckFinding], said: Remedy) -> CodeGroup:
    statements: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for finding in findings:
        # Nothing is wrong with an info, so nobody needs the proof of it; the JSON has it.
        seen = () if finding.severity is Severity.INFO else finding.details
        statements.setdefault((finding.message, seen), []).append(finding.subject)
    sure = all(finding.confidence is Confidence.PROVEN for finding in findings)
    follows = tuple(sorted(set(findings[0].because).intersection(*(finding.because for finding in findings))))
    return CodeGroup(
        findings[0].code,
        catalogue()[findings[0].code].title,
        findings[0].severity,
        Confidence.PROVEN if sure else Confidence.LIKELY,
        tuple(Statement(tuple(subjects), message, seen) for (message, seen), subjects in statements.items()),
        Remedy() if follows else remedy_of(findings).without(said),
        follows,
    )
