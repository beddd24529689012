"""How far a client gets with one endpoint, in the two or three words that fit beside an arrow; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from brokernat.doctor.evidence import Look


class State(StrEnum):
    """Whether a client gets over a hop."""

    OK = "ok"
    DOUBTFUL = "doubtful"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the way, in two or three words: `refused`, `another node`."""

    state: State
    words: str


def reach(look: Look, home: str | None, node_id: int | None = None) -> Hop:
    """The first thing that goes wrong.

    Args:
        look: what was seen.
        home: the id of the cluster that is meant.
        node_id: the node that is meant, None for a bootstrap server.
    """
    words = _failure(look)
    if words is not None:
        return Hop(State.BROKEN, words)
    if look.sasl is not None and look.sasl.outcome == "not-tried":
        return Hop(State.DOUBTFUL, "login not tried")
    if not look.answers:
        return Hop(State.BROKEN, "no metadata") if look.complete else Hop(State.DOUBTFUL, "time ran out")
    if look.cluster_id not in (None, home):
        return Hop(State.BROKEN, "another cluster")
    identity = look.identity
    if node_id is not None and identity is not None and identity.node_id not in (None, node_id):
        return Hop(State.BROKEN, "another node")
    return Hop(State.OK, "ok")


def _failure(look: Look) -> str | None:
    if look.dns_error:
        return "name unknown"
    if look.attempts and not look.connected:
        outcomes = {attempt.outcome for attempt in look.attempts}
        return _CONNECTING[outcomes.pop()] if len(outcomes) == 1 else "no connection"
    if look.tls is not None and not look.tls_done:
        return _TLS.get(look.tls.outcome, "TLS fails")
    if look.sasl is not None and look.sasl.outcome in _LOGIN:
        return _LOGIN[look.sasl.outcome]
    return None if look.speaks in (None, "kafka") else _SPEAKS.get(look.speaks, "not Kafka")


def answering(look: Look | None) -> str:
    """Who is there: `node 2`, `node 2 (likely)`, `a broker` that nobody can name, `something else`, `nobody`."""
    if look is None:
        return "nobody"
    identity = look.identity
    if identity is not None and identity.node_id is not None:
        ids = sorted({identity.node_id, *identity.others})
        sure = "" if identity.confidence == "proven" else " (likely)"
        return f"node{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}{sure}"
    if look.answers or look.speaks == "kafka":
        return "a broker"
    return "something else" if look.connected else "nobody"


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
