"""From what the agent's proof says in JSON to rows of a `Proof`; pure.

The forms are those of `io.brokernat.agent.proof.Proof` and `ProofFunction`; the texts were cleaned of secrets there.
Here the answers of one JVM are held against what this side knows: the fingerprint of the cluster's map and the
driver's agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokernat.clients.spark.proof import Outcome, ProofRow

Answer = Mapping[str, Any]

NOBODY_APPLIES = "no agent runs in this JVM, so nothing applies the map"
_NODE_OUTCOMES = {
    "ok": Outcome.PROVED,
    "not-provable": Outcome.NOT_PROVABLE,
    "wrong-node": Outcome.OTHER_NODE,
    "timed-out": Outcome.UNREACHABLE,
    "failed": Outcome.FAILED,
}


@dataclass(frozen=True)
class Expected:
    """What every JVM must say about one cluster."""

    cluster: str
    fingerprint: str | None
    """Of the cluster's map; None where it has none, and then no agent is needed."""
    agent: str | None
    """The driver's agent version."""


def rows(answer: Answer, expected: Expected) -> tuple[ProofRow, ...]:
    """The rows of one JVM's answer about one cluster: one for each node, or one that says why there are none."""
    if fault := _fault(answer, expected):
        return (_row(answer, expected.cluster, *fault),)
    return tuple(_node_row(answer, node, expected.cluster) for node in answer.get("nodes", ()))


def discovery_row(found: Answer, cluster: str, *, mapped: bool) -> ProofRow:
    """Why the driver could not ask the cluster for its nodes; `mapped`: the cluster has a map."""
    if mapped and found.get("agent") is None:
        cause = f"{NOBODY_APPLIES}: {found.get('message')}"
        return ProofRow("driver", "", cluster, None, "", "", Outcome.NO_AGENT, cause)
    outcome = Outcome.UNREACHABLE if found.get("bootstrap") else Outcome.FAILED
    probes = ", ".join(f"{server}: {probe}" for server, probe in found.get("bootstrap", {}).items())
    cause = f"{found.get('message')} (bootstrap servers {probes})" if probes else str(found.get("message"))
    return ProofRow("driver", "", cluster, None, "", "", outcome, cause)


def notes(answer: Answer) -> tuple[str, ...]:
    """What is worth saying although it is no fault: several Kafka clients on one class path."""
    copies = answer.get("kafka_clients", ())
    if len(copies) < 2:
        return ()
    named = ", ".join(f"{copy['version']} ({copy['location']})" for copy in copies)
    return (f"executor {answer.get('executor')}: {len(copies)} copies of kafka-clients, the first is used: {named}",)


def _fault(answer: Answer, expected: Expected) -> tuple[Outcome, str] | None:
    message = str(answer.get("message", ""))
    if expected.fingerprint and answer.get("agent") is None:
        return Outcome.NO_AGENT, message or NOBODY_APPLIES
    if "cause" in answer:
        return Outcome.FAILED, f"{answer['cause']}: {message}"
    if problem := answer.get("problem"):
        return Outcome.OTHER_MAP, f"the agent cannot use the map: {problem}"
    if expected.fingerprint and answer.get("fingerprint") != expected.fingerprint:
        return Outcome.OTHER_MAP, f"map {_short(answer.get('fingerprint'))} instead of {_short(expected.fingerprint)}"
    if expected.fingerprint and answer.get("agent") != expected.agent:
        return Outcome.OTHER_MAP, f"agent {answer.get('agent')} where the driver has {expected.agent}"
    return None


def _node_row(answer: Answer, node: Answer, cluster: str) -> ProofRow:
    outcome = _NODE_OUTCOMES.get(str(node.get("outcome")), Outcome.FAILED)
    cause = str(node.get("checked") or node.get("message") or "")
    if outcome is Outcome.FAILED and node.get("reachable") is None:
        outcome = Outcome.UNMAPPED
    elif outcome is Outcome.OTHER_NODE:
        cause = f"the rule for node {node['id']} leads to node {node['answered_by']}"
    elif outcome is Outcome.UNREACHABLE:
        cause = f"{node.get('tcp')}: {cause}"
    return _row(answer, cluster, outcome, cause, node)


def _row(answer: Answer, cluster: str, outcome: Outcome, cause: str, node: Answer | None = None) -> ProofRow:
    about = node or {}
    return ProofRow(
        executor=str(answer.get("executor") or "driver"),
        host=str(answer.get("host") or ""),
        cluster=cluster,
        node_id=about.get("id"),
        advertised=about.get("advertised") or "",
        dialled=about.get("reachable") or "",
        outcome=outcome,
        cause=cause,
        answered_by=about.get("answered_by"),
        agent=answer.get("agent"),
        fingerprint=answer.get("fingerprint"),
    )


def _short(fingerprint: object) -> str:
    return str(fingerprint)[:12] if fingerprint else "none"
