"""The first stage that fails for a bootstrap server and for a node; pure.

Only this module judges a stage. Checks explain these failures, and reports draw them. A failure that no check explains
is reported as BN005, so a failing client is never reported as working.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from brokernat.doctor.evidence import ApiVersions, BrokerPath, Connection, EndpointProbe, Evidence, TlsHandshake
from brokernat.doctor.finding import Failure
from brokernat.doctor.host_kinds import dialable

_Result = TypeVar("_Result")
# With one node, a wrong forward explains a different id as well as a proxy does.
_FEWEST = 2
_ANOTHER_LISTENER = "another listener"


def once(compute: Callable[[Evidence], _Result]) -> Callable[[Evidence], _Result]:
    """Caches the result for the last evidence, because every check computes it again."""
    last: list[tuple[Evidence, _Result]] = []

    @wraps(compute)
    def kept(evidence: Evidence) -> _Result:
        if not last or last[0][0] is not evidence:
            last[:] = [(evidence, compute(evidence))]
        return last[0][1]

    return kept


def bootstrap_failure(probe: EndpointProbe, evidence: Evidence) -> Failure | None:
    """The stage that fails for a bootstrap server."""
    return stage_failure(probe) or _cluster(probe, evidence) or size_failure(probe)


def is_of_another_listener(failure: Failure | None) -> bool:
    """Whether the dialled endpoint of a node is another listener than the one that names the node."""
    return failure is not None and failure.words == _ANOTHER_LISTENER


def path_failure(path: BrokerPath, evidence: Evidence) -> Failure | None:
    """The failure on the path to a node: a rule is missing, a stage fails, or another node answers."""
    broker, probe = path.broker, path.probe
    if probe is None:
        words = "no rule" if evidence.rules is not None and dialable(broker.host, broker.port) else "no address"
        return Failure(broker.endpoint, "rule", broker.node_id, words=words)
    told_by = [each for each in evidence.bootstraps if broker in (each.brokers or ())]
    failure = stage_failure(probe) or _cluster(probe, evidence, told_by)
    if failure is not None:
        return failure
    identity = probe.identity
    if identity is not None and identity.others:
        return Failure(probe.endpoint, "identity", broker.node_id, words="a load balancer")
    if identity is not None and identity.node_id not in (None, broker.node_id):
        own = renumbered(evidence)
        return Failure(probe.endpoint, "identity", broker.node_id, words="another node", doubt=own is not None)
    if told_by and not any(same_listener(probe, each) for each in told_by):
        return Failure(probe.endpoint, "metadata", broker.node_id, words=_ANOTHER_LISTENER)
    failure = size_failure(probe)
    if failure is None and identity is not None and identity.node_id is None and path.rule:
        words = "not proven" if probe.complete else "time ran out"
        return Failure(probe.endpoint, "identity", broker.node_id, words=words, doubt=True)
    return failure


@once
def home_cluster(evidence: Evidence) -> str | None:
    """The cluster id of most bootstrap servers; if counts are equal, the first one's."""
    named = [probe.cluster_id for probe in evidence.bootstraps if probe.cluster_id]
    return max(named, key=named.count, default=None)


def same_listener(one: EndpointProbe, other: EndpointProbe) -> bool:
    """Whether two endpoints can be of one listener: they share nodes and advertise the same endpoint for each.

    A node that has just stopped or started may be missing in one of them; a broker that has just started knows no node.
    """
    endpoints = {each.node_id: each.endpoint for each in one.brokers or ()}
    shared = [each for each in other.brokers or () if each.node_id in endpoints]
    if not endpoints or not other.brokers:
        return True
    return bool(shared) and all(endpoints[each.node_id] == each.endpoint for each in shared)


@once
def renumbered(evidence: Evidence) -> dict[int, int] | None:
    """The proven id of each advertised one behind a proxy that renumbers the nodes; None if there is no such proxy.

    Each proven id then differs from the advertised one, and at least one is in no broker's answer: wrong forwards lead
    to known nodes, or to another cluster.
    """
    own = {
        path.broker.node_id: path.probe.node_id
        for path in evidence.paths
        if path.probe is not None and path.probe.identity is not None and path.probe.identity.confidence == "proven"
    }
    met = {listed: node_id for listed, node_id in own.items() if node_id is not None and node_id != listed}
    known = set(evidence.replicas or ()).union(*(probe.node_ids for probe in evidence.probes))
    clusters = {probe.cluster_id for probe in evidence.probes if probe.cluster_id}
    if len(met) < max(_FEWEST, len(own)) or len(set(met.values())) < len(met) or len(clusters) > 1:
        return None
    return met if set(met.values()) - known else None


def _cluster(probe: EndpointProbe, evidence: Evidence, told_by: Sequence[EndpointProbe] = ()) -> Failure | None:
    """The failure of an endpoint of another cluster than the bootstrap servers that name it.

    Two clusters may advertise the same endpoints; then the one of most bootstrap servers is meant.
    """
    home, named = home_cluster(evidence), {each.cluster_id for each in told_by}
    meant = {home} if not named or home in named else named
    if not probe.cluster_id or probe.cluster_id in meant or not all(meant):
        return None
    return Failure(probe.endpoint, "cluster", words="another cluster")


def stage_failure(probe: EndpointProbe) -> Failure | None:
    """The first failing stage of the probe; a doubt if the time ran out or the login was not tried."""
    stage = probe.stopped
    if stage is None and probe.answers:
        return None
    if stage is None:
        words = "no metadata" if probe.complete else "time ran out"
        return Failure(probe.endpoint, "metadata", words=words, doubt=not probe.complete)
    result, tried = getattr(probe, stage), probe.tried(stage)
    name = probe.name if stage == "tls" else ""
    once = not probe.complete and result.outcome in _WAITING and (tried is None or tried.failed < _AGREEING)
    doubt = once or result.outcome == "not-tried"
    words, detail = "time ran out" if once else _words(stage, result), getattr(result, "detail", "")
    return Failure(probe.endpoint, stage, name=name, words=words, detail=detail, doubt=doubt)


def size_failure(probe: EndpointProbe) -> Failure | None:
    """The failure of large messages on a path that carries small ones."""
    if probe.size is None or probe.size.ok:
        return None
    return Failure(probe.endpoint, "size", words=f"large {probe.size.failed[0].direction}s fail")


def _words(stage: str, result: object) -> str:
    if isinstance(result, Connection) and all(each.rejected for each in result.attempts):
        return "rejected"
    if isinstance(result, TlsHandshake | ApiVersions) and result.protocol:
        return f"speaks {result.protocol}"
    if isinstance(result, TlsHandshake) and result.outcome == "client-certificate" and result.showed:
        return "rejects the client certificate"
    outcome = getattr(result, "outcome", "")
    return _WORDS[stage].get(outcome) or _FAULTS.get(outcome) or f"{stage} fails"


# Outcomes that more time might change, and how many of them count as a failure after the time ran out.
_WAITING, _AGREEING = ("timeout", "mixed", "silent", "stalled", "no-answer"), 2
_WORDS = {
    "resolve": {"unknown": "name unknown", "no-answer": "no name server", "not-a-name": "not a host name"},
    "connect": {"refused": "refused", "timeout": "no answer", "unreachable": "no route", "mixed": "no connection"},
    "tls": {
        "not-tls": "no TLS there",
        "name-mismatch": "certificate of another name",
        "expired": "certificate not valid now",
        "untrusted": "certificate not trusted",
        "unfit": "unsuitable certificate",
        "client-certificate": "needs a client certificate",
        "failed": "TLS fails",
    },
    "versions": {"controller": "a controller's listener"},
    "sasl": {
        "not-tried": "login not tried",
        "mechanism-not-offered": "mechanism not offered",
        "rejected": "login rejected",
        "closed": "login rejected",
    },
    "metadata": {},
}
_FAULTS = {
    "silent": "no response",
    "closed": "connection closed",
    "reset": "connection reset",
    "cut": "truncated answer",
    "stalled": "answer stalls",
    "unreadable": "not Kafka",
    "unsupported": "unknown versions",
}
