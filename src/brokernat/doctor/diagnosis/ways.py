"""The client's path to every broker: bootstrap server, advertised listener, dialled endpoint, answering node; pure.

Reports draw and list these hops. A hop is broken if a stage fails or an error is about it, so the picture and the
findings agree. Bootstrap servers that name the same brokers form one group; with mixed listeners there are several.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from brokernat.doctor.checks import catalogue
from brokernat.doctor.checks.failures import bootstrap_failure, path_failure, stage_failure
from brokernat.doctor.checks.places import bootstrap, node, server_of
from brokernat.doctor.diagnosis.model import Entrance, Group, Hop, ListenerWay, Route, State
from brokernat.doctor.evidence import Advertised, EndpointProbe, Evidence, ListenerSeen
from brokernat.doctor.finding import CheckFinding, Failure, Severity
from brokernat.text import inside_sentence

_PASSES = Hop(State.OK, "ok")


class _CodesByHop:
    """The findings about a hop: those of its subject, and those that explain its failure."""

    def __init__(self, findings: Iterable[CheckFinding]) -> None:
        self._by_subject: dict[str, dict[str, Severity]] = {}
        self._by_failure: dict[Failure, dict[str, Severity]] = {}
        for each in findings:
            if each.severity is not Severity.INFO:
                self._by_subject.setdefault(each.subject, {}).setdefault(each.code, each.severity)
                for failure in each.explains:
                    self._by_failure.setdefault(failure, {}).setdefault(each.code, each.severity)

    def about(self, subject: str, failure: Failure | None) -> dict[str, Severity]:
        """Codes and severities, in the order of the findings."""
        explaining = self._by_failure.get(failure, {}) if failure is not None else {}
        return explaining | self._by_subject.get(subject, {})


def entrances(evidence: Evidence, findings: Iterable[CheckFinding]) -> tuple[Entrance, ...]:
    """The bootstrap servers in the order of the configuration."""
    codes_by_hop = _CodesByHop(findings)
    made = []
    for probe in evidence.bootstraps:
        failure = bootstrap_failure(probe, evidence)
        codes = codes_by_hop.about(bootstrap(probe), failure)
        listed = None if probe.brokers is None else len(probe.brokers)
        reach = _hop(failure, codes)
        made.append(Entrance(server_of(probe), probe.endpoint, reach, answering(probe), listed, tuple(codes)))
    return tuple(made)


def routes(evidence: Evidence, findings: Iterable[CheckFinding]) -> tuple[Route, ...]:
    """One route for each advertised broker, in the order of the evidence."""
    codes_by_hop = _CodesByHop(findings)
    made = []
    for path in evidence.paths:
        failure = path_failure(path, evidence)
        codes = codes_by_hop.about(node(path), failure)
        reach = _hop(failure, codes)
        if path.probe is None:
            choice, reach, dialled = reach, Hop(State.BROKEN, ""), None
        else:
            choice, dialled = Hop(State.OK, "by rule" if path.rule else "as it is"), path.probe.endpoint
        node_id, advertised, peer = path.broker.node_id, path.broker.endpoint, answering(path.probe)
        made.append(Route(node_id, advertised, choice, dialled, reach, peer, path.rule, tuple(codes)))
    return tuple(made)


def groups(evidence: Evidence, servers: Sequence[Entrance], ways: Sequence[Route]) -> tuple[Group, ...]:
    """Every bootstrap server and every route; servers that name no broker come last."""
    by_brokers: dict[frozenset[Advertised] | None, list[Entrance]] = {}
    for probe, server in zip(evidence.bootstraps, servers, strict=True):
        by_brokers.setdefault(None if probe.brokers is None else frozenset(probe.brokers), []).append(server)
    paths = tuple(zip(evidence.paths, ways, strict=True))
    return tuple(
        Group(tuple(by_brokers[brokers]), tuple(route for path, route in paths if path.broker in (brokers or ())))
        for brokers in sorted(by_brokers, key=lambda brokers: brokers is None)
    )


def listeners(evidence: Evidence) -> tuple[ListenerWay, ...]:
    """All listeners of the bootstrap servers' nodes."""
    return tuple(ListenerWay(each, _listener_hop(each)) for each in evidence.listeners)


def answering(probe: EndpointProbe | None) -> str:
    """The peer: `node 2`, `node 2 (likely)`, `a broker` with an unknown id, `something else`, or `nobody`."""
    if probe is None:
        return "nobody"
    identity = probe.identity
    if identity is not None and identity.node_id is not None:
        ids = sorted({identity.node_id, *identity.others})
        sure = "" if identity.confidence == "proven" else " (likely)"
        return f"node{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}{sure}"
    if probe.answers or probe.speaks == "kafka":
        return "a broker"
    return "something else" if probe.connected else "nobody"


def _hop(failure: Failure | None, codes: dict[str, Severity]) -> Hop:
    if failure is not None and not failure.doubt:
        return Hop(State.BROKEN, failure.words)
    wrong = next((code for code, severity in codes.items() if severity is Severity.ERROR), None)
    if wrong is not None:
        return Hop(State.BROKEN, inside_sentence(catalogue()[wrong].title) if failure is None else failure.words)
    return _PASSES if failure is None or not codes else Hop(State.DOUBTFUL, failure.words)


def _listener_hop(listener: ListenerSeen) -> Hop:
    probe = listener.probe
    if probe is None:
        return Hop(State.BROKEN, "not dialled")
    if probe.connected and probe.speaks is None and probe.tls is None:
        # The listener has another protocol than the client, so the doctor sent nothing there.
        return Hop(State.OK, "accepts connections")
    failure = stage_failure(probe)
    if failure is None:
        return _PASSES
    return Hop(State.DOUBTFUL if failure.doubt else State.BROKEN, failure.words)
