"""The shared parts of text reports: the first line, one line for each probe result, the endpoints in brokers' files by
listener, and the findings by code.

If many brokers have the same result, the first ones are named and the rest is counted, faulty brokers first. Findings
with the same message are one paragraph, even for two hundred brokers. The root cause's remedy is printed once, at the
top; a finding that follows from another one names it and has no remedy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from brokernat.address.endpoint import bracketed
from brokernat.doctor.broker_files.listeners import BrokerListeners, ListenerOfBroker, listener_table
from brokernat.doctor.checks import catalogue
from brokernat.doctor.diagnosis import Cause, Diagnosis
from brokernat.doctor.diagnosis.model import WORST_FIRST, Entrance, ListenerWay, Route, State
from brokernat.doctor.evidence import ExecutorSeen, ListenerSeen
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.text import counted, listed

Item = TypeVar("Item")

_CLUSTER_VERDICTS = {
    Severity.ERROR: "errors between this host and the brokers: clients fail",
    Severity.WARNING: "warnings between this host and the brokers: clients may fail",
    None: "no problems between this host and the brokers",
}
_FILE_VERDICTS = {
    Severity.ERROR: "errors in the brokers' files",
    Severity.WARNING: "warnings in the brokers' files",
    None: "no problems with listeners in the brokers' files",
}


def worst(diagnosis: Diagnosis) -> Severity | None:
    """The highest severity found, without infos."""
    severities = {finding.severity for finding in diagnosis.findings}
    return next((each for each in (Severity.ERROR, Severity.WARNING) if each in severities), None)


def verdict(diagnosis: Diagnosis) -> str:
    """The result in half a sentence; reports print the cluster's name before it."""
    bootstraps, gravest = diagnosis.evidence.bootstraps, worst(diagnosis)
    if not bootstraps:
        return _FILE_VERDICTS[gravest]
    if not any(probe.answers or not probe.complete for probe in bootstraps):
        return "no bootstrap server accepts clients from this host"
    if gravest is not Severity.ERROR and any(each.code == "BN004" for each in diagnosis.findings):
        return "no errors, but the time ran out before every probe finished"
    reached = [route.state is State.OK for route in diagnosis.routes]
    if gravest is Severity.WARNING and reached and all(reached):
        listed = {path.broker.node_id for path in diagnosis.evidence.paths}
        every = "every broker" if listed.issuperset(diagnosis.evidence.replicas or ()) else "every listed broker"
        return f"clients reach {every}, with warnings"
    return _CLUSTER_VERDICTS[gravest]


def count(number: int, name: str) -> str:
    """`1 error`, `2 errors`, `no error`."""
    return counted(number, name) if number else f"no {name}"


def named_and_counted(items: Sequence[Item], most: int) -> tuple[Sequence[Item], Sequence[Item]]:
    """The first `most` items, which a report names, and the others, which it counts.

    A line that counts one item is as long as the item's own line, so a single one is named.
    """
    return (items, ()) if len(items) <= most + 1 else (items[:most], items[most:])


Line = tuple[State, str]
_NAMED = {State.OK: 6, State.DOUBTFUL: 12, State.BROKEN: 12}
_FEW = 12


def probe_results(diagnosis: Diagnosis, *, every: bool = False) -> Iterator[Line]:
    """Lines for bootstrap servers, brokers, listeners and executors; `every` lists each broker of a large cluster."""
    for entrance in diagnosis.entrances:
        yield entrance.reach.state, _entrance(entrance)
    alike: dict[tuple[State, str], list[Route]] = {}
    for route in diagnosis.routes:
        alike.setdefault((route.state, route.end.words), []).append(route)
    kinds = list(alike.items())
    if len(diagnosis.evidence.paths) > _FEW:
        # In a large cluster the broken brokers come first.
        kinds.sort(key=lambda kind: WORST_FIRST.index(kind[0][0]))
    for (state, words), members in kinds:
        named, others = named_and_counted(members, len(members) if every else _NAMED[state])
        for route in named:
            yield state, _route(route)
        if others:
            yield state, f"{len(others)} more nodes, from {others[0].node_id} to {others[-1].node_id}: {words}"
    if diagnosis.cause is not None and not all(each.entered for each in diagnosis.evidence.listeners):
        yield from _listeners(diagnosis.listeners)
    for executor in diagnosis.evidence.executors:
        ok = executor.outcome == "answered" and all(node.reached for node in executor.nodes)
        yield State.OK if ok else State.BROKEN, executor_line(executor)


def _entrance(entrance: Entrance) -> str:
    dialled = "" if entrance.dialled == entrance.endpoint else f", dialled at {entrance.dialled}"
    ok = entrance.listed is None or entrance.reach.state is State.OK
    words = names(entrance) if ok else f"{entrance.reach.words}; {names(entrance)}"
    return f"bootstrap {entrance.endpoint}{dialled}: {words}"


def names(entrance: Entrance) -> str:
    """`node 1, lists 3 brokers`, or the error of a server that returned no metadata."""
    if entrance.listed is None:
        return entrance.reach.words
    return f"{entrance.answering}, lists {count(entrance.listed, 'broker')}"


def _listeners(listeners: Iterable[ListenerWay]) -> Iterator[Line]:
    """One line for the listeners of one name with one result; unused and unreachable ones share a line."""
    alike: dict[tuple[str, State, str, bool], list[ListenerSeen]] = {}
    useless: dict[str, None] = {}
    for way in listeners:
        each, probe, hop = way.seen, way.seen.probe, way.reach
        if hop.state is not State.OK and not each.entered:
            useless[each.name] = None
            continue
        met = hop.words if probe is None or probe.brokers is None else f"lists {count(len(probe.brokers), 'broker')}"
        alike.setdefault((each.name, hop.state, met, bool(each.entered)), []).append(each)
    for (name, state, met, entered), members in sorted(alike.items(), key=lambda item: not item[0][3]):
        nodes = ", ".join(str(each.node_id) for each in members)
        ends = ", ".join(each.endpoint for each in members)
        here = " (used by the bootstrap servers)" if entered else ""
        start = f"listener {name} of node{'s' if len(members) > 1 else ''} {nodes} advertises {ends}"
        yield state, f"{start}: {met}{here}"
    if useless:
        yield State.DOUBTFUL, f"unreachable from here and unused: listener {', '.join(useless)}"


def _route(route: Route) -> str:
    way = f", dialled at {route.dialled}" if route.dialled not in (None, route.advertised) else ""
    words = route.end.words
    if route.reach.state is State.OK:
        words = route.answering
    elif route.answering.startswith("node"):
        words += f", {route.answering}"
    return f"node {route.node_id} advertises {route.advertised}{way}: {words}"


_EXECUTOR_OUTCOMES = {
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
        return f"{name}: {_EXECUTOR_OUTCOMES[executor.outcome]}"
    held = f"agent {executor.agent}" if executor.agent else "no agent"
    held += f", map {executor.fingerprint[:_FINGERPRINT]}" if executor.fingerprint else ", no map"
    reached = ", ".join(f"node {node.node_id}" for node in executor.nodes if node.reached)
    barred = ", ".join(f"node {node.node_id} ({node.outcome})" for node in executor.nodes if not node.reached)
    nodes = "; ".join(filter(None, (f"reaches {reached}" if reached else "", f"not {barred}" if barred else "")))
    return f"{name}: {held}: {nodes}"


_SCOPES = {
    "anywhere": "",
    "same-machine": " (only on the broker's own machine)",
    "same-network": " (only where this name resolves)",
    "nowhere": " (cannot be dialled)",
}


def endpoints_by_listener(diagnosis: Diagnosis) -> Iterator[tuple[int, str]]:
    """Lines with their depth; none without files of brokers."""
    for row in listener_table(diagnosis.evidence):
        protocol = row.protocol or "protocol unknown"
        others = ", also inter-broker" if row.inter_broker else ""
        ports = ", ".join(map(_port, row.ports)) or "no port"
        yield 0, f"listener {row.listener} ({protocol}{others}) on {ports} advertises"
        for endpoint in row.endpoints:
            yield 1, _endpoint(endpoint)
        if not row.endpoints:
            yield 1, "no broker"


def _port(bound: ListenerOfBroker) -> str:
    published = f" (published as {bound.published})" if bound.published is not None else ""
    return f"{_node(bound.broker)} {bound.listener.endpoint}{published}"


def _endpoint(advertised: ListenerOfBroker) -> str:
    each = advertised.listener
    host = bracketed(each.host) or "(the host name of its machine)"
    return f"{_node(advertised.broker)} at {host}:{each.port}{_SCOPES[each.where]}"


def _node(broker: BrokerListeners) -> str:
    return broker.file.name if broker.node_id is None else f"node {broker.node_id}"


@dataclass(frozen=True, slots=True)
class Statement:
    """One message about one or more subjects."""

    subjects: tuple[str, ...]
    message: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """All findings of a code and a severity.

    `remedy` holds what earlier groups have not. `follows` are the codes of the findings that explain this group.
    """

    code: str
    title: str
    severity: Severity
    confidence: Confidence
    statements: tuple[Statement, ...]
    remedy: Remedy
    follows: tuple[str, ...]


def by_code(findings: Sequence[CheckFinding], causes: Sequence[Cause] = ()) -> tuple[CodeGroup, ...]:
    """The groups in the order of their first findings, without the remedies of `causes`, which reports print above."""
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


def errors_and_warnings(diagnosis: Diagnosis) -> str:
    """`2 errors, no warning`: the number of codes found."""
    severities = [severity for _, severity in {(each.code, each.severity) for each in diagnosis.findings}]
    return ", ".join(count(severities.count(each), each) for each in (Severity.ERROR, Severity.WARNING))


def remedy_of(findings: Iterable[CheckFinding]) -> Remedy:
    """The fixes of all findings, each line once. Of lines that differ only in the node, the first names the others."""
    found = [*findings]
    client = _merged((line, each.subject) for each in found for line in each.remedy.client)
    broker = _merged((line, each.subject) for each in found for line in each.remedy.broker)
    rules = dict.fromkeys(rule for each in found for rule in each.remedy.rules)
    return Remedy(tuple(client), tuple(broker), tuple(rules))


_OWN, _ALIKE = "\N{BULLET}", 3
"""What stands for a subject in the shape of a line, and how many lines of one shape become one."""


def _merged(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Lines with their subjects: each line once, and one for lines that differ only in the subject."""
    first_subjects: dict[str, str] = {}
    for line, subject in lines:
        first_subjects.setdefault(line, subject)
    alike: dict[str, dict[str, str]] = {}
    for line, subject in first_subjects.items():
        name, _, end = subject.partition(" at ")
        shape = line
        for part in (end, end.rpartition(":")[0], name):
            shape = shape.replace(part, _OWN) if part else shape
        alike.setdefault(shape, {})[line] = name
    for same in alike.values():
        if len(same) < _ALIKE:
            yield from same
        else:
            first, *others = same.items()
            yield f"{first[0]} (likewise for {listed([name for _, name in others])})"


def remedies_of_causes(diagnosis: Diagnosis) -> Iterator[tuple[Cause, Remedy]]:
    """Each root cause with its remedy, without the lines of earlier ones unless it has no others."""
    said = Remedy()
    for cause in diagnosis.causes:
        remedy = remedy_of(diagnosis.of_cause(cause))
        rest = remedy.without(said)
        yield cause, rest if any(rest.sides) else remedy
        said = said.and_also([remedy])


def _group(findings: list[CheckFinding], said: Remedy) -> CodeGroup:
    statements: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for finding in findings:
        # Text reports leave out the evidence of an info; the JSON has it.
        evidence = () if finding.severity is Severity.INFO else finding.details
        statements.setdefault((finding.message, evidence), []).append(finding.subject)
    sure = all(finding.confidence is Confidence.PROVEN for finding in findings)
    follows = tuple(sorted(set(findings[0].because).intersection(*(finding.because for finding in findings))))
    return CodeGroup(
        findings[0].code,
        catalogue()[findings[0].code].title,
        findings[0].severity,
        Confidence.PROVEN if sure else Confidence.LIKELY,
        tuple(Statement(tuple(subjects), message, evidence) for (message, evidence), subjects in statements.items()),
        Remedy() if follows else remedy_of(findings).without(said),
        follows,
    )
