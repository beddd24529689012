"""Where the way of a client ends: the first stage that fails for a bootstrap server and for a node; pure.

This is the one place that judges a stage. Checks explain these failures and reports draw them; a failure that no check
explains is an error of its own (BN005), so that a client that fails is never reported as one that works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from brokernat.doctor.evidence import Evidence, Look, Path
from brokernat.doctor.finding import Failure
from brokernat.doctor.host_kinds import dialable

_Result = TypeVar("_Result")
# Of one node, an id that differs is a wrong forward as likely as a proxy's work.
_FEWEST = 2


def once(compute: Callable[[Evidence], _Result]) -> Callable[[Evidence], _Result]:
    """Keeps the result for the evidence that was asked about last, which every check asks about anew."""
    last: list[tuple[Evidence, _Result]] = []

    def kept(evidence: Evidence) -> _Result:
        if not last or last[0][0] is not evidence:
            last[:] = [(evidence, compute(evidence))]
        return last[0][1]

    return kept


def bootstrap_failure(look: Look, evidence: Evidence) -> Failure | None:
    """The stage that fails for a bootstrap server."""
    return stage_failure(look) or _cluster(look, evidence)


def path_failure(path: Path, evidence: Evidence) -> Failure | None:
    """The stage that fails on the way to a node: a rule is missing, a stage fails, or not this node answers there."""
    broker, look = path.broker, path.look
    if look is None:
        words = "no rule" if evidence.rules is not None and dialable(broker.host, broker.port) else "no address"
        return Failure(broker.endpoint, "rule", broker.node_id, words=words)
    failure = stage_failure(look) or _cluster(look, evidence)
    if failure is not None:
        return failure
    identity = look.identity
    if identity is not None and identity.others:
        return Failure(look.endpoint, "identity", broker.node_id, words="a balancer")
    if identity is not None and identity.node_id not in (None, broker.node_id):
        own = renumbered(evidence)
        return Failure(look.endpoint, "identity", broker.node_id, words="another node", doubt=own is not None)
    if path.rule and not any(same_listener(look, each) for each in evidence.bootstraps if each.answers):
        return Failure(look.endpoint, "metadata", broker.node_id, words="another listener")
    if identity is not None and identity.node_id is None and path.rule:
        return Failure(look.endpoint, "identity", broker.node_id, words="not proven", doubt=True)
    return None


def home_cluster(evidence: Evidence) -> str | None:
    """The cluster that is meant: that of the first bootstrap server which names one."""
    return next((look.cluster_id for look in evidence.bootstraps if look.cluster_id), None)


def same_listener(one: Look, other: Look) -> bool:
    """Whether what two endpoints advertise can be of one listener: they share nodes and say the same of each.

    In one of them a node may be missing that has just gone or come, and a broker that has just started knows none.
    """
    told = {each.node_id: each.endpoint for each in one.brokers or ()}
    shared = [each for each in other.brokers or () if each.node_id in told]
    if not told or not other.brokers:
        return True
    return bool(shared) and all(told[each.node_id] == each.endpoint for each in shared)


@once
def renumbered(evidence: Evidence) -> int | None:
    """What a proxy adds to the ids of nodes to make those of its own, None where there is no such proxy.

    All nodes that prove who they are differ by one number then, and no broker's answer knows any of their own ids.
    Forwards that are exchanged, or off by one, lead to nodes that are known, or to another cluster.
    """
    looks = [*evidence.bootstraps, *(path.look for path in evidence.paths if path.look is not None)]
    own = {
        path.broker.node_id: path.look.identity.node_id
        for path in evidence.paths
        if path.look is not None and path.look.identity is not None and path.look.identity.confidence == "proven"
    }
    known = {broker.node_id for look in looks for broker in look.brokers or ()} | set(evidence.replicas or ())
    clusters = {look.cluster_id for look in looks if look.cluster_id}
    offsets = {node_id - told for told, node_id in own.items() if node_id is not None}
    if len(own) < _FEWEST or len(offsets) != 1 or len(clusters) > 1 or known & set(own.values()):
        return None
    return offsets.pop()


def _cluster(look: Look, evidence: Evidence) -> Failure | None:
    if look.cluster_id in (None, home_cluster(evidence)):
        return None
    return Failure(look.endpoint, "cluster", words="another cluster")


def stage_failure(look: Look) -> Failure | None:
    """The first stage of the probe that did not come out well."""
    if look.dns_error:
        return Failure(look.endpoint, "resolve", words="name unknown", detail=look.dns_error)
    if look.attempts and not look.connected:
        outcomes = {attempt.outcome for attempt in look.attempts}
        words = _CONNECTING[outcomes.pop()] if len(outcomes) == 1 else "no connection"
        return Failure(look.endpoint, "connect", words=words)
    if look.tls is not None and not look.tls_done:
        words = _TLS.get(look.tls.outcome, "TLS fails")
        return Failure(look.endpoint, "tls", name=look.name, words=words, detail=look.tls.detail)
    if look.sasl is not None and look.sasl.outcome in _LOGIN:
        return Failure(look.endpoint, "sasl", words=_LOGIN[look.sasl.outcome], detail=look.sasl.detail)
    if look.speaks not in (None, "kafka"):
        return Failure(look.endpoint, "versions", words=_SPEAKS.get(look.speaks, "not Kafka"), detail=look.first_bytes)
    if look.answers:
        return None
    if look.sasl is not None and look.sasl.outcome == "not-tried":
        return Failure(look.endpoint, "sasl", words="login not tried", detail=look.sasl.detail, doubt=True)
    if look.complete:
        return Failure(look.endpoint, "metadata", words="no metadata")
    return Failure(look.endpoint, "metadata", words="time ran out", doubt=True)


_CONNECTING = {"refused": "refused", "timeout": "no answer", "unreachable": "no route"}
_TLS = {
    "not-tls": "no TLS there",
    "closed": "hangs up",
    "name-mismatch": "certificate of another name",
    "expired": "certificate not valid now",
    "untrusted": "certificate not trusted",
    "unfit": "certificate not fit for this",
    "client-certificate": "wants a client certificate",
}
_LOGIN = {"mechanism-not-offered": "mechanism not offered", "rejected": "login refused", "closed": "login refused"}
_SPEAKS = {
    "controller": "a controller's listener",
    "tls": "speaks TLS",
    "http": "speaks HTTP",
    "ssh": "speaks SSH",
    "silence": "silence",
    "closed": "hangs up",
}
